"""Circulant embedding: exact on the grid, kernel interpolation in between."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline import Unsupported
from leadline.boundary import InvalidData
from leadline.kernels import Linear, Mahalanobis, Matern12, Matern32, Matern52, SquaredExponential
from leadline.paths import Circulant, Features, RegularGrid
from leadline.paths._features import _circulant

LINE = RegularGrid([(0.0, 1.0)], (25,))
PLANE = RegularGrid([(0.0, 1.0), (0.0, 0.5)], (9, 6))
SPACE = RegularGrid([(0.0, 1.0)] * 3, (4, 3, 4))
RNG = np.random.default_rng(0)

covariance = eqx.filter_jit(lambda f, x, y: f.covariance(x, y))
correlate = eqx.filter_jit(lambda f, z: f.correlate(z))
gram = eqx.filter_jit(lambda k, x, y: k(x, y))


@eqx.filter_jit
def in_every_way(features, x):
    """The law of the draws, from the table of covariances and from their root."""
    return features.covariance(x, x), features.variance(x), Features.covariance(features, x, x)


def at_nodes(features, grid):
    """Covariances of all pairs of nodes, read off the torus."""
    nodes = np.indices(grid.shape).reshape(grid.dim, -1).T
    lags = (nodes[:, None] - nodes[None]) % np.asarray(features.torus)
    return np.asarray(features.torus_covariance)[tuple(np.moveaxis(lags, -1, 0))]


KERNELS = {
    "SquaredExponential": (SquaredExponential(0.15), LINE),
    "sum": (0.5 * Matern32(0.3) + 2.0 * SquaredExponential(0.1), LINE),
    "three columns": (2.0 * Matern12(0.3), SPACE),
    "not along the axes": (Mahalanobis(Matern32([0.3, 0.2]), [0.7]), PLANE),
}


@pytest.mark.parametrize("name", KERNELS)
def test_exact_at_the_nodes(name):
    kernel, grid = KERNELS[name]
    features = Circulant(kernel, grid)
    assert np.asarray(features.eigenvalues).min() >= 0.0
    z = grid.points()
    expected = np.asarray(gram(kernel, z, z))
    np.testing.assert_allclose(at_nodes(features, grid), expected, atol=1e-9 * expected.max())


@pytest.mark.parametrize("name", ["SquaredExponential", "not along the axes"])
def test_covariance_is_that_of_the_draws(name):
    """Off the grid too."""
    kernel, grid = KERNELS[name]
    features = Circulant(kernel, grid)
    x = grid.lower + (grid.upper - grid.lower) * RNG.uniform(size=(15, grid.dim))
    table, variance, root = in_every_way(features, x)
    np.testing.assert_allclose(table, root, atol=1e-12)
    np.testing.assert_allclose(variance, np.diagonal(root), atol=1e-12)


def test_draws_follow_the_kernel():
    """Check: wilson S8.8."""
    features = Circulant(Matern32(0.2), LINE)
    z = np.random.default_rng(1).normal(size=(100_000, features.noises))
    weights = np.asarray(correlate(features, z))
    # The outermost nodes are there for cubic weights only.
    found = (weights.T @ weights / weights.shape[0])[1:-1, 1:-1]
    assert np.abs(found - gram(Matern32(0.2), LINE.points(), LINE.points())).max() < 0.02


def test_a_small_torus_is_not_enough():
    """A long length scale has negative eigenvalues on the smallest torus, which is then grown."""
    steps = np.fft.fftfreq(49, 1 / 49) / 24
    smallest = np.fft.fft(np.exp(-0.5 * (steps / 0.5) ** 2)).real
    assert smallest.min() < -1e-4 * smallest.max()
    kernel = SquaredExponential(0.5)
    features = Circulant(kernel, LINE, "linear")
    assert features.torus[0] > 50
    z = LINE.points()
    np.testing.assert_allclose(at_nodes(features, LINE), gram(kernel, z, z), atol=1e-8)


@pytest.mark.parametrize(("how", "order"), [("linear", 2), ("cubic", 3)])
def test_interpolation_error_falls_with_the_spacing(how, order):
    """As fast as that of the interpolation, if the kernel is smooth."""
    kernel = SquaredExponential(0.3)
    x, errors = RNG.uniform(size=(25, 1)), []
    for n in (13, 25):
        features = Circulant(kernel, RegularGrid([(0.0, 1.0)], (n,)), how)
        errors.append(np.abs(covariance(features, x, x) - gram(kernel, x, x)).max())
    assert np.log2(errors[0] / errors[1]) > order - 0.25


def test_draws_are_functions_with_slopes():
    """Check: wilson S8.10 (for draws on a grid)."""
    features = Circulant(Matern52(0.3), LINE)
    z, h = RNG.normal(size=(4, features.noises)), 1e-6

    @eqx.filter_jit
    def with_slopes(features, x):
        def draws(x):
            return features.values(x, features.correlate(z))

        return jax.jvp(draws, (x,), (jnp.ones_like(x),))

    x = RNG.uniform(0.05, 0.95, size=(6, 1))
    (values, slopes), (again, _) = with_slopes(features, x), with_slopes(features, x)
    np.testing.assert_array_equal(values, again)
    above, below = (np.asarray(with_slopes(features, x + s * h)[0]) for s in (1, -1))
    np.testing.assert_allclose(slopes, (above - below) / (2 * h), atol=1e-5)


def test_other_kernels_are_refused():
    with pytest.raises(Unsupported, match="stationary"):
        Circulant(Linear(), LINE)
    with pytest.raises(InvalidData, match="must be one of 'linear', 'cubic'"):
        Circulant(Matern32(), LINE, "cubik")
    with pytest.raises(InvalidData, match="up to 3 dimensions"):
        Circulant(Matern32(), RegularGrid([(0.0, 1.0)] * 4, (2,) * 4))
    with pytest.raises(Unsupported, match="outside of jit"):
        jax.jit(lambda l: Circulant(Matern32(l), LINE).eigenvalues)(0.2)


def test_a_kernel_that_does_not_decay(monkeypatch):
    monkeypatch.setattr(_circulant, "_LARGEST_TORUS", 500)
    with pytest.raises(InvalidData, match="decays too slowly"):
        Circulant(SquaredExponential(20.0), LINE)
