import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

import leadline as ll
from leadline.acquisition._joint_entropy import JointEntropy
from leadline.acquisition._max_value_entropy import (
    MaxValueEntropy,
    sample_maxima,
    truncation_information,
)
from leadline.models import Titsias, mixture
from leadline.numerics import quick_jit

NOISE = 0.04
X = np.array([[0.1], [0.45], [0.8]])
Y = np.array([0.2, 0.9, -0.3])
GRID = np.linspace(0.0, 1.0, 12)[:, None]
BOUNDS = [(0.0, 1.0)]

values = quick_jit(lambda acquisition, x: acquisition.values(x))


@quick_jit
def values_and_gradients(acquisition, x):
    found, back = jax.vjp(acquisition.values, x)
    return found, back(jnp.ones_like(found))[0]


@quick_jit
def information_and_slopes(maximum, mean, var, noise):
    """Of arrays (42,): the information, and its slopes in the mean and the variance."""
    found, back = jax.vjp(lambda *a: truncation_information(maximum, *a, noise), mean, var)
    return found, back(jnp.ones_like(found))


def information_by_quadrature(maximum, mean, var, noise):
    """H[y] - H[y | f <= maximum], by Gauss-Legendre pieces over y."""
    total, gamma = var + noise, (maximum - mean) / np.sqrt(var)
    rho, tau = np.sqrt(var / total), np.sqrt(noise / total)
    center = min(gamma, 0.0) * rho
    nodes, weights = np.polynomial.legendre.leggauss(40)
    ends = np.append(
        np.linspace(center - 13, center + 13, 27), gamma / rho + tau * np.arange(-9, 9)
    )
    ends = np.unique(ends[np.abs(ends - center) <= 13])
    middle, half = 0.5 * (ends[1:] + ends[:-1]), 0.5 * (ends[1:] - ends[:-1])
    u = middle[:, None] + half[:, None] * nodes
    log_p = -0.5 * u**2 - 0.5 * np.log(2 * np.pi) + log_ndtr((gamma - rho * u) / tau)
    log_p = log_p - log_ndtr(gamma)
    return np.sum(
        half[:, None] * weights * np.exp(log_p) * (log_p + 0.5 * np.log(2 * np.pi * np.e))
    )


@pytest.fixture(scope="module")
def posterior():
    return ll.GP(1.0 * ll.kernels.Matern52([0.15]), noise=NOISE).condition(X, Y)


@pytest.fixture(scope="module")
def certain():
    """A posterior of data without noise."""
    return ll.GP(1.0 * ll.kernels.Matern52([0.15]), noise=0.0).condition(X, Y)


@pytest.fixture(scope="module")
def grid_draws(posterior):
    """Functions on the grid, and for each where its maximum is and how high."""
    law = posterior.joint(GRID)
    z = np.random.default_rng(0).normal(size=(400_000, 12))
    draws = law.mean + z @ np.linalg.cholesky(law.cov).T
    return draws, draws.argmax(axis=1), draws.max(axis=1)


def test_information_is_the_integral_it_stands_for():
    """Entropies of truncated normals plus noise, to 2e-9 nats."""
    gamma, share = np.meshgrid([-8, -3, -1, 0, 1, 3, 6], [0.01, 0.1, 0.5, 0.9, 0.99, 0.9999])
    gamma, var = gamma.ravel().astype(float), np.full(42, 1.7)
    noise = var * (1 / share.ravel() ** 2 - 1)
    arguments = (0.4 + np.sqrt(var) * gamma, np.full(42, 0.4), var, noise)
    found, _ = information_and_slopes(*arguments)
    expected = [information_by_quadrature(*each) for each in zip(*arguments, strict=True)]
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=2e-9)


def test_without_noise_it_is_the_printed_formula():
    """Of Wang and Jegelka (2017)."""
    gamma = np.linspace(-5, 6, 42)
    density = np.exp(-0.5 * gamma**2) / np.sqrt(2 * np.pi)
    printed = gamma * density / (2 * ndtr(gamma)) - log_ndtr(gamma)
    found, _ = information_and_slopes(gamma, np.zeros(42), np.ones(42), np.full(42, 1e-30))
    np.testing.assert_allclose(found, printed, rtol=1e-11)


