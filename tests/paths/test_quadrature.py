"""Deterministic frequencies: known errors, their range and its end, weights, and how many fit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline import Unsupported
from leadline.boundary import InvalidData
from leadline.kernels import (
    Matern32,
    Matern52,
    ProductMatern,
    RationalQuadratic,
    SquaredExponential,
)
from leadline.numerics import blas_threads_for
from leadline.paths._features._quadrature import GaussHermite, GaussLegendre, Simpson


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small matrix products in NumPy: a second BLAS thread only spins."""
    with blas_threads_for(1):
        yield


KINDS = [GaussHermite, GaussLegendre, Simpson]


@jax.jit
def gram_of(kernel, x):
    return kernel(x, x)


def covariance(features, lags):
    """The features' kernel at lags (m, d)."""
    theta, weight = np.asarray(features.theta), np.asarray(features.weight)
    return np.cos(lags @ theta.T) @ weight


def error(features, x, gram):
    """The relative Frobenius error at x (m, d)."""
    phase, weight = x @ np.asarray(features.theta).T, np.asarray(features.weight)
    c, s = np.cos(phase), np.sin(phase)
    found = (c * weight) @ c.T + (s * weight) @ s.T
    return np.linalg.norm(found - gram) / np.linalg.norm(gram)


def squared_exponential(x, scale):
    return np.exp(-0.5 * np.sum((x[:, None] - x) ** 2, axis=-1) / scale**2)


# Nodes, and the errors of Gauss-Hermite and Gauss-Legendre rules on [0, 1].
TABLE = {
    1.0: [(4, 5.0e-5, 6.4e-2), (8, 9.6e-11, 1.9e-2), (16, 3e-16, 7.7e-4)],
    1 / 4: [(8, 2.5e-2, 1.3e-1), (16, 2.1e-6, 1.4e-2), (32, 3e-16, 2.8e-4)],
    1 / 16: [(32, 0.79, 0.11), (64, 0.24, 6.4e-3), (128, 1.4e-12, 1.8e-5)],
}


@pytest.mark.parametrize("scale", TABLE)
def test_errors_in_one_dimension(scale):
    """At most twice the tabulated errors, and not under half of them where rounding is far away.
    Check: tiao S14.3.
    """
    x = np.linspace(0, 1, 50)[:, None]
    gram = squared_exponential(x, scale)
    for nodes, hermite, legendre in TABLE[scale]:
        kernel = SquaredExponential(scale)
        for kind, expected in ((GaussHermite, hermite), (GaussLegendre, legendre)):
            features = kind(kernel, nodes, 1)
            assert features.size == nodes  # pairs are kept once
            found = error(features, x, gram)
            assert found < max(2 * expected, 1e-15)
            assert found > 0.5 * expected or expected < 1e-15


def test_without_the_length_scale():
    """The tangent of the thesis, tan(pi u / 2), misses a narrow kernel's wide spectrum."""
    x, scale = np.linspace(0, 1, 50)[:, None], 1 / 16
    gram = squared_exponential(x, scale)
    u, w = np.polynomial.legendre.leggauss(64)
    theta = np.tan(0.5 * np.pi * u)
    density = scale / np.sqrt(2 * np.pi) * np.exp(-0.5 * (scale * theta) ** 2)
    weight = w * density * 0.5 * np.pi * (1 + theta**2)
    found = np.cos((x - x.T)[..., None] * theta) @ weight
    assert np.linalg.norm(found - gram) / np.linalg.norm(gram) > 0.2
    assert error(GaussLegendre(SquaredExponential(scale), 64, 1), x, gram) < 0.01


def test_weights():
    """Not negative; they sum to the variance, exactly where the rule is, and in the limit where it
    is not. Check: tiao S14.4.
    """
    for kernel in (1.7 * SquaredExponential([0.3, 2.0]), 1.7 * Matern52([0.3, 2.0])):
        exact = "Squared" in repr(kernel)
        for kind in KINDS:
            few, many = (np.asarray(kind(kernel, size, 2).weight) for size in (64, 4096))
            assert few.min() >= 0
            assert many.min() >= 0
            if kind is GaussHermite and exact:
                np.testing.assert_allclose([few.sum(), many.sum()], 1.7, rtol=1e-12)
            else:
                assert abs(many.sum() - 1.7) < min(2e-4, 0.1 * abs(few.sum() - 1.7))


