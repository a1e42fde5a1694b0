"""Karhunen-Loeve expansions: Brownian motion, where everything is known."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.paths import BrownianMotion, Features, KarhunenLoeve

T = np.linspace(0.0, 1.0, 101)[:, None]

covariance = eqx.filter_jit(lambda f, x, y: f.covariance(x, y))


@eqx.filter_jit
def in_every_way(features, x, weights):
    by_root = Features.covariance(features, x, x)
    law = features.covariance(x, x), features.variance(x), by_root
    return law, features(x), features.values(x, weights)


@pytest.fixture(scope="module")
def features():
    return BrownianMotion(20)


def test_brownian_motion():
    """Check: wilson S8.5 (first half)."""
    found = covariance(BrownianMotion(2000), T, T)
    error = np.abs(found - np.minimum(T, T.T)).max()
    assert error <= 2e-4
    # What is cut off is largest at the end, where every eigenfunction is at its peak.
    np.testing.assert_allclose(error, 2.0 / (np.pi**2 * 2000), rtol=1e-3)


def test_truncation_takes_variance_away(features):
    """Check: wilson S8.6."""
    weights = np.zeros((4, 20))
    (found, _, _), _, _ = in_every_way(features, T, weights)
    assert np.linalg.eigvalsh(np.minimum(T, T.T) - found).min() >= -1e-10
    nodes, w = np.polynomial.legendre.leggauss(101)
    x = 0.5 * (nodes + 1.0)[:, None]
    (_, variance, _), _, _ = in_every_way(features, x, weights)
    lost = 0.5 * w @ (x[:, 0] - np.asarray(variance))
    tail = 0.5 - np.sum(1.0 / ((np.arange(20) + 0.5) * np.pi) ** 2)  # all of them sum to 1/2
    np.testing.assert_allclose(lost, tail, rtol=1e-10)


def test_values_and_covariance_agree_with_the_features(features):
    weights = np.random.default_rng(0).normal(size=(4, 20))
    (found, variance, by_root), phi, values = in_every_way(features, T, weights)
    np.testing.assert_allclose(values, weights @ np.asarray(phi).T, atol=1e-13)
    np.testing.assert_allclose(found, by_root, atol=1e-13)
    np.testing.assert_allclose(variance, np.diagonal(found), atol=1e-13)


def test_bad_size():
    with pytest.raises(InvalidData, match="at least 1, got 0"):
        BrownianMotion(0)


def test_given_eigenpairs():
    """Brownian motion, written down by its eigenpairs."""
    frequencies = (np.arange(50) + 0.5) * np.pi
    given = KarhunenLoeve(frequencies**-2.0, lambda x: np.sqrt(2.0) * jnp.sin(x * frequencies), 1)
    x = np.linspace(0.0, 1.0, 11)[:, None]
    assert given.size == 50
    np.testing.assert_allclose(given(x), BrownianMotion(50)(x), atol=1e-12)
    with pytest.raises(InvalidData, match="negative"):
        KarhunenLoeve([-1.0], lambda x: x, 1)