def test_tails_are_finite_and_right():
    """A maximum far above says nothing; one far below says what the function is.

    There it is as much as noise lets through, with a slope that dies out.
    """
    far = np.array([-1e150, -1e12, -1e6, -1e3, -101.0, -99.0, 30.0, 1e3, 1e12, 1e150])
    var, noise = np.full(42, 2.0), np.full(42, 0.5)
    found, slopes = information_and_slopes(np.resize(far, 42), np.zeros(42), var, noise)
    found = np.asarray(found)[:10]
    assert np.all(np.isfinite(found))
    assert all(np.all(np.isfinite(s)) for s in slopes)
    limit = 0.5 * np.log((2.0 + 0.5) / 0.5)
    np.testing.assert_allclose(found[:4], limit, atol=1e-5)
    np.testing.assert_allclose(found[4:6], limit, atol=1e-3)
    assert np.all(found[6:] >= 0)
    assert np.all(found[6:] < 1e-80)
    # Both sides of where the series begins.
    assert np.all(np.diff(found[2:7]) < 0)


def test_slopes_of_information_are_right():
    maximum = np.resize([-4.0, -0.5, 0.0, 0.3, 1.0, 2.5], 42)
    mean, var, noise = np.zeros(42), np.full(42, 0.8), np.full(42, 0.05)
    _, slopes = information_and_slopes(maximum, mean, var, noise)
    step = 1e-5
    for slope, moved in zip(slopes, [(step, 0.0), (0.0, step)], strict=True):
        up, _ = information_and_slopes(maximum, mean + moved[0], var + moved[1], noise)
        down, _ = information_and_slopes(maximum, mean - moved[0], var - moved[1], noise)
        np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-7, atol=1e-9)


def test_joint_information_is_that_of_refits(posterior):
    """Each term against a process refit with the maximum as data, and an entropy by quadrature.

    The moment-matched entropy of the papers is larger, so that their information is a lower bound.
    """
    points, maxima = np.array([[0.3], [0.62], [0.5]]), np.array([1.1, 1.6, 1.0])
    found = np.asarray(values(JointEntropy(posterior, points, maxima), GRID[:, None, :]))
    before = posterior.predict(GRID)
    exact, bound, passing = np.zeros(12), np.zeros(12), np.zeros(12)
    for point, m in zip(points, maxima, strict=True):
        gp = ll.GP(posterior.gp.kernel, noise=0.0)
        rows = np.concatenate([X, point[None]])
        given = gp.condition(rows, np.append(Y, m), np.array([NOISE] * 3 + [0.0])).predict(GRID)
        first = 0.5 * np.log((before.var + NOISE) / (given.var + NOISE))
        parts = zip(given.mean, given.var, strict=True)
        exact += first + [information_by_quadrature(m, a, b, NOISE) for a, b in parts]
        gamma = (m - given.mean) / given.std
        hazard = np.exp(-0.5 * gamma**2 - log_ndtr(gamma)) / np.sqrt(2 * np.pi)
        matched = given.var * (1 - hazard * (gamma + hazard)) + NOISE
        bound += 0.5 * np.log((before.var + NOISE) / matched)
        passing += first
    np.testing.assert_allclose(found, exact / 3, atol=1e-8)
    assert np.all(bound / 3 <= found + 1e-9)
    assert np.max(found - bound / 3) < 0.1
    # Without the truncation it is another function.
    assert np.max(np.abs(found - passing / 3)) > 0.1


