"""Every search: what it finds, within its budget, in every kind of space."""

from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array

import leadline as ll
from leadline.acquisition import Acquisition, ExpectedImprovement, is_among, maximize
from leadline.acquisition._fantasies import base_samples
from leadline.acquisition._monte_carlo import MonteCarlo
from leadline.acquisition._utilities import Improvement
from leadline.boundary import InvalidData, Unsupported
from leadline.search._adam import _ascend_jit
from leadline.search._evaluations import set_values
from leadline.spaces import Choice, Integer, Real, Space

SEARCHES = ("gradient", "adam", "cmaes", "evolution", "random")
BOX = Space([(-1.0, 1.0)] * 2)
MIXED = Space(a=Real(0, 1), n=Integer(1, 4000), kind=Choice(*"abc"))
KEY = jax.random.key(1)


class Coverage(Acquisition):
    """How much of some sites the best row of a set covers, beside what is covered already."""

    sites: Any
    covered: Any
    submodular: ClassVar[bool] = True

    def _cover(self, x):
        square = ((x[:, :, None, :] - self.sites) ** 2).sum(axis=-1)
        return jnp.max(jnp.exp(-square / 0.1), axis=1)

    def values(self, x: Any) -> Array:
        return jnp.mean(jnp.maximum(self._cover(x) - self.covered, 0.0), axis=1)

    def after(self, rows: Any) -> "Coverage":
        covered = np.maximum(self.covered, np.asarray(self._cover(np.asarray(rows)[None]))[0])
        return type(self)(self.sites, covered)


class OnHost(Coverage):
    """The same without JAX, which counts what it is asked."""

    calls: ClassVar[list] = []
    traceable: ClassVar[bool] = False

    def values(self, x: Any) -> np.ndarray:
        assert isinstance(x, np.ndarray)
        self.calls.append(len(x))
        return np.asarray(super().values(x))


def coverage(columns, kind=Coverage):
    sites = np.random.default_rng(columns).random((30, columns))
    return kind(sites, np.zeros(30))


class Bowl(Acquisition):
    """A concave function that is highest at `top`."""

    top: Any
    stretch: Any

    def values(self, x: Array) -> Array:
        return -jnp.sum(self.stretch * (x[:, 0, :] - self.top) ** 2, axis=1)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(
    ("batch", "space"), [("greedy", BOX), ("joint", MIXED)], ids=["greedy-box", "joint-mixed"]
)
def test_no_search_spends_more_than_its_budget_and_all_find_legal_new_rows(search, batch, space):
    """Check: wilson S4.6."""
    acquisition = coverage(space.columns)
    avoid = space.sample(np.random.default_rng(0), 5)
    settings = {"q": 3, "batch": batch, "search": search, "avoid": avoid}
    for budget in (3, 700):
        found = maximize(acquisition, space, KEY, budget=budget, **settings)
        assert 0 < found.evaluations <= budget
        assert found.rows.shape == (3, space.columns)
        np.testing.assert_allclose(space.snap(found.rows), found.rows, atol=1e-12)
        for i, row in enumerate(found.rows):
            assert not is_among(row, np.concatenate([avoid, found.rows[:i]]))
        value = acquisition.values(found.rows[None])[0]
        np.testing.assert_allclose(found.value, value, rtol=1e-10)
    # The values of the best random sets, and a search that is one.
    random = space.sample(np.random.default_rng(5), 3 * 500).reshape(500, 3, -1)
    usual = np.quantile(np.asarray(acquisition.values(random)), 0.98)
    assert found.value > usual


@pytest.mark.parametrize("search", ["cmaes", "evolution", "random"])
@pytest.mark.parametrize("batch", ["greedy", "joint"])
def test_a_host_acquisition_is_served_in_whole_generations(search, batch):
    OnHost.calls.clear()
    acquisition = coverage(2, OnHost)
    found = maximize(acquisition, BOX, KEY, q=2, batch=batch, search=search, budget=600)
    assert found.evaluations == sum(OnHost.calls) <= 600
    assert len(OnHost.calls) <= 600 / 5
    traced = maximize(coverage(2), BOX, KEY, q=2, batch=batch, search=search, budget=600)
    np.testing.assert_allclose(found.rows, traced.rows, atol=1e-6)


