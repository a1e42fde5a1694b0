"""Greedy and joint batches, from pools and from spaces."""

import itertools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from scipy.special import ndtr

import leadline as ll
from leadline.acquisition import (
    Acquisition,
    ExpectedImprovement,
    ExpectedMaximum,
    LogExpectedImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
    is_among,
    maximize,
)
from leadline.boundary import InvalidData, Unsupported
from leadline.search._evaluations import set_values
from leadline.search._pool import maximize_pool
from leadline.spaces import Choice, Integer, Real, Space

KEY = jax.random.key(2)
BOX = Space([(0, 1)] * 2)


@pytest.fixture(scope="module")
def posterior():
    rng = np.random.default_rng(0)
    x = rng.random((12, 2))
    y = np.sin(6.0 * x[:, 0]) + np.cos(5.0 * x[:, 1])
    return ll.GP(1.0 * ll.kernels.Matern52(np.full(2, 0.4)), noise=1e-3).condition(x, y)


@pytest.fixture(scope="module")
def best(posterior):
    return np.max(np.asarray(posterior.rows.y)[: posterior.n])


ACQUISITIONS = {
    "ei": lambda p, best: ExpectedImprovement(p, best),
    "pi": lambda p, best: ProbabilityOfImprovement(p, best),
    "ucb": lambda p, best: UpperConfidenceBound(p, np.asarray(2.0)),
    "emax": lambda p, best: ExpectedMaximum(p),
}


def worth_of_draws(acquisition, pool):
    """What each row of the pool is worth in many joint draws, less the least there is (s, n)."""
    mean, cov = (np.asarray(a) for a in acquisition.posterior.joint_moments(jnp.asarray(pool)))
    root = np.linalg.cholesky(cov + 1e-10 * np.eye(len(pool)))
    draws = mean + np.random.default_rng(1).normal(size=(20_000, len(pool))) @ root.T
    worth = np.asarray(acquisition.utility.worth(draws, mean))
    start = float(acquisition.utility.start)
    return np.maximum(worth, start) - start if np.isfinite(start) else worth - worth.min()


@pytest.mark.parametrize("name", list(ACQUISITIONS))
def test_greedy_choice_from_a_pool_keeps_its_guarantee(posterior, best, name):
    """Check: wilson S5.3."""
    acquisition = ACQUISITIONS[name](posterior, best)
    pool = np.random.default_rng(3).random((10, 2))
    worth = worth_of_draws(acquisition, pool)
    value = lambda chosen: np.mean(np.max(worth[:, chosen], axis=1))  # noqa: E731
    top = max(value(list(c)) for c in itertools.combinations(range(10), 3))
    found = maximize_pool(acquisition, pool, q=5)
    chosen = [int(np.argmin(np.sum((pool - row) ** 2, axis=1))) for row in found.rows]
    assert len(set(chosen)) == 5
    assert found.evaluations == 50
    for i in range(1, 6):
        assert value(chosen[:i]) >= (1.0 - np.exp(-i / 3)) * top
    # Of the acquisitions that are not shifted by an arbitrary least value, the worst row fails.
    if name in ("ei", "pi"):
        assert min(value([j]) for j in range(10)) < (1.0 - np.exp(-1 / 3)) * top


def test_greedy_choice_of_one_is_the_best_of_the_pool(posterior, best):
    """Check: wilson S5.4."""
    acquisition = ExpectedImprovement(posterior, best)
    pool = np.random.default_rng(4).random((60, 2))
    marginal = posterior.predict(pool)
    mean, std = np.asarray(marginal.mean), np.asarray(marginal.std)
    z = (mean - best) / std
    values = std * np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi) + (mean - best) * ndtr(z)
    found = maximize_pool(acquisition, pool)
    np.testing.assert_array_equal(found.row, pool[np.argmax(values)])
    np.testing.assert_allclose(found.value, values.max(), rtol=1e-8)
    first, second = pool[np.argsort(-values)[:2]]
    np.testing.assert_array_equal(maximize_pool(acquisition, pool, avoid=first[None]).row, second)


def test_a_large_pool_is_evaluated_in_pieces():
    acquisition = Coverage(np.random.default_rng(0).random((40, 2)))
    pool = np.random.default_rng(4).random((5000, 2))
    found = maximize_pool(acquisition, pool)
    values = np.asarray(acquisition.values(jnp.asarray(pool[:, None, :])))
    np.testing.assert_array_equal(found.row, pool[np.argmax(values)])
    assert found.evaluations == 5000


