"""Fourier features: unbiased, of the right variance, and the better the more evenly they spread.

Frequencies are compared in NumPy. Independent frequencies, and the blocks of orthogonal ones, can
be cut into many small sets: one draw of a long set stands for many draws of short ones.
"""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from tests.programs import computed

import leadline as ll
from leadline.boundary import InvalidData
from leadline.diagnostics import decoupled_moments
from leadline.kernels import (
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    SpectralMixture,
    SquaredExponential,
)
from leadline.numerics import blas_threads_for, shifted_sobol
from leadline.paths import (
    FourierFeatures,
    OrthogonalFeatures,
    PhaseShiftedFeatures,
    prior_draws,
)

KEY = jax.random.key(0)


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small matrix products in NumPy: a second BLAS thread only spins."""
    with blas_threads_for(1):
        yield


def matern(nu):
    """The profile of the squared scaled distance."""
    polynomials = {
        0.5: lambda a: 1.0,
        1.5: lambda a: 1 + a,
        2.5: lambda a: 1 + a + a * a / 3,
    }
    return lambda s: polynomials[nu](np.sqrt(2 * nu * s)) * np.exp(-np.sqrt(2 * nu * s))


def gaussian(s):
    return np.exp(-0.5 * s)


PROFILES = {
    SquaredExponential: gaussian,
    Matern12: matern(0.5),
    Matern32: matern(1.5),
    Matern52: matern(2.5),
}


def squares(x):
    return np.sum((x[:, None] - x) ** 2, axis=-1)


def random_features(kernel, size, dim, *, key):
    return FourierFeatures(kernel, size, dim, key=key, points="random")


def scales(dim):
    return np.linspace(0.6, 1.4, dim)


@cache
def independent(make, dim):
    """Independent frequencies (16000, dim) of a kernel with the length scales above."""
    return np.asarray(random_features(make(scales(dim)), 32_000, dim, key=KEY).theta)


@cache
def orthogonal(make, dim):
    """Orthogonal frequencies, in 4000 blocks."""
    kernel = make(scales(dim))
    return np.asarray(OrthogonalFeatures(kernel, 2 * 4000 * dim, dim, key=KEY).theta)


@cache
def spread(make, dim):
    """Twenty sets of 1024 evenly spread frequencies, for unit length scales."""
    keys = jax.random.split(KEY, 20)
    found = (FourierFeatures(make(1.0), 2048, dim, key=key).theta for key in keys)
    return np.stack([np.asarray(theta) for theta in found])


def cut(theta, size):
    """A long set of frequencies as many of this size."""
    return theta[: len(theta) // size * size].reshape(-1, size, theta.shape[1])


def values(theta, lags):
    """The kernel (sets, m) at lags (m, d), as equally weighted frequencies have it."""
    return np.cos(np.einsum("sld,md->sml", theta, lags)).mean(axis=-1)


def deviations(samples, expected):
    """How many standard errors the means of the samples are off."""
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    return np.abs(samples.mean(axis=0) - expected) / error


def gram_errors(sets, sizes, x, gram, ratio=None):
    """Relative Frobenius errors (sets, sizes) with the first frequencies of each set."""
    errors = np.zeros((len(sets), len(sizes)))
    for i, theta in enumerate(sets):
        phase = x @ theta.T
        cosines, sines = np.cos(phase), np.sin(phase)
        weight = np.ones(len(theta)) if ratio is None else ratio[i]
        for j, n in enumerate(sizes):
            c, s, w = cosines[:, :n], sines[:, :n], weight[:n] / n
            errors[i, j] = np.linalg.norm((c * w) @ c.T + (s * w) @ s.T - gram)
    return errors / np.linalg.norm(gram)


SLOW = pytest.mark.slow
CASES = [(SquaredExponential, 1), (Matern52, 1), *((make, 4) for make in PROFILES)]
CASES += [pytest.param(Matern12, 1, marks=SLOW), pytest.param(Matern32, 1, marks=SLOW)]


@pytest.mark.parametrize(("make", "dim"), CASES)
def test_unbiased(make, dim):
    """The mean over 2000 sets of 16 features is within 4 standard errors; without the 2 pi between
    cycles and angular frequencies it is not, by far. Check: wilson S8.1, wilson S8.3, tiao S14.1.
    """
    lags = np.random.default_rng(1).normal(size=(8, dim))
    expected = PROFILES[make](np.sum((lags / scales(dim)) ** 2, axis=1))
    theta = cut(independent(make, dim), 8)
    assert len(theta) == 2000
    assert deviations(values(theta, lags), expected).max() < 4
    assert deviations(values(theta / (2 * np.pi), lags), expected).max() > 8


def test_quasi_random_frequencies_are_unbiased():
    """Each point of a digitally shifted set is uniform."""
    kernel, lags = Matern52([0.7, 1.2]), np.random.default_rng(2).normal(size=(8, 2))
    make = jax.jit(jax.vmap(lambda key: FourierFeatures(kernel, 14, 2, key=key).theta))
    found = values(np.asarray(make(jax.random.split(KEY, 500))), lags)
    expected = matern(2.5)(np.sum((lags / [0.7, 1.2]) ** 2, axis=1))
    assert deviations(found, expected).max() < 4


def test_quasi_random_numbers_are_balanced():
    """One of 64 points in each 1/64 slice of a column and in each 8 x 8 box of two, for every key;
    a shift around the edges of the cube would keep the slices but not the boxes.
    """
    for seed in range(5):
        u = np.asarray(shifted_sobol(jax.random.key(seed), 64, 2))
        assert np.all(np.sort(np.floor(64 * u), axis=0) == np.arange(64)[:, None])
        assert np.all(np.sort(np.floor(8 * u) @ [8, 1]) == np.arange(64))
        assert np.all((u > 0) & (u < 1))
    moved = (u + np.array([0.3, 0.4])) % 1.0
    assert not np.all(np.sort(np.floor(8 * moved) @ [8, 1]) == np.arange(64))


def test_spread_of_angular_frequencies():
    """2 pi omega has the variance of the inverse squared length scale. Check: wilson S8.3."""
    found = independent(SquaredExponential, 4).var(axis=0)
    np.testing.assert_allclose(found, scales(4) ** -2.0, rtol=0.03)


def test_largest_error_falls_as_the_root():
    """Matern-5/2, d = 4, length scale 1/2, 200 points: the slope of the error in 64, 256, 1024 and
    4096 features. Check: wilson S8.2.
    """
    x = np.random.default_rng(3).uniform(size=(200, 4))
    gram = matern(2.5)(squares(x / 0.5))
    sizes, errors = np.array([64, 256, 1024, 4096]), []
    for theta in cut(independent(Matern52, 4) * scales(4) / 0.5, 2048):
        waves = np.exp(1j * (x @ theta.T))
        halves = (waves[:, : size // 2] for size in sizes)
        found = [np.real(w @ w.conj().T) / w.shape[1] for w in halves]
        errors.append([np.abs(f - gram).max() for f in found])
    slope = np.polyfit(np.log(sizes), np.log(np.mean(errors, axis=0)), 1)[0]
    assert -0.6 < slope < -0.4


def test_phase_shifted_features_have_more_variance():
    """16 features of each kind, 40,000 draws, d = 2, against the closed forms of Sutherland and
    Schneider (2015) and the measured figures of both. Check: tiao S14.2.
    """
    size, distance = 16, np.array([0.1, 0.5, 1.0, 2.0])
    lags = distance[:, None] * np.array([0.6, 0.8])
    shifted = PhaseShiftedFeatures(SquaredExponential(), 40_000 * size, 2, key=KEY)
    theta, phase = cut(np.asarray(shifted.theta), size), np.asarray(shifted.phase)
    found = values(theta[:, : size // 2], lags).var(axis=0)
    phase = phase.reshape(-1, 1, size)
    waves = 2 * np.cos(np.einsum("sld,md->sml", theta, lags) + phase) * np.cos(phase)
    found_shifted = waves.mean(axis=-1).var(axis=0)
    k, k_twice = np.exp(-0.5 * distance**2), np.exp(-2.0 * distance**2)
    np.testing.assert_allclose(found, (1 + k_twice - 2 * k**2) / size, rtol=0.05)
    np.testing.assert_allclose(found_shifted, (1 + 0.5 * k_twice - k**2) / size, rtol=0.05)
    np.testing.assert_allclose(found, [6.2e-6, 3.1e-3, 2.5e-2, 6.0e-2], rtol=0.06)
    np.testing.assert_allclose(found_shifted, [3.2e-2, 3.3e-2, 4.4e-2, 6.1e-2], rtol=0.06)
    assert np.all(found_shifted > found)


KERNEL = 2.5 * SquaredExponential([0.5, 0.8])
SIZE = 24


@eqx.filter_jit
def evaluations(features, x, weights):
    """All ways to evaluate features, and draws with these weights, at x (n, m, d)."""
    return {
        "features": features(x[0]),
        "values": jnp.stack([features.values(rows, weights) for rows in x]),
        "paired": features.paired_values(x, weights),
        "covariance": features.covariance(x[0], x[1]),
        "kernel": features.kernel()(x[0], x[1]),
        "variance": features.variance(x[0]),
    }


@pytest.mark.parametrize("kind", [FourierFeatures, random_features, OrthogonalFeatures])
def test_variance_is_exact(kind):
    """phi(x) . phi(x) = k(x, x), and all evaluations agree. Check: wilson S8.4, tiao S14.4."""
    features = kind(KERNEL, SIZE, 2, key=KEY)
    x = jnp.asarray(3.0 * np.random.default_rng(4).normal(size=(3, 5, 2)))
    weights = jnp.asarray(np.random.default_rng(5).normal(size=(3, SIZE)))
    found = {name: np.asarray(a) for name, a in evaluations(features, x, weights).items()}
    phi = found["features"]
    assert phi.shape == (5, features.size) == (5, SIZE)
    np.testing.assert_allclose(np.sum(phi**2, axis=1), 2.5, rtol=1e-12)
    np.testing.assert_allclose(found["variance"], 2.5, rtol=1e-12)
    np.testing.assert_allclose(found["values"][0], np.asarray(weights) @ phi.T, atol=1e-13)
    own = found["values"][np.arange(3), np.arange(3)]
    np.testing.assert_allclose(found["paired"], own, atol=1e-13)
    np.testing.assert_allclose(found["kernel"], found["covariance"], atol=1e-13)
    # The waves depend on the difference alone.
    theta, weight = np.asarray(features.theta), np.asarray(features.weight)
    lags = np.asarray(x)[0][:, None] - np.asarray(x)[1]
    np.testing.assert_allclose(found["covariance"], np.cos(lags @ theta.T) @ weight, atol=1e-12)


def test_variance_of_phase_shifted_features():
    """Right on average only; with weights that are not all the same."""
    kernel = SpectralMixture([0.5, 2.0], [[0.3], [0.1]], [[0.2], [0.4]])
    features = PhaseShiftedFeatures(kernel, 400, 1, key=KEY)
    x = jnp.asarray(np.random.default_rng(6).normal(scale=20, size=(300, 1)))
    found = np.asarray(jax.jit(lambda x: features.variance(x))(x))
    assert np.ptp(found) > 0.1
    np.testing.assert_allclose(found.mean(), 2.5, rtol=0.02)


@pytest.mark.parametrize("make", [SquaredExponential, pytest.param(Matern52, marks=SLOW)])
def test_orthogonal_blocks(make):
    """Rows of a block are orthogonal, their lengths follow a chi law and the mean over 2000 sets of
    two blocks is the kernel. Check: tiao S14.7.
    """
    dim = 3
    lags = np.random.default_rng(7).normal(size=(8, dim))
    theta = orthogonal(make, dim)
    expected = PROFILES[make](np.sum((lags / scales(dim)) ** 2, axis=1))
    assert deviations(values(cut(theta, 2 * dim), lags), expected).max() < 4
    z = cut(theta, dim) * scales(dim)
    length = np.linalg.norm(z, axis=-1)
    inner = np.abs(z @ np.swapaxes(z, 1, 2)) / (length[:, :, None] * length[:, None, :])
    assert (inner - np.eye(dim)).max() < 1e-10
    # Directions are uniform on the sphere: along an axis, by Archimedes.
    assert stats.kstest((z / length[..., None])[:, 0, 0], "uniform", (-1, 2)).pvalue > 0.01
    if make is SquaredExponential:
        assert stats.kstest(length.ravel(), stats.chi(dim).cdf).pvalue > 0.01


@pytest.mark.parametrize(("dim", "steep"), [(2, -0.8), pytest.param(4, -0.6, marks=SLOW)])
def test_rates_of_convergence(dim, steep):
    """X ~ N(0, I), 100 points, 16 to 512 frequencies, 20 draws: independent frequencies have slope
    -1/2, orthogonal ones a smaller constant, evenly spread ones a steeper slope.
    Check: tiao S14.8.
    """
    x = np.random.default_rng(8).normal(size=(100, dim))
    gram, sizes = gaussian(squares(x)), 2 ** np.arange(4, 10)
    sets = {
        "spread": spread(SquaredExponential, dim)[:, :512],
        "orthogonal": cut(orthogonal(SquaredExponential, dim) * scales(dim), 400 * dim)[:, :512],
        "independent": cut(independent(SquaredExponential, dim) * scales(dim), 512)[:20],
    }
    errors = {kind: gram_errors(each, sizes, x, gram).mean(axis=0) for kind, each in sets.items()}
    slope = {kind: np.polyfit(np.log(sizes), np.log(e), 1)[0] for kind, e in errors.items()}
    assert -0.6 < slope["independent"] < -0.4
    assert slope["spread"] < steep
    at_256 = {kind: found[sizes == 256][0] for kind, found in errors.items()}
    assert at_256["spread"] < at_256["orthogonal"] < at_256["independent"]


def test_smaller_sets_are_beginnings_of_larger_ones():
    """What the rates rely on: the flipped digits do not depend on how many points there are."""
    small = FourierFeatures(KERNEL, SIZE, 2, key=jax.random.split(KEY, 20)[0]).theta
    expected = spread(SquaredExponential, 2)[0, : SIZE // 2] / [0.5, 0.8]
    np.testing.assert_allclose(small, expected, rtol=1e-13)


@pytest.mark.parametrize("dim", [2, pytest.param(8, marks=SLOW)])
def test_matern_frequencies_by_quantiles_beat_importance_weights(dim):
    """Evenly spread t frequencies against weighted normal ones, mean of 20 draws of 256 and of 1024
    frequencies: the weights of the thesis have such heavy tails that in 8 dimensions they are worse
    even than independent t frequencies. Check: tiao S14.10.
    """
    x = np.random.default_rng(9).normal(size=(100, dim))
    gram, sizes = matern(2.5)(squares(x)), [256, 1024]
    quantiles = gram_errors(spread(Matern52, dim), sizes, x, gram).mean(axis=0)
    normal = spread(SquaredExponential, dim)
    t_density = stats.multivariate_t(np.zeros(dim), np.eye(dim), 5).pdf(normal)
    normal_density = stats.multivariate_normal(np.zeros(dim)).pdf(normal)
    ratio = t_density / normal_density
    weighted = gram_errors(normal, sizes, x, gram, ratio).mean(axis=0)
    assert np.all(quantiles < weighted)
    if dim == 8:
        each = cut(independent(Matern52, dim) * scales(dim), 1024)
        plain = gram_errors(each, sizes, x, gram).mean(axis=0)
        assert np.all(quantiles < plain)
        assert np.all(plain < weighted)


def test_draws_are_functions():
    """The same value however often and in whatever company; gradients equal differences.
    Check: wilson S8.10.
    """
    features = FourierFeatures(KERNEL, SIZE, 2, key=KEY)
    draws = prior_draws(KERNEL, jax.random.key(2), 3, features=features)
    x = np.random.default_rng(10).uniform(size=(6, 2))
    first = np.asarray(draws(x))
    np.testing.assert_array_equal(draws(x), first)
    np.testing.assert_allclose(np.asarray(draws(x[::-1]))[:, ::-1], first, atol=1e-13)
    gradients = jax.jit(jax.jacrev(lambda p: draws.values(p[None])[:, 0]))(x[0])
    step = 1e-5
    moved = np.concatenate([x[0] + step * np.eye(2), x[0] - step * np.eye(2)])
    ahead, behind = np.split(np.asarray(draws(moved)), 2, axis=1)
    np.testing.assert_allclose(gradients, (ahead - behind) / (2 * step), atol=1e-6)


def test_gradients_in_parameters():
    """Draws move smoothly with length scales; components of weight zero leave gradients finite."""
    x, weights = np.array([[0.3, -0.4], [1.0, 0.7]]), np.random.default_rng(11).normal(size=(1, 16))

    @jax.jit
    def draw(scale):
        kernel = 1.3 * SquaredExponential(jnp.array([0.5, 1.0]) * scale)
        features = FourierFeatures(kernel, 16, 2, key=KEY)
        return features.values(jnp.asarray(x), jnp.asarray(weights))[0]

    found = jax.jit(jax.jacfwd(draw))(1.0)
    ahead, behind = np.asarray(draw(1 + 1e-5)), np.asarray(draw(1 - 1e-5))
    np.testing.assert_allclose(found, (ahead - behind) / 2e-5, rtol=1e-7)

    def mixture_draw(kernel):
        features = FourierFeatures(kernel, 16, 1, key=KEY)
        return jnp.sum(features.values(jnp.asarray(x[:, :1]), jnp.asarray(weights)))

    padded = SpectralMixture([1.0, 0.0], [[0.1], [0.0]], [[0.2], [0.0]])
    gradient = jax.jit(jax.grad(mixture_draw))(padded)
    assert all(np.isfinite(g).all() for g in jax.tree.leaves(gradient))


def test_errors():
    with pytest.raises(InvalidData, match="must be even"):
        FourierFeatures(SquaredExponential(), 7, 2, key=KEY)
    with pytest.raises(InvalidData, match="'sobol', 'random'"):
        FourierFeatures(SquaredExponential(), 8, 2, key=KEY, points="halton")
    with pytest.raises(InvalidData, match="one isotropic spectrum"):
        OrthogonalFeatures(SquaredExponential() + Periodic(), 8, 2, key=KEY)


class TestTails:
    """More frequencies in the tails of the spectrum, each of less weight."""

    KERNEL = 2.0 * ll.kernels.Matern52(jnp.array([0.6, 0.6]))
    X = np.random.default_rng(11).uniform(size=(200, 2))
    XS = np.random.default_rng(12).uniform(size=(64, 2))

    def features(self, points, seed):
        return FourierFeatures(self.KERNEL, 1024, 2, key=jax.random.key(seed), points=points)

    def test_is_the_same_kernel(self):
        """The variance is exact, and the mean of 50 covariances within 6 standard errors."""
        found = [self.features("tails", seed) for seed in range(50)]
        np.testing.assert_allclose(computed(found[0].variance, self.XS), 2.0, rtol=1e-12)
        covariances = [computed(f.covariance, self.XS, self.XS) for f in found]
        exact = computed(self.KERNEL, self.XS, self.XS)
        apart = np.abs(np.mean(covariances, axis=0) - exact)
        assert np.all(apart <= 6 * np.std(covariances, axis=0) / np.sqrt(50) + 1e-12)

    def test_posterior_variance(self):
        """Given many data, equal weights lose a quarter of the variance that is left, and more."""
        post = ll.GP(self.KERNEL, noise=1e-4).condition(self.X, np.sin(3 * self.X.sum(1)))
        exact = np.asarray(post.predict(self.XS).var)

        def ratio(points):
            laws = [decoupled_moments(post, self.features(points, s), self.XS) for s in range(3)]
            return np.mean([np.median(np.diag(law.cov) / exact) for law in laws])

        assert 0.9 < ratio("tails") < 1.1
        assert ratio("sobol") < 0.75

    def test_draws_use_them(self):
        drawn = prior_draws(self.KERNEL, jax.random.key(0), 2, dim=2)
        assert np.ptp(np.asarray(drawn.features.weight)) > 0
        smooth = prior_draws(ll.kernels.SquaredExponential(0.6), jax.random.key(0), 2, dim=2)
        assert np.ptp(np.asarray(smooth.features.weight)) == 0

    def test_only_heavy_tails(self):
        with pytest.raises(ll.Unsupported, match="Matern"):
            FourierFeatures(
                ll.kernels.SquaredExponential(0.6), 64, 2, key=jax.random.key(0), points="tails"
            )
