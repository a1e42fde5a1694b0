"""Spectral densities: the Fourier transform of the kernel, and the law of its frequencies."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.registry import COLUMNS, KERNELS

from leadline import Unsupported
from leadline.boundary import InvalidData
from leadline.kernels import (
    Matern12,
    Matern32,
    Matern52,
    ProductMatern,
    RationalQuadratic,
    SpectralMixture,
    SquaredExponential,
)

ONE = {
    "SquaredExponential": SquaredExponential(0.7),
    "Matern12": 2.5 * Matern12(0.6),
    "SpectralMixture": SpectralMixture([0.3, 0.8], [[0.4], [0.0]], [[0.1], [0.3]]),
    "Sum": 0.4 * SquaredExponential(0.7) + Matern52(1.3),
}
TWO = {
    "SquaredExponential": (2.0 * SquaredExponential([0.7, 1.6]), 1e-12),
    "Matern32": (Matern32([0.6, 1.2]), 1e-4),  # what lies outside the box of frequencies
    "Matern52": (1.5 * Matern52([0.9, 1.3]), 1e-6),
    "ProductMatern": (ProductMatern([0.8, 1.1], nu=2.5), 1e-6),
    "SpectralMixture": (
        SpectralMixture([0.3, 0.8], [[0.4, 0.2], [0.0, -0.1]], [[0.1, 0.2], [0.3, 0.15]]),
        1e-12,
    ),
}
ABLE = [n for n, (kernel, _) in KERNELS.items() if hasattr(kernel, "spectral_density")]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(400)
FAST = ["SquaredExponentialARD", "MaternSmooth", "ProductMatern32", "SpectralMixture"]


@jax.jit
def kernel_and_density(kernel, lags, theta):
    """k(lag, 0) for lags (n, d), and S(theta)."""
    return kernel(lags, jnp.zeros((1, lags.shape[1])))[:, 0], kernel.spectral_density(theta)


@jax.jit
def frequencies_and_density(kernel, u):
    theta, weight = kernel.frequencies_at(u)
    return theta, weight, kernel.spectral_density(theta)


@pytest.mark.parametrize("name", ONE)
def test_fourier_transform_in_one_dimension(name):
    """int S(theta) cos(theta t) dtheta = k(t), by the trapezoidal rule, which is all but exact for
    smooth densities; at lag zero, where their tails matter, by the substitution theta = tan(u).
    """
    kernel = ONE[name]
    lags = np.array([[0.0], [0.2], [0.9], [2.3]])
    tangent = np.tan(0.5 * np.pi * NODES)
    step = 0.05
    grid = np.arange(0.0, 5e3, step)
    theta = np.concatenate([tangent, grid])[:, None]
    expected, found = map(np.array, kernel_and_density(kernel, lags, theta))
    total = np.sum(0.5 * np.pi * WEIGHTS * (1 + tangent**2) * found[:400])
    np.testing.assert_allclose(total, expected[0], rtol=1e-6)
    mass = 2 * step * found[400:]
    mass[[0, -1]] *= 0.5
    np.testing.assert_allclose(np.cos(lags[1:] * grid) @ mass, expected[1:], atol=1e-6)


@pytest.mark.parametrize("name", TWO)
def test_fourier_transform_in_two_dimensions(name):
    """The trapezoidal rule on a fine grid of frequencies; a forgotten 2 pi would be noticed."""
    kernel, error = TWO[name]
    side, step = np.arange(-60.0, 60.1, 0.25), 0.25
    theta = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    lags = np.array([[0.0, 0.0], [0.4, -0.3], [1.5, 0.2], [-0.7, 2.0]])
    expected, found = map(np.asarray, kernel_and_density(kernel, lags, theta))
    mass = step**2 * found
    np.testing.assert_allclose(np.cos(lags @ theta.T) @ mass, expected, atol=error)
    wrong = np.cos(lags @ theta.T / (2 * np.pi)) @ mass
    assert np.abs(wrong - expected).max() > 0.1


@pytest.mark.parametrize(
    "name", [n if n in FAST else pytest.param(n, marks=pytest.mark.slow) for n in ABLE]
)
def test_law_of_frequencies(name):
    """E g / S over frequencies of S is the integral of g, here a narrow normal density: 1.

    12,000 frequencies in three dimensions, within 4.5 standard errors for each of three centers.
    """
    kernel, _ = KERNELS[name]
    u = np.random.default_rng(3).uniform(size=(12_000, kernel.frequency_inputs(COLUMNS)))
    theta, weight, s = map(np.asarray, frequencies_and_density(kernel, u))
    width = 0.3
    for center in ([0.0, 0.0, 0.0], [0.5, -0.3, 0.2], [-0.2, 0.6, 0.4]):
        z = (theta - np.asarray(center)) / width
        g = np.exp(-0.5 * np.sum(z**2, axis=1)) / (np.sqrt(2 * np.pi) * width) ** COLUMNS
        terms = weight * g / s
        error = np.sqrt(len(terms)) * terms.std()
        assert abs(terms.sum() - 1.0) < 4.5 * error, center
        assert error < 0.2


def test_who_has_it():
    """Sums and scalings if all parts have it; no products, lines or kernels of some columns."""
    assert {"SquaredExponential", "MaternRough", "ProductMatern12", "Scale"} <= set(ABLE)
    for name in ("Sum", "Product", "ActiveDims", "Periodic", "Cosine", "Constant", "White"):
        assert name not in ABLE, name
    assert hasattr(Matern52() + 2.0 * SquaredExponential(), "spectral_density")
    with pytest.raises(Unsupported, match=r"because RationalQuadratic has none.*ProductMatern"):
        (Matern52() + RationalQuadratic()).spectral_density(jnp.zeros((1, 1)))


def test_wrong_number_of_columns():
    for kernel in (SquaredExponential([1.0, 2.0]), ProductMatern([1.0, 2.0])):
        with pytest.raises(InvalidData, match="3 columns"):
            kernel.spectral_density(jnp.zeros((4, 3)))


@jax.jit
def value_and_gradient(kernel, theta):
    return jax.value_and_grad(lambda k: jnp.sum(k.spectral_density(theta)))(kernel)


def test_mixture_without_width():
    """A wave with weight has no density; padding of weight 0 adds nothing, nor to gradients."""
    theta = jnp.linspace(-3.0, 3.0, 7)[:, None]
    with pytest.raises(InvalidData, match="scale 0"):
        SpectralMixture([1.0, 1.0], [[0.1], [0.3]], [[0.2], [0.0]]).spectral_density(theta)
    small = SpectralMixture([1.0], [[0.1]], [[0.2]])
    padded = SpectralMixture([1.0, 0.0], [[0.1], [0.0]], [[0.2], [0.0]])
    expected = value_and_gradient(small, theta)
    value, gradient = value_and_gradient(padded, theta)
    np.testing.assert_allclose(value, expected[0], rtol=1e-14)
    np.testing.assert_allclose(gradient.scales[0], expected[1].scales[0], rtol=1e-12)
    assert all(np.isfinite(g).all() for g in jax.tree.leaves(gradient))


def test_far_frequencies_and_gradients_are_finite():
    theta = jnp.array([[0.0, 0.0], [1e8, -1e8], [1e150, 0.0]])
    for kernel in (SquaredExponential([0.5, 2.0]), ProductMatern(0.7)):
        assert all(np.isfinite(a).all() for a in jax.tree.leaves(value_and_gradient(kernel, theta)))