def test_a_pool_gives_no_more_than_it_has(posterior, best):
    acquisition = ExpectedImprovement(posterior, best)
    pool = np.random.default_rng(5).random((10, 2))
    pool[9] = pool[3]
    found = maximize_pool(acquisition, pool, q=12)
    assert found.rows.shape == (9, 2)
    assert maximize_pool(acquisition, pool, avoid=pool) is None
    assert maximize_pool(acquisition, np.zeros((0, 2)), q=2) is None
    with pytest.raises(InvalidData, match="q must be at least 1, got 0"):
        maximize_pool(acquisition, pool, q=0)


def test_greedy_batches_grow_at_their_end(posterior, best):
    """Check: wilson S5.4."""
    acquisition = LogExpectedImprovement(posterior, best)
    batches = [maximize(acquisition, BOX, KEY, q=q) for q in (1, 2, 4)]
    for one, two in itertools.pairwise(batches):
        np.testing.assert_array_equal(two.rows[: len(one.rows)], one.rows)
        assert two.value > one.value
    # The value is the logarithm of the sum of what each row adds.
    rows = batches[-1].rows
    gains = [set_values(acquisition, rows[None, :1])[0]]
    gains += [set_values(acquisition.after(rows[:i]), rows[None, i : i + 1])[0] for i in (1, 2, 3)]
    total = np.log(np.sum(np.exp(gains)))
    np.testing.assert_allclose(batches[-1].value, total, rtol=1e-8)


def test_running_calls_are_the_first_of_a_batch(posterior, best):
    """Check: wilson S5.7."""
    acquisition = LogExpectedImprovement(posterior, best)
    pool = np.random.default_rng(6).random((60, 2))
    batch = maximize_pool(acquisition, pool, q=5).rows
    rest = maximize_pool(acquisition.after(batch[:2]), pool, q=3, avoid=batch[:2])
    np.testing.assert_array_equal(rest.rows, batch[2:])
    # Negative control: without the running calls the choice is another one.
    blind = maximize_pool(acquisition, pool, q=3, avoid=batch[:2])
    assert np.any(blind.rows != batch[2:])
    # In a space the searches have other candidates, and find the same to their accuracy.
    batch = maximize(acquisition, BOX, KEY, q=3)
    rest = maximize(acquisition.after(batch.rows[:1]), BOX, KEY, q=2, avoid=batch.rows[:1])
    first = set_values(acquisition, batch.rows[None, :1])[0]
    np.testing.assert_allclose(np.logaddexp(first, rest.value), batch.value, atol=2e-3)


def test_rounds_after_the_second_compile_nothing(posterior, best, compilations):
    acquisition, other = LogExpectedImprovement(posterior, best), jax.random.key(9)
    maximize(acquisition, BOX, KEY, q=2)
    before = compilations[0]
    found = maximize(acquisition, BOX, KEY, q=8)
    assert compilations[0] == before
    assert found.rows.shape == (8, 2)
    # Another batch, with more data that fill the same bucket.
    x = np.random.default_rng(8).random((30, 2))
    more = posterior.gp.condition(x, np.sin(x.sum(axis=1)))
    maximize(LogExpectedImprovement(more, best), BOX, other, q=8, close_to=x[:4])
    assert compilations[0] == before


class Coverage(Acquisition):
    """The share of some sites that at least one row of a set is near to."""

    sites: Any
    logarithmic: ClassVar[bool] = False

    def values(self, x: Array) -> Array:
        square = jnp.sum((x[:, :, None, :] - self.sites) ** 2, axis=-1)
        return jnp.mean(jnp.max(jnp.exp(-square / 0.05), axis=1), axis=1)


class LogCoverage(Coverage):
    logarithmic: ClassVar[bool] = True

    def values(self, x: Array) -> Array:
        return jnp.log(super().values(x))


def test_an_acquisition_without_after_has_no_greedy_batches():
    acquisition = Coverage(np.random.default_rng(0).random((40, 2)))
    with pytest.raises(Unsupported, match="Coverage has no 'after'"):
        maximize(acquisition, BOX, KEY, q=2)
    assert maximize(acquisition, BOX, KEY, search="random", budget=64) is not None
    with pytest.raises(Unsupported, match="Coverage has no 'after'"):
        maximize_pool(acquisition, acquisition.sites, q=2)


