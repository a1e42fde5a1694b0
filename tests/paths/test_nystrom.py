"""Karhunen-Loeve expansions by quadrature."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.kernels import Kernel, Matern32, SquaredExponential
from leadline.paths import Nystrom

RNG = np.random.default_rng(0)
KERNEL = Matern32(0.4)
NODES = RNG.uniform(size=(25, 2))
WEIGHTS = RNG.uniform(0.5, 1.5, size=25)

covariance = eqx.filter_jit(lambda f, x, y: f.covariance(x, y))
eigenfunctions = eqx.filter_jit(lambda f, x: f.eigenfunctions(x))
gram = eqx.filter_jit(lambda k, x, y: k(x, y))


class Brownian(Kernel):
    """min(x, y)."""

    def __call__(self, x, y):
        return jnp.minimum(x, y[:, 0])

    def diag(self, x):
        return x[:, 0]


def test_eigenvalues_of_brownian_motion():
    """Check: wilson S8.5 (second half)."""
    features = Nystrom.on_box(Brownian(), [(0.0, 1.0)], 5)
    assert features.nodes.shape == (200, 1)
    rates = (np.arange(5) + 0.5) * np.pi
    np.testing.assert_allclose(features.eigenvalues, rates**-2.0, rtol=1e-3)
    x = np.linspace(0.0, 1.0, 50)[:, None]
    found = np.asarray(eigenfunctions(features, x))
    expected = np.sqrt(2.0) * np.sin(rates * x)
    np.testing.assert_allclose(found * np.sign(found[-1] * expected[-1]), expected, atol=5e-3)


def test_eigenfunctions_are_orthonormal_under_the_measure():
    """Whatever the nodes and weights."""
    features = Nystrom(KERNEL, NODES, WEIGHTS, 10)
    phi = np.asarray(eigenfunctions(features, NODES))
    np.testing.assert_allclose(phi.T @ (WEIGHTS[:, None] * phi), np.eye(10), atol=1e-10)
    assert np.all(np.diff(features.eigenvalues) <= 0.0)


def test_all_eigenfunctions_give_the_mean_given_the_nodes():
    """k(x, X) K^-1 k(X, y); fewer of them have less variance, in every direction."""
    x = RNG.uniform(size=(25, 2))
    cross = np.asarray(gram(KERNEL, NODES, x))
    expected = cross.T @ np.linalg.solve(gram(KERNEL, NODES, NODES), cross)
    found = covariance(Nystrom(KERNEL, NODES, WEIGHTS, 25), x, x)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    fewer = covariance(Nystrom(KERNEL, NODES, WEIGHTS, 10), x, x)
    assert np.linalg.eigvalsh(expected - fewer).min() > -1e-10
    assert np.linalg.eigvalsh(np.asarray(gram(KERNEL, x, x)) - expected).min() > -1e-10


def test_on_a_box():
    """Enough terms give the kernel itself; the eigenvalues sum to the volume."""
    kernel = SquaredExponential(0.5)
    features = Nystrom.on_box(kernel, [(-1.0, 1.0), (0.0, 1.0)], 80, nodes=14)
    x = np.array([-1.0, 0.0]) + RNG.uniform(size=(25, 2)) * [2.0, 1.0]
    np.testing.assert_allclose(covariance(features, x, x), gram(kernel, x, x), atol=1e-6)
    np.testing.assert_allclose(np.sum(features.eigenvalues), 2.0, rtol=1e-7)


def test_gradient_in_the_lengthscale():
    @jax.jit
    @jax.value_and_grad
    def variance(lengthscale):
        features = Nystrom(Matern32(lengthscale), NODES, WEIGHTS, 10)
        return features.variance(jnp.full((1, 2), 0.3))[0]

    numeric = (variance(0.4 + 1e-5)[0] - variance(0.4 - 1e-5)[0]) / 2e-5
    np.testing.assert_allclose(variance(0.4)[1], numeric, rtol=1e-5)


def test_bad_input():
    with pytest.raises(InvalidData, match="25 nodes have as many eigenfunctions"):
        Nystrom(KERNEL, NODES, WEIGHTS, 26)
    with pytest.raises(InvalidData, match="quadrature_weights must be positive"):
        Nystrom(KERNEL, NODES, -WEIGHTS, 5)
    with pytest.raises(InvalidData, match="quadrature_weights has 3 values"):
        Nystrom(KERNEL, NODES, np.ones(3), 5)
    with pytest.raises(InvalidData, match="at most 3 input columns, got 4"):
        Nystrom.on_box(KERNEL, [(0.0, 1.0)] * 4, 5)


def test_eigenvalues_below_rounding_error():
    """A smooth kernel has few eigenvalues that are more than rounding errors."""
    with pytest.raises(InvalidData, match="above rounding error"):
        Nystrom(SquaredExponential(3.0), NODES, WEIGHTS, 25)
