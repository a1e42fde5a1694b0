"""Draws at finitely many points: exact there, degenerate elsewhere, and extended row by row."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.boundary import InvalidData, NotPositiveDefinite
from leadline.kernels import Linear, Matern52
from leadline.paths import Features, FiniteSet

RNG = np.random.default_rng(0)
KERNEL = 2.0 * Matern52(0.3)
POINTS = RNG.uniform(size=(30, 2))
X = RNG.uniform(-0.2, 1.2, size=(30, 2))
Z = RNG.normal(size=(5, 30))

gram = eqx.filter_jit(lambda k, x, y: k(x, y))


@eqx.filter_jit
def law(features, x):
    by_root = Features.covariance(features, x, x)
    return features.covariance(x, x), features.variance(x), by_root


@eqx.filter_jit
def values(features, x, z):
    return features.values(x, features.correlate(z))


@pytest.fixture(scope="module")
def features():
    return FiniteSet(KERNEL, POINTS)


def test_exact_at_the_points(features):
    expected = gram(KERNEL, POINTS, POINTS)
    np.testing.assert_allclose(law(features, POINTS)[0], expected, atol=1e-10)
    drawn = Z @ np.linalg.cholesky(expected).T
    np.testing.assert_allclose(values(features, POINTS, Z), drawn, atol=1e-10)


def test_degenerate_elsewhere(features):
    """The covariance is k(x, z) K^-1 k(z, y), and the variance collapses away from the points."""
    cross = np.asarray(gram(KERNEL, POINTS, X))
    expected = cross.T @ np.linalg.solve(gram(KERNEL, POINTS, POINTS), cross)
    covariance, variance, by_root = law(features, X)
    np.testing.assert_allclose(covariance, expected, atol=1e-10)
    np.testing.assert_allclose(variance, np.diag(expected), atol=1e-10)
    np.testing.assert_allclose(by_root, expected, atol=1e-10)
    _, away, _ = law(features, POINTS + np.array([4.0, 0.0]))
    assert np.max(away) < 1e-6  # and 2 in the kernel's own law


def test_more_points_keep_the_draws(features):
    """Rows appended to the factor, or all at once, with the same normal numbers.

    Check: wilson S8.9.
    """
    few = FiniteSet(KERNEL, POINTS[:15])
    grown = few.extend(POINTS[15:])
    np.testing.assert_allclose(grown.factor, features.factor, atol=1e-8)
    np.testing.assert_allclose(values(grown, X, Z), values(features, X, Z), atol=1e-8)
    # The old values do not depend on the new numbers.
    before = values(few, POINTS, Z[:, :15])[:, :15]
    np.testing.assert_allclose(values(grown, POINTS, Z)[:, :15], before, atol=1e-8)


def test_traces():
    """The variance near the points, differentiated in the length scale."""

    @jax.jit
    @jax.value_and_grad
    def variance(lengthscale):
        return FiniteSet(2.0 * Matern52(lengthscale), POINTS).variance(jnp.asarray(X[:1]))[0]

    numeric = (variance(0.4 + 1e-5)[0] - variance(0.4 - 1e-5)[0]) / 2e-5
    np.testing.assert_allclose(variance(0.4)[1], numeric, rtol=1e-5)


def test_bad_points(features):
    with pytest.raises(InvalidData, match="points must have two dimensions"):
        FiniteSet(KERNEL, POINTS[0])
    with pytest.raises(InvalidData, match="points must have 2 columns"):
        features.extend(np.zeros((3, 1)))


def test_a_kernel_of_low_rank():
    """Jitter is added as everywhere, and is enough."""
    found, _, _ = law(FiniteSet(Linear(), POINTS), POINTS)
    np.testing.assert_allclose(found, gram(Linear(), POINTS, POINTS), atol=1e-6)


def test_not_a_covariance():
    class Negative(Matern52):
        def __call__(self, x, y):
            return -super().__call__(x, y)

    with pytest.raises(NotPositiveDefinite, match="covariance matrix of the points"):
        FiniteSet(Negative(), POINTS)