def test_simpson():
    """Up to cubics the rule is exact; the box holds the whole spectrum. Check: tiao S14.5."""
    features = Simpson(SquaredExponential(2.0), 9, 1)
    theta, weight = np.asarray(features.theta)[:, 0], np.asarray(features.weight)
    np.testing.assert_allclose(theta, np.arange(4) * 1.0, atol=1e-15)
    density = 2.0 / np.sqrt(2 * np.pi) * np.exp(-2.0 * theta**2)
    # Pairs are kept once, with both their weights; even cubics are 1 and theta^2.
    lengths = weight / density
    np.testing.assert_allclose(lengths, [4 / 3, 4 / 3, 8 / 3, 2 / 3], rtol=1e-12)
    np.testing.assert_allclose([lengths.sum(), lengths @ theta**2], [6.0, 18.0], rtol=1e-12)
    x = np.linspace(0, 1, 20)[:, None]
    found = error(Simpson(SquaredExponential(0.25), 128, 1), x, squared_exponential(x, 0.25))
    assert found < 5e-9


def test_pairs_are_all_there():
    """As if every node of the full product were kept with its own weight."""
    kernel, lags = SquaredExponential([0.7, 1.3]), np.random.default_rng(0).normal(size=(20, 2))
    for n in (4, 5):
        x, w = np.polynomial.hermite.hermgauss(n)
        grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
        full = np.cos(lags @ (np.sqrt(2) * grid / [0.7, 1.3]).T) @ (np.outer(w, w).ravel() / np.pi)
        features = GaussHermite(kernel, n**2 + 1, 2)
        assert features.theta.shape == ((n**2 + 1) // 2, 2)
        np.testing.assert_allclose(covariance(features, lags), full, atol=1e-14)


@pytest.mark.parametrize(("size", "dim", "hermite", "simpson"), [(7, 1, 6, 6), (82, 4, 82, 82)])
def test_most_features_that_fit(size, dim, hermite, simpson):
    kernel = SquaredExponential()
    assert GaussHermite(kernel, size, dim).size == hermite
    assert Simpson(kernel, size, dim).size == simpson


def test_it_is_almost_periodic():
    """Beyond its range a rule is worse than none: what the documentation warns of."""
    features = GaussHermite(SquaredExponential(1.0), 16, 1)
    lags = np.linspace(0, 60, 4000)[:, None]
    off = np.abs(covariance(features, lags) - np.exp(-0.5 * lags[:, 0] ** 2))
    assert off[lags[:, 0] < 4].max() < 1e-4
    assert off[lags[:, 0] > 8].max() > 0.5


def test_matern_in_few_dimensions():
    """The errors of weighted Gauss-Hermite rules, which fall as a power of the nodes."""
    x = np.random.default_rng(1).uniform(size=(60, 2))
    kernel = Matern52(0.25)
    gram = np.asarray(gram_of(kernel, x))
    errors = [error(GaussHermite(kernel, size, 2), x, gram) for size in (256, 1024)]
    assert 1e-6 < errors[1] < 0.25 * errors[0] < 0.25 * 2e-3


def test_product_matern():
    x = np.random.default_rng(2).uniform(size=(60, 2))
    kernel = 0.7 * ProductMatern([0.6, 0.9], nu=2.5)
    gram = np.asarray(gram_of(kernel, x))
    for kind, most in ((GaussHermite, 1e-3), (GaussLegendre, 2e-3), (Simpson, 2e-2)):
        assert error(kind(kernel, 1024, 2), x, gram) < most


def test_many_nodes():
    """Far nodes whose weight underflows are harmless, in values and in gradients."""

    @jax.jit
    def draw(variance, scale):
        features = GaussHermite(variance * SquaredExponential(scale), 1024, 1)
        return jnp.sum(features.values(jnp.array([[0.3]]), jnp.ones((1, 1024))))

    assert np.asarray(GaussHermite(SquaredExponential(), 1024, 1).weight).min() == 0.0
    by_variance, by_scale = jax.jit(jax.grad(draw, argnums=(0, 1)))(1.3, 0.7)
    np.testing.assert_allclose(by_variance, draw(1.3, 0.7) / 2.6, rtol=1e-12)
    step = 1e-6
    differences = (draw(1.3, 0.7 + step) - draw(1.3, 0.7 - step)) / (2 * step)
    np.testing.assert_allclose(by_scale, differences, rtol=1e-6)


def test_errors():
    with pytest.raises(InvalidData, match=r"2 nodes along each of 10 .* 1024 features.* 1000 are"):
        GaussHermite(SquaredExponential(), 1000, 10)
    with pytest.raises(InvalidData, match=r"3 nodes along each of 4 .* 82 features"):
        Simpson(SquaredExponential(), 80, 4)
    with pytest.raises(InvalidData, match="3 length scales"):
        GaussLegendre(SquaredExponential([1.0, 1.0, 1.0]), 64, 2)
    for kernel in (RationalQuadratic(), SquaredExponential() + Matern32()):
        with pytest.raises(Unsupported, match="FourierFeatures take every stationary"):
            GaussHermite(kernel, 64, 1)
