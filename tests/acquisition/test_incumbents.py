"""Which call counts as the best."""

import numpy as np
import pytest

import leadline as ll
from leadline.acquisition._incumbents import Incumbent, best_expected, best_recent, best_seen

RNG = np.random.default_rng(0)
X = RNG.random((20, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * RNG.normal(size=20)
TIMES = np.arange(20) // 4 + 0.0
GP = ll.GP(1.2 * ll.kernels.Matern52([0.4, 0.7]), mean=0.3, noise=0.05)


def test_the_best_seen_has_the_highest_value():
    """Check: wilson S1.4"""
    assert best_seen(Y) == Incumbent(int(np.argmax(Y)), float(Y.max()))
    assert best_seen([1.0, 2.0, 2.0]).index == 1


def test_the_best_recent_is_of_late_calls_only():
    """Since ever it is the best seen; since now it is of the newest calls.

    Check: wilson S1.4
    """
    assert best_recent(Y, TIMES, -np.inf) == best_seen(Y)
    assert best_recent(Y, TIMES, 4.0) == Incumbent(16 + int(np.argmax(Y[16:])), Y[16:].max())
    values = [best_recent(Y, TIMES, since).value for since in (0.0, 1.0, 2.0, 3.0, 4.0)]
    assert np.all(np.diff(values) <= 0.0)
    assert values[-1] < values[0]


@pytest.mark.parametrize("var", [None, np.linspace(0.0, 0.5, 20)])
def test_the_best_expected_is_the_highest_mean_at_the_data(var):
    """Check: wilson S1.4"""
    posterior = GP.condition(X, Y, var)
    means = np.asarray(posterior.predict(X).mean)
    found = best_expected(posterior)
    assert found.index == int(np.argmax(means))
    assert found.value == pytest.approx(means.max(), abs=1e-10)
    assert np.all(found.value >= means - 1e-10)
    # With noise the best seen was lucky.
    assert found.value < best_seen(Y).value


def test_padded_rows_are_no_calls():
    """All values lie below the mean of the process, which is what padding looks like."""
    posterior = GP.condition(X, Y - 10.0)
    assert best_expected(posterior).value < -5.0


def test_without_noise_the_best_expected_is_the_best_seen():
    posterior = ll.GP(GP.kernel, noise=0.0).condition(X, Y)
    assert best_expected(posterior) == best_seen(Y)


def test_misuse_is_an_error():
    with pytest.raises(ll.InvalidData, match="y is empty"):
        best_seen([])
    with pytest.raises(ll.InvalidData, match="must be finite"):
        best_seen([1.0, np.nan])
    with pytest.raises(ll.InvalidData, match="arrived at 9 or later"):
        best_recent(Y, TIMES, 9.0)
    with pytest.raises(ll.InvalidData, match="times has 3 values"):
        best_recent(Y, TIMES[:3], 0.0)
    sparse = ll.models.Titsias(GP.kernel, X[:5], noise=0.05).condition(X, Y)
    with pytest.raises(ll.Unsupported, match="exact Gaussian process"):
        best_expected(sparse)