@pytest.mark.parametrize("search", ["gradient", "adam"])
def test_a_host_acquisition_has_no_gradients(search):
    with pytest.raises(Unsupported, match=r"OnHost is no JAX program.*'cmaes', 'evolution'"):
        maximize(coverage(2, OnHost), BOX, KEY, search=search)


def test_cma_es_solves_a_sphere_and_the_banana_valley():
    """Check: wilson S4.2."""

    class Sphere(Acquisition):
        traceable: ClassVar[bool] = False

        def values(self, x: Any) -> np.ndarray:
            return -np.sum((10.0 * x[:, 0, :] - 5.0) ** 2, axis=1)

    class Rosenbrock(Acquisition):
        traceable: ClassVar[bool] = False

        def values(self, x: Any) -> np.ndarray:
            z = 4.0 * x[:, 0, :] - 2.0
            step = z[:, 1:] - z[:, :-1] ** 2
            return -np.sum(100.0 * step**2 + (1.0 - z[:, :-1]) ** 2, axis=1)

    box = Space([(0, 1)] * 5)
    found = maximize(Sphere(), box, KEY, search="cmaes", budget=3000)
    assert found.value > -1e-8
    found = maximize(Rosenbrock(), box, KEY, search="cmaes", budget=6000)
    assert found.value > -1e-3


class Watched(Bowl):
    """A bowl that notes the range of what it is asked."""

    seen: ClassVar[list] = []

    def values(self, x: Array) -> Array:
        jax.debug.callback(lambda u: self.seen.append((u.min(), u.max())), x)
        return super().values(x)


def test_adam_reaches_the_top_of_a_bowl_and_never_leaves_the_box():
    """Check: wilson S4.3."""
    acquisition = Watched(np.array([0.3, 1.2, -0.1]), np.array([1.0, 2.0, 50.0]))
    found = maximize(acquisition, Space([(0, 1)] * 3), KEY, search="adam")
    np.testing.assert_allclose(found.row, [0.3, 1.0, 0.0], atol=1e-3)
    jax.effects_barrier()
    seen = np.array(Watched.seen)
    assert len(seen) > 300
    assert seen.min() >= 0.0
    assert seen.max() <= 1.0


class Noisy(Acquisition):
    """A bowl around a top that each draw shifts; the top of the average is in the middle."""

    base: Any

    def values(self, x: Array) -> Array:
        tops = 0.5 + 0.1 * self.base
        square = jnp.sum((x[:, 0, None, :] - tops) ** 2, axis=-1)
        return -jnp.mean(square, axis=1)

    def with_base(self, base: Any) -> "Noisy":
        return Noisy(base)


def test_adam_draws_afresh_in_every_step():
    """With its one draw an acquisition is overfitted; fresh ones find the top of the average."""
    acquisition = Noisy(np.full((4, 2), 3.0))
    ends = np.array([[[0.8, 0.8]], [[0.5, 0.5]]])
    assert np.subtract(*acquisition.values(jnp.asarray(ends))) > 0.1
    # The ends of the ascents themselves: `maximize` would compare them by the one draw.
    starts = np.random.default_rng(0).random((3, 1, 2))
    free = np.ones_like(starts)
    fresh = _ascend_jit(acquisition, starts, free, KEY, np.asarray(400))
    np.testing.assert_allclose(fresh, 0.5, atol=0.06)
    # A column that is not free stays.
    free[:, :, 1] = 0.0
    held = np.asarray(_ascend_jit(acquisition, starts, free, KEY, np.asarray(40)))
    np.testing.assert_array_equal(held[..., 1], starts[..., 1])