def information_of_cells(f, cell, cells):
    """I(y; cell) in nats with y = f + noise: histograms of f by cell, smoothed by the noise."""
    low, high, bins = f.min(), f.max(), 400
    which = np.minimum(((f - low) / (high - low) * bins).astype(int), bins - 1)
    counts = np.bincount(cell * bins + which, minlength=cells * bins).reshape(cells, bins)
    edges = np.linspace(low, high, bins + 1)
    y = np.linspace(low - 5 * NOISE**0.5, high + 5 * NOISE**0.5, 600)
    smooth = np.exp(-0.5 * (y - 0.5 * (edges[1:] + edges[:-1])[:, None]) ** 2 / NOISE)
    densities = counts @ smooth / np.sqrt(2 * np.pi * NOISE) / counts.sum()
    share = counts.sum(axis=1, keepdims=True) / counts.sum()
    together = densities.sum(axis=0)
    inside = densities > 0
    ratio = np.divide(densities, share * together, out=np.ones_like(densities), where=inside)
    return np.sum(densities * np.log(ratio)) * (y[1] - y[0])


def quantile_cells(values, cells):
    return np.searchsorted(np.quantile(values, np.arange(1, cells) / cells), values)


def test_both_are_close_to_the_mutual_information_on_a_grid(posterior, grid_draws):
    """Against histograms of 400 000 functions on 12 points, to 0.1 nats.

    Both know only that the function at the point is at most the maximum, where the true conditional
    law knows that all of it is: that is the difference, not the number of draws.
    """
    draws, where, maxima = grid_draws
    cell = quantile_cells(maxima, 100)
    place = where * 24
    for i in np.unique(where):
        place[where == i] += quantile_cells(maxima[where == i], 24)
    value_truth = np.array([information_of_cells(f, cell, 100) for f in draws.T])
    joint_truth = np.array([information_of_cells(f, place, 12 * 24) for f in draws.T])
    some = slice(0, 2048)
    x = jnp.asarray(GRID)[:, None, :]
    value = values(MaxValueEntropy(posterior, maxima[some]), x)
    joint = values(JointEntropy(posterior, GRID[where[some]], maxima[some]), x)
    assert np.max(np.abs(value - value_truth)) < 0.1
    assert np.max(np.abs(joint - joint_truth)) < 0.1
    assert np.corrcoef(value, value_truth)[0, 1] > 0.95
    assert np.corrcoef(joint, joint_truth)[0, 1] > 0.98
    # Where and how high together is more than how high.
    assert np.all(joint_truth > value_truth)
    assert np.all(np.asarray(joint) > np.asarray(value))


def test_an_observation_tells_at_most_what_noise_lets_through(posterior, grid_draws):
    """Both lie between 0 and H[y] - H[noise]."""
    _, where, maxima = grid_draws
    x = jnp.asarray(GRID)[:, None, :]
    most = 0.5 * np.log1p(posterior.predict(GRID).var / NOISE)
    for acquisition in (
        MaxValueEntropy(posterior, maxima[:2048]),
        JointEntropy(posterior, GRID[where[:2048]], maxima[:2048]),
    ):
        found = np.asarray(values(acquisition, x))
        assert np.all(found >= 0)
        assert np.all(found <= most)


def test_nothing_is_told_where_nothing_is_in_doubt(certain):
    """The information dies out towards data without noise, also if they are the maximum."""
    steps = np.append(np.logspace(-1, -6, 11), 0.0)
    x = jnp.asarray(X[1] + steps[:, None])[:, None, :]
    maxima = np.array([1.3, 1.5, 1.7])
    joint = JointEntropy(certain, np.array([[0.3], [0.6], [0.62]]), maxima)
    for acquisition in (MaxValueEntropy(certain, maxima), joint):
        found = np.asarray(values(acquisition, x))
        assert np.all(np.diff(found) <= 0)
        assert found[0] > 0.1
        assert found[-1] < 1e-6
    known = values(MaxValueEntropy(certain, np.full(3, 0.9)), x)
    assert known[-1] < 1e-4


