"""The best row of a list is that of brute force, whatever is left out on the way."""

import jax
import numpy as np
import pytest

import leadline as ll
from leadline.acquisition import (
    ExpectedImprovement,
    ExpectedMaximum,
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    UpperConfidenceBound,
)
from leadline.search import maximize

RNG = np.random.default_rng(3)
X = RNG.random((40, 2))
Y = np.sin(7 * X[:, 0]) + X[:, 1] ** 2
POSTERIOR = ll.GP(1.5 * ll.kernels.Matern52([0.3, 0.6]), mean=0.2, noise=1e-4).condition(X, Y)
TABLE = RNG.random((5000, 2))
POOL = ll.Pool(TABLE)
KEY = jax.random.key(0)

ACQUISITIONS = [
    LogExpectedImprovement(POSTERIOR, np.asarray(1.2)),
    LogExpectedImprovement(POSTERIOR, np.asarray(4.0)),
    ExpectedImprovement(POSTERIOR, np.asarray(1.2)),
    UpperConfidenceBound(POSTERIOR, np.asarray(4.0)),
    ExpectedMaximum(POSTERIOR),
]


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=lambda a: type(a).__name__)
def test_ceilings_are_above_values_and_not_far(acquisition):
    sets = POOL.every()[:256, None, :]
    values, ceilings = np.asarray(acquisition.values(sets)), np.asarray(acquisition.ceilings(sets))
    assert np.all(ceilings >= values - 1e-9 * (1 + np.abs(values)))
    # At rows next to the first data there is hardly anything to be unsure about.
    near = np.asarray(acquisition.ceilings(X[:8, None, :] + 1e-4))
    np.testing.assert_allclose(
        near, np.asarray(acquisition.values(X[:8, None, :] + 1e-4)), rtol=0.2
    )


@pytest.mark.parametrize("acquisition", ACQUISITIONS, ids=lambda a: type(a).__name__)
def test_brute_force(acquisition):
    values = np.asarray(acquisition.values(POOL.every()[:, None, :]))
    order = np.argsort(-values, kind="stable")
    found = maximize(acquisition, POOL, KEY)
    np.testing.assert_array_equal(found.row, POOL.every()[order[0]])
    assert found.value == pytest.approx(values[order[0]])
    without = maximize(acquisition, POOL, KEY, avoid=POOL.every()[order[:3]])
    np.testing.assert_array_equal(without.row, POOL.every()[order[3]])


def test_two_rows_one_after_the_other():
    acquisition = LogExpectedImprovement(POSTERIOR, np.asarray(1.2))
    first = maximize(acquisition, POOL, KEY)
    sets = jax.numpy.asarray(POOL.every()[:, None, :])
    values = np.array(acquisition.after(first.rows).values(sets))
    values[np.all(POOL.every() == first.row, axis=1)] = -np.inf
    both = maximize(acquisition, POOL, KEY, q=2)
    np.testing.assert_array_equal(both.rows[0], first.row)
    np.testing.assert_array_equal(both.rows[1], POOL.every()[np.argmax(values)])


def test_where_there_are_no_ceilings_every_row_is_valued():
    acquisition = LogProbabilityOfImprovement(POSTERIOR, np.asarray(1.2))
    with pytest.raises(ll.Unsupported, match="no 'ceilings'"):
        _ = acquisition.ceilings
    beside = LogExpectedImprovement(POSTERIOR, np.asarray(1.2)).after(X[:2] + 0.05)
    assert not hasattr(beside, "ceilings")
    values = np.asarray(acquisition.values(POOL.every()[:, None, :]))
    np.testing.assert_array_equal(
        maximize(acquisition, POOL, KEY).row, POOL.every()[np.argmax(values)]
    )


def test_nothing_left():
    acquisition = ExpectedMaximum(POSTERIOR)
    pool = ll.Pool(TABLE[:4])
    assert maximize(acquisition, pool, KEY, avoid=pool.every()) is None