@pytest.mark.parametrize("search", SEARCHES)
def test_the_constraint_holds_at_every_answer(search):
    space = Space([(0, 1)] * 2, constraint=lambda x: x[0] + x[1] <= 0.5)
    bowl = Bowl(np.array([0.6, 0.2]), np.ones(2))
    found = maximize(bowl, space, KEY, search=search)
    assert space.allowed(found.rows).all()
    # The nearest allowed point is at (0.45, 0.05). A gradient search stops where it meets the edge.
    assert found.value > -(0.15**2 + 0.15**2) - 0.01


def test_settings_that_cannot_be_are_refused():
    acquisition = coverage(2)
    with pytest.raises(InvalidData, match="q must be at least 1, got 0"):
        maximize(acquisition, BOX, KEY, q=0)
    with pytest.raises(InvalidData, match="search"):
        maximize(acquisition, BOX, KEY, search="annealing")
    with pytest.raises(InvalidData, match="batch"):
        maximize(acquisition, BOX, KEY, batch="both")
    with pytest.raises(InvalidData, match="budget must be at least 3 evaluation"):
        maximize(acquisition, BOX, KEY, q=3, budget=2)
    with pytest.raises(InvalidData, match="start is for batch='joint'"):
        maximize(acquisition, BOX, KEY, q=1, start=np.zeros((1, 2)))
    with pytest.raises(InvalidData, match="start must have q = 2 rows, got 1"):
        maximize(acquisition, BOX, KEY, q=2, batch="joint", start=np.zeros((1, 2)))
    with pytest.raises(InvalidData, match="has 2 rows: see `rows`"):
        _ = maximize(acquisition, BOX, KEY, q=2, search="random", budget=4).row


@pytest.fixture(scope="module")
def contest():
    """In six known problems, what each way to choose 4 rows is worth on fresh draws."""
    d = q = 4
    kernel = 1.0 * ll.kernels.Matern52(np.full(d, np.sqrt(d) / 4))
    space, worth = Space([(0, 1)] * d), []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        x = rng.random((20, d))
        root = np.linalg.cholesky(np.asarray(kernel(x, x)) + 1e-3 * np.eye(20))
        y = root @ rng.normal(size=20)
        posterior = ll.GP(kernel, noise=1e-3).condition(x, y)
        single = ExpectedImprovement(posterior, y.max())
        several = MonteCarlo(posterior, Improvement(y.max()), base_samples(128, q, seed))
        key = jax.random.key(seed)
        answers = {
            "random": maximize(several, space, key, q=q, batch="joint", search="random"),
            "gradient": maximize(several, space, key, q=q, batch="joint"),
            "adam": maximize(several, space, key, q=q, batch="joint", search="adam"),
            "greedy": maximize(single, space, key, q=q),
        }
        greedy = answers["greedy"].rows
        answers["both"] = maximize(several, space, key, q=q, batch="joint", start=greedy)
        assert answers["both"].value >= set_values(several, greedy[None])[0]
        fresh = several.with_base(np.random.default_rng(99).normal(size=(20_000, q)))
        rows = np.stack([answer.rows for answer in answers.values()])
        worth.append(dict(zip(answers, set_values(fresh, rows, padded=False), strict=True)))
    return worth


@pytest.mark.slow
def test_gradients_find_better_batches_than_random_search(contest):
    """Check: wilson S4.4."""
    for search in ("gradient", "adam"):
        assert sum(worth[search] >= 1.2 * worth["random"] for worth in contest) >= 5


@pytest.mark.slow
def test_greedy_batches_are_nearly_as_good_as_joint_ones(contest):
    """Check: wilson S5.5."""
    assert sum(worth["greedy"] >= 0.95 * worth["gradient"] for worth in contest) >= 5
    # A joint search from the greedy batch improves on it.
    assert all(worth["both"] >= 0.999 * worth["greedy"] for worth in contest)