def test_gradients_are_finite_everywhere():
    """At data, at the drawn maxima, next to both, and at a maximum that is one of the data."""
    points, maxima = np.array([[0.3], [0.6], [0.45]]), np.array([1.3, 1.0, 0.9])
    near = np.concatenate([X, points, [[0.0], [1.0], [0.2]]])
    x = jnp.asarray(np.concatenate([near, near + 1e-9, near - 1e-6]))[:, None, :]
    for scale in (1.0, 1e6):
        post = ll.GP(scale**2 * ll.kernels.Matern52([0.15]), noise=0.0).condition(X, scale * Y)
        for acquisition in (
            MaxValueEntropy(post, scale * maxima),
            JointEntropy(post, points, scale * maxima),
        ):
            value, gradient = values_and_gradients(acquisition, x)
            assert np.all(np.isfinite(value))
            assert np.all(np.isfinite(gradient))
            assert np.all(np.asarray(value) > -1e-9)


def test_gradients_are_right(posterior):
    points, maxima = np.array([[0.3], [0.62], [0.5]]), np.array([1.1, 1.6, 1.0])
    x = jnp.asarray(np.linspace(0.013, 0.987, 27))[:, None, None]
    for acquisition in (
        MaxValueEntropy(posterior, maxima),
        JointEntropy(posterior, points, maxima),
    ):
        _, gradient = values_and_gradients(acquisition, x)
        up, _ = values_and_gradients(acquisition, x + 1e-5)
        down, _ = values_and_gradients(acquisition, x - 1e-5)
        np.testing.assert_allclose(gradient[:, 0, 0], (up - down) / 2e-5, rtol=1e-5, atol=1e-7)


@pytest.mark.slow
def test_drawn_maxima_are_maxima(certain):
    key = jax.random.key(3)
    points, maxima = sample_maxima(certain, key, 64, BOUNDS)
    assert points.shape == (64, 1)
    assert maxima.shape == (64,)
    assert np.all((np.asarray(points) >= 0) & (np.asarray(points) <= 1))
    # Data without noise are known to be reached, to the last digit.
    assert np.all(np.asarray(maxima) >= Y.max())
    drawn = np.asarray(certain.paths(key, 64)(np.linspace(0, 1, 200)[:, None]))
    assert np.all(np.asarray(maxima) >= drawn.max(axis=1) - 1e-6)
    again = sample_maxima(certain, key, 64, BOUNDS)
    assert np.array_equal(again[0], points)
    assert np.array_equal(again[1], maxima)
    # Data outside of the box say nothing about the maximum in it.
    _, elsewhere = sample_maxima(certain, key, 64, [(0.7, 0.85)])
    assert np.any(np.asarray(elsewhere) < Y.max())


@pytest.mark.slow
def test_sparse_processes_have_them_too():
    post = Titsias(ll.kernels.Matern52([0.15]), GRID[::2], noise=NOISE).condition(X, Y)
    points, maxima = sample_maxima(post, jax.random.key(1), 8, BOUNDS)
    for acquisition in (MaxValueEntropy(post, maxima), JointEntropy(post, points, maxima)):
        found = np.asarray(values(acquisition, jnp.asarray(GRID)[:, None, :]))
        assert np.all(found >= 0)
        assert np.any(found > 0.05)


def test_misuse_is_an_error(posterior):
    maxima = np.array([1.0, 1.2])
    acquisition = MaxValueEntropy(posterior, maxima)
    with pytest.raises(ll.InvalidData, match="one point at a time"):
        acquisition.values(jnp.zeros((4, 2, 1)))
    with pytest.raises(ll.Unsupported, match="has no 'after'"):
        acquisition.after(GRID)
    with pytest.raises(ll.InvalidData, match="maxima"):
        MaxValueEntropy(posterior, np.zeros(0))
    with pytest.raises(ll.InvalidData, match="maxima must be finite"):
        MaxValueEntropy(posterior, np.array([1.0, np.nan]))
    with pytest.raises(ll.InvalidData, match="points must have 1 columns"):
        JointEntropy(posterior, np.zeros((2, 2)), maxima)
    both = mixture([posterior, posterior])
    with pytest.raises(ll.Unsupported, match="one Gaussian process"):
        MaxValueEntropy(both, maxima)
    with pytest.raises(ll.Unsupported, match="one Gaussian process"):
        sample_maxima(both, jax.random.key(0), 4, BOUNDS)
    assert not MaxValueEntropy.submodular
    assert not JointEntropy.submodular
