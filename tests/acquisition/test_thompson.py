import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.acquisition import maximize
from leadline.acquisition._thompson import (
    DrawnFunction,
    location_scale_choice,
    promising,
    unified_draws,
)
from leadline.boundary import InvalidData, Unsupported
from leadline.diagnostics import decoupled_moments, weight_space_moments
from leadline.models import mixture
from leadline.numerics import shifted_sobol
from leadline.paths import FourierFeatures, prior_draws
from leadline.spaces import Space

GRID = np.linspace(0.0, 1.0, 15)[:, None]
CUBE = Space([(0.0, 1.0)] * 2)


@pytest.fixture(scope="module")
def line():
    """A posterior on the unit interval whose best point is in doubt."""
    x = np.random.default_rng(0).random((5, 1))
    return ll.GP(ll.kernels.Matern52(0.2), noise=1e-3).condition(x, np.sin(7.0 * x[:, 0]))


def plane_given(x, base=0.5):
    """A posterior on the unit square, of values around a base."""
    kernel = 1.0 * ll.kernels.Matern52(np.full(2, 0.3))
    return ll.GP(kernel, mean=base, noise=1e-3).condition(x, base + np.sin(5.0 * x.sum(axis=1)))


@pytest.fixture(scope="module")
def plane():
    return plane_given(np.random.default_rng(1).random((12, 2)))


@pytest.fixture(scope="module")
def draws(plane):
    return plane.paths(jax.random.key(4), 16, 256)


def highest(values):
    """How often each grid point is the highest."""
    return np.bincount(np.argmax(np.asarray(values), axis=1), minlength=len(GRID)) / len(values)


def distance(p, q):
    """The total variation distance of two laws."""
    return 0.5 * np.abs(p - q).sum()


def features_of(line, size, seed):
    return FourierFeatures(line.gp.kernel, size, 1, key=jax.random.key(seed), points="tails")


def test_draws_are_highest_where_joint_samples_are(line):
    """Check: wilson S12.1"""
    n = 200_000
    exact = np.bincount(location_scale_choice(line, GRID, jax.random.key(0), n), minlength=15) / n
    # In doubt: four points at least may be the best one.
    assert np.sum(exact > 0.05) >= 4

    def from_law(size, seed):
        law = decoupled_moments(line, features_of(line, size, seed), GRID)
        return highest(law.sample(jax.random.key(10 + seed), n))

    assert np.mean([distance(from_law(2048, seed), exact) for seed in range(3)]) <= 0.04
    # The negative control: few features stand for another process.
    assert np.mean([distance(from_law(8, seed), exact) for seed in range(3)]) > 0.08
    # The draws themselves have that law; the distance of 5000 of them is known to about 0.01.
    drawn = line.paths(jax.random.key(20), 5000, features_of(line, 2048, 0))(GRID)
    assert distance(highest(drawn), exact) <= 0.04


def test_without_data_the_highest_point_may_be_anywhere():
    """Check: wilson S12.2"""
    n = 600
    prior = prior_draws(ll.kernels.Matern52(0.1), jax.random.key(2), n, dim=2, features=256)
    found = np.asarray(prior.argmax([(0.0, 1.0)] * 2))
    # The square and the prior look the same from both sides of a middle line.
    halves = np.mean(found > 0.5, axis=0)
    assert np.all(np.abs(halves - 0.5) <= 4.0 * 0.5 / np.sqrt(n))
    cells = np.floor(4.0 * np.clip(found, 0.0, 0.999)).astype(int) @ np.array([4, 1])
    # Even the inner cells, which have no edge for a draw to be highest at, get half their share.
    assert np.bincount(cells, minlength=16).min() >= n / 16 / 2


def test_the_search_ends_in_the_box_at_least_as_high_as_any_candidate(draws):
    """Check: wilson S12.4"""
    pool = shifted_sobol(np.random.default_rng(3), 1024, 2)
    tops = np.asarray(draws.argmax([(0.0, 1.0)] * 2))
    heights = np.asarray(draws.paired(tops[:, None, :]))[:, 0]
    candidates = np.asarray(draws(pool)).max(axis=1)
    assert np.all((tops >= 0.0) & (tops <= 1.0))
    assert np.all(heights >= candidates)
    for i in range(6):
        found = maximize(DrawnFunction(draws[i], 1.0), CUBE, jax.random.key(i))
        assert np.all((found.row >= 0.0) & (found.row <= 1.0))
        assert found.value + 1.0 >= candidates[i]
        assert found.value + 1.0 == pytest.approx(heights[i], abs=1e-3)


def test_a_level_near_the_values_keeps_large_values_apart(plane):
    """Values of a million and a bit: a search that looks at the million does not climb."""
    far = plane_given(np.asarray(plane.rows.x)[:12], base=1e6)
    draws = far.paths(jax.random.key(4), 16, 256)
    tops = np.asarray(draws.argmax([(0.0, 1.0)] * 2))
    heights = np.asarray(draws.paired(tops[:, None, :]))[:, 0] - 1e6
    lost = {1e6: [], 0.0: []}
    for i in range(4):
        for level, losses in lost.items():
            found = maximize(DrawnFunction(draws[i], level), CUBE, jax.random.key(i))
            losses.append(heights[i] - (found.value + level - 1e6))
    assert np.max(lost[1e6]) < 1e-3
    assert np.min(lost[0.0]) > np.max(lost[1e6])