@pytest.mark.parametrize("kind", [Coverage, LogCoverage])
def test_a_joint_search_finds_the_best_pair(kind):
    """Two groups of sites: the best pair has one row in the middle of each."""
    rng = np.random.default_rng(1)
    sites = np.concatenate([rng.normal(c, 0.05, (20, 2)) for c in ((0.2, 0.7), (0.8, 0.3))])
    acquisition = kind(sites)
    found = maximize(acquisition, BOX, KEY, q=2, batch="joint")
    rows = found.rows[np.argsort(found.rows[:, 0])]
    np.testing.assert_allclose(rows, [sites[:20].mean(axis=0), sites[20:].mean(axis=0)], atol=0.02)
    np.testing.assert_allclose(found.value, acquisition.values(found.rows[None])[0], rtol=1e-9)
    # From a start that is better than any other, a search returns no less.
    again = maximize(acquisition, BOX, jax.random.key(5), q=2, batch="joint", start=found.rows)
    assert again.value >= found.value - 1e-12


@pytest.mark.parametrize("search", ["random", "cmaes", "evolution", "adam"])
def test_no_joint_search_is_worse_than_its_start(search):
    acquisition = Coverage(np.random.default_rng(2).random((40, 2)))
    start = maximize(acquisition, BOX, KEY, q=2, batch="joint").rows
    settings: Any = {"q": 2, "batch": "joint", "search": search}
    found = maximize(acquisition, BOX, jax.random.key(7), budget=100, start=start, **settings)
    worth = float(acquisition.values(start[None])[0])
    assert found.value >= worth - 1e-12
    # Negative control: alone it does not get there.
    assert maximize(acquisition, BOX, jax.random.key(7), budget=100, **settings).value < worth


def test_a_joint_search_walks_along_discrete_parameters():
    space = Space(n=Integer(0, 4), m=Integer(0, 3), kind=Choice("a", "b"))
    acquisition = Coverage(np.random.default_rng(3).random((40, 4)))
    every = space.every()
    pairs = np.stack([every[list(c)] for c in itertools.combinations(range(len(every)), 2)])
    top = np.max(np.asarray(acquisition.values(pairs)))
    found = maximize(acquisition, space, KEY, q=2, batch="joint")
    np.testing.assert_allclose(found.value, top, rtol=1e-12)
    assert not is_among(found.rows[0], found.rows[1:])
    # Rows to avoid are in no set, and a space may have too few for any.
    avoid = found.rows[:1]
    other = maximize(acquisition, space, KEY, q=2, batch="joint", avoid=avoid)
    assert not any(is_among(row, avoid) for row in other.rows)
    assert other.value < top
    assert maximize(acquisition, space, KEY, q=41, batch="joint") is None


def test_a_joint_search_moves_real_and_discrete_parameters_together():
    space = Space(a=Real(0, 1), n=Integer(0, 5000), kind=Choice(*"abc"))
    acquisition = Coverage(space.sample(np.random.default_rng(4), 40))
    found = maximize(acquisition, space, KEY, q=2, batch="joint")
    np.testing.assert_array_equal(space.snap(found.rows)[:, 1:], found.rows[:, 1:])
    random = space.sample(np.random.default_rng(5), 40_000).reshape(-1, 2, space.columns)
    assert found.value >= np.max(np.asarray(acquisition.values(random)))
    # No single discrete step helps by more than searches gain before they stop.
    for j in (0, 1):
        steps = space.neighbors(found.rows[j])
        sets = np.repeat(found.rows[None], len(steps), axis=0)
        sets[:, j] = steps
        assert np.max(np.asarray(acquisition.values(sets))) <= found.value * (1.0 + 1e-4)


def test_a_greedy_batch_takes_all_of_a_small_space(posterior, best):
    space = Space(n=Integer(0, 2), m=Integer(0, 1))
    found = maximize(ExpectedImprovement(posterior, best), space, KEY, q=8)
    assert sorted(map(tuple, found.rows)) == sorted(map(tuple, space.every()))
    assert found.evaluations == 6 * 6
