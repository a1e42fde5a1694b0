"""Log odds of classifiers as acquisition functions, and the search around good rows."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from sklearn.linear_model import LogisticRegression

from leadline.acquisition import (
    Acquisition,
    HostLogOdds,
    LogOdds,
    centered,
    is_among,
    maximize,
)
from leadline.boundary import InvalidData, Unsupported
from leadline.ratios import MLP, Scikit
from leadline.spaces import Choice, Integer, Real, Space

BOX = Space([(-1.0, 1.0)] * 2)
MIXED = Space(a=Real(0, 1), n=Integer(1, 4000), kind=Choice(*"abc"))
KEY = jax.random.key(1)
ROWS = np.random.default_rng(0).random((40, 2))
GOOD = (ROWS[:, 0] > 0.6).astype(float)


@pytest.fixture(scope="module")
def network():
    return MLP(hidden=(8,), learning_rate=0.05).fit(centered(ROWS), GOOD, key=KEY)


@pytest.fixture(scope="module")
def regression():
    return Scikit(LogisticRegression()).fit(centered(ROWS), GOOD, key=KEY)


def test_rows_are_centered():
    np.testing.assert_array_equal(centered(np.array([[0.0, 0.5, 1.0]])), [[-1.0, 0.0, 1.0]])


@pytest.mark.parametrize("name", ["network", "regression"])
def test_values_are_the_log_odds_at_centered_rows(name, request):
    fitted = request.getfixturevalue(name)
    found = LogOdds.of(fitted)
    assert type(found) is (LogOdds if name == "network" else HostLogOdds)
    assert type(found).traceable == type(fitted).traceable == (name == "network")
    assert type(found).logarithmic
    expected = np.asarray(fitted.logits(2.0 * ROWS - 1.0))
    np.testing.assert_allclose(found.values(ROWS[:, None, :]), expected, rtol=1e-5)
    # Rows as they are would be another matter.
    assert np.max(np.abs(expected - np.asarray(fitted.logits(ROWS)))) > 0.5


def test_a_network_has_gradients(network):
    found = LogOdds.of(network)
    rows = ROWS[:5, None, :]
    slopes = np.asarray(jax.grad(lambda x: found.values(x).sum())(jnp.asarray(rows)))[:, 0]
    step = 1e-3 * np.eye(2)[:, None, None, :]
    ahead, behind = (
        np.array([found.values(rows + sign * h) for h in step[:, 0]]) for sign in (1, -1)
    )
    # The network computes in single precision.
    np.testing.assert_allclose(slopes, (ahead - behind).T / 2e-3, atol=0.05, rtol=0.02)
    assert np.abs(slopes).max() > 1.0


def test_log_odds_are_of_one_point(network):
    with pytest.raises(InvalidData, match="LogOdds is of one point at a time"):
        LogOdds.of(network).values(np.zeros((3, 2, 2)))
    with pytest.raises(Unsupported, match="LogOdds has no 'after'"):
        maximize(LogOdds.of(network), BOX, KEY, q=2)


def test_a_classifier_on_the_host_has_no_gradients(regression):
    acquisition = LogOdds.of(regression)
    with pytest.raises(Unsupported, match=r"HostLogOdds is no JAX program.*'nearby'"):
        maximize(acquisition, BOX, KEY, search="gradient")
    found = maximize(acquisition, BOX, KEY, search="random", budget=300)
    # It says that good rows are on the right.
    assert found.row[0] > 0.9
    np.testing.assert_allclose(found.value, acquisition.values(found.rows[None])[0])


class Spread(Acquisition):
    """How far apart the rows of a set are from the middle, and what it was asked."""

    asked: ClassVar[list] = []
    traceable: ClassVar[bool] = False

    def values(self, x: Any) -> Array:
        self.asked.append(np.array(x))
        return jnp.asarray(np.abs(x - 0.5).sum(axis=(1, 2)))


@pytest.fixture
def spread():
    Spread.asked.clear()
    return Spread()


def asked():
    return np.concatenate(Spread.asked)


@pytest.mark.parametrize(("space", "q"), [(BOX, 1), (BOX, 3), (MIXED, 1), (MIXED, 3)])
def test_nearby_spends_its_budget_on_legal_new_rows(space, q, spread):
    close_to = space.sample(np.random.default_rng(2), 4)
    settings = {"q": q, "batch": "joint", "search": "nearby", "close_to": close_to}
    first = maximize(spread, space, KEY, budget=200, **settings)
    sets = asked()
    assert first.evaluations == len(sets) == 200
    assert first.rows.shape == (q, space.columns)
    rows = sets.reshape(-1, space.columns)
    np.testing.assert_allclose(space.snap(rows), rows, atol=1e-12)
    assert first.value == np.max(np.asarray(spread.values(sets)))
    # The best rows are gone.
    second = maximize(spread, space, KEY, budget=200, avoid=first.rows, **settings)
    assert not any(is_among(row, first.rows) for row in second.rows)
    assert second.value <= first.value


def test_nearby_looks_nearby(spread):
    """Around two rows that are close together, but not only there."""
    close_to = np.array([[0.2, 0.8], [0.25, 0.75]])
    maximize(spread, BOX, KEY, search="nearby", budget=600, close_to=close_to)
    rows = asked()[:, 0]
    near = np.mean(np.all(np.abs(rows - [0.225, 0.775]) < 0.3, axis=1))
    # Two bumps of three, with standard deviations of 0.25, and the flat one.
    assert 0.5 < near < 0.9
    assert np.any(np.all(np.abs(rows - [0.8, 0.2]) < 0.2, axis=1))


def test_nearby_nothing_is_everywhere(spread):
    """Without rows to be close to: the mean and the variance of flat draws, within 4 errors."""
    maximize(spread, BOX, KEY, search="nearby", budget=600)
    rows = asked()[:, 0]
    assert np.all(np.abs(rows.mean(axis=0) - 0.5) < 4 * np.sqrt(1 / 12 / 600))
    assert np.all(np.abs(rows.var(axis=0) - 1 / 12) < 4 * np.sqrt(1 / 180 / 600))


def test_nearby_keeps_the_constraint_and_the_start(spread):
    space = Space([(0.0, 1.0)] * 2, constraint=lambda x: x[0] + x[1] <= 0.5)
    close_to = np.array([[0.2, 0.2], [0.3, 0.1]])
    start = np.array([[0.0, 0.5]])
    settings = {"batch": "joint", "search": "nearby", "budget": 100, "close_to": close_to}
    found = maximize(spread, space, KEY, start=start, **settings)
    assert np.all(space.allowed(asked()[:, 0]))
    assert found.value >= np.abs(start - 0.5).sum()
    np.testing.assert_array_equal(asked()[0], start)
    assert len(asked()) == found.evaluations == 100


def test_nearby_is_the_same_for_the_same_key(spread):
    settings = {"search": "nearby", "budget": 100, "close_to": ROWS[:5]}
    first, second = (maximize(spread, BOX, KEY, **settings).row for _ in range(2))
    np.testing.assert_array_equal(first, second)
    other = maximize(spread, BOX, jax.random.key(2), **settings).row
    assert not np.array_equal(first, other)