def test_a_drawn_function_is_its_draw_and_has_its_gradient(draws):
    drawn = DrawnFunction(draws[0], 0.25)
    x = jnp.asarray(np.random.default_rng(6).random((7, 1, 2)))
    np.testing.assert_allclose(drawn.values(x), np.asarray(draws(x[:, 0]))[0] - 0.25, rtol=1e-12)
    slopes = jax.jit(jax.grad(lambda x: jnp.sum(drawn.values(x))))(x)[:, 0]
    ends = [np.asarray(drawn.values(x + h * np.array([1.0, -0.5]))) for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(
        slopes @ np.array([1.0, -0.5]), (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-7
    )


def test_unified_draws_are_linear_regression_on_the_features(plane):
    """Means and variances of many draws, against the closed form; and draws without centers."""
    features = FourierFeatures(plane.gp.kernel, 64, 2, key=jax.random.key(8))
    draws = unified_draws(plane, jax.random.key(9), 20_000, features)
    assert draws.centers.shape[0] == 0
    xs = np.random.default_rng(10).random((9, 2))
    law, found = weight_space_moments(plane, features, xs), np.asarray(draws(xs))
    std = np.asarray(law.marginals.std)
    z = (found.mean(axis=0) - law.mean) * np.sqrt(20_000) / std
    np.testing.assert_allclose(z, 0.0, atol=4.5)
    # The standard error of a variance is its root of 2 / n.
    z = (found.var(axis=0) / std**2 - 1.0) * np.sqrt(10_000)
    np.testing.assert_allclose(z, 0.0, atol=4.5)


def test_unified_draws_starve_where_decoupled_ones_do_not():
    """With as many data as features, unified draws are too sure of themselves away from data."""
    rng = np.random.default_rng(3)
    post = plane_given(rng.random((60, 2)) * np.array([0.5, 1.0]))
    far = np.array([0.7, 0.0]) + rng.random((9, 2)) * np.array([0.3, 1.0])
    exact = np.asarray(post.predict(far).std)
    features = FourierFeatures(post.gp.kernel, 64, 2, key=jax.random.key(0))
    unified = unified_draws(post, jax.random.key(1), 20_000, features)(far)
    decoupled = post.paths(jax.random.key(1), 20_000, features)(far)
    assert np.all(np.std(unified, axis=0) < 0.85 * exact)
    assert np.all(np.std(decoupled, axis=0) > 0.88 * exact)


def test_more_data_in_the_same_bucket_compile_nothing(plane, compilations):
    rng = np.random.default_rng(11)
    before = 0
    for k, n in enumerate((12, 13, 14)):
        post = plane.gp.condition(rng.random((n, 2)), rng.normal(size=n))
        unified_draws(post, jax.random.key(k), 1, 64)
        before = compilations[0] if k == 1 else before
    assert compilations[0] == before


def test_promising_rows_are_those_of_high_draws(line):
    rows = np.linspace(0.0, 1.0, 400)[:, None]
    kept = promising(line, rows, jax.random.key(0), 100)
    assert len(np.unique(kept)) == len(kept) == 100
    mean = np.asarray(line.predict(rows).mean)
    assert mean[np.isin(rows[:, 0], kept)].mean() > mean.mean() + 0.3
    assert promising(line, rows, jax.random.key(0), 400) is rows


def test_wrong_use_is_refused(plane, draws):
    with pytest.raises(InvalidData, match="one draw, got 2"):
        DrawnFunction(draws[:2])
    with pytest.raises(InvalidData, match="sets of 3"):
        DrawnFunction(draws[0]).values(np.zeros((4, 3, 2)))
    with pytest.raises(Unsupported, match="after"):
        DrawnFunction(draws[0]).after(np.zeros((1, 2)))
    with pytest.raises(Unsupported, match="exact posteriors"):
        unified_draws(mixture([plane, plane]), jax.random.key(0), 1)


def regret_of(kind, seed, queries=16):
    """How far the best of some queries, given 200 data in four dimensions, is from the top."""
    rng = np.random.default_rng(seed)
    kernel = ll.kernels.Matern52(0.2)
    truth = prior_draws(kernel, jax.random.key(seed), 1, dim=4, features=4096)
    box = [(0.0, 1.0)] * 4
    top = float(np.asarray(truth(truth.argmax(box, 16)))[0, 0])
    x = rng.random((200, 4))
    y = np.asarray(truth(x))[0] + np.sqrt(1e-3) * rng.normal(size=200)
    post = ll.GP(kernel, noise=1e-3).condition(x, y)
    features = FourierFeatures(kernel, 64, 4, key=jax.random.key(1000 + seed), points="random")
    make = post.paths if kind == "decoupled" else lambda *a: unified_draws(post, *a)
    draws = make(jax.random.key(2000 + seed), queries, features)
    called = np.asarray(truth(draws.argmax(box)))[0]
    return top - called.max(), top - called.mean()


@pytest.mark.slow
def test_with_more_data_than_features_decoupled_draws_ask_better():
    """Check: wilson S12.5"""
    kinds = "decoupled", "unified"
    found = {kind: [regret_of(kind, seed) for seed in range(8)] for kind in kinds}
    best, mean = (
        {kind: np.median([pair[i] for pair in pairs]) for kind, pairs in found.items()}
        for i in range(2)
    )
    assert best["decoupled"] < best["unified"]
    assert mean["decoupled"] < mean["unified"]
