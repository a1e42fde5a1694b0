"""Squared distances: right far away, exactly zero for duplicates, with gradients to match."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.distance import cdist

from leadline.numerics import squared_distance

distance = jax.jit(squared_distance)


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e6])
def test_against_scipy(shift):
    """Moving both sets loses only what the inputs themselves lose."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(20, 3)) + shift, rng.normal(size=(30, 3)) + shift
    np.testing.assert_allclose(distance(x, y), cdist(x, y, "sqeuclidean"), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("d", [1, 3, 50, 400])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_duplicates_are_at_distance_zero(d, scale):
    """In any dimension and unit, wherever they lie; all other distances are positive."""
    rng = np.random.default_rng(d)
    x = scale * (rng.normal(size=(20, d)) + 5.0)
    s = np.asarray(distance(x, x[::-1]))[:, ::-1]
    np.testing.assert_array_equal(np.diagonal(s), 0.0)
    assert np.all(s[~np.eye(20, dtype=bool)] > 0)


def test_near_points_do_not_merge():
    """1e-6 of the spread apart is not zero."""
    x = np.array([[0.0], [1e-6], [1.0]])
    np.testing.assert_allclose(distance(x, x)[0, 1], 1e-12, rtol=1e-3)


def test_never_negative():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40, 2))
    assert np.all(np.asarray(distance(x, x + 1e-9 * rng.normal(size=x.shape))) >= 0)


def test_gradient():
    """d/dx |x - y|^2 = 2 (x - y), and zero between duplicates."""
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    weights = rng.normal(size=(5, 4))
    y[0] = x[0]
    gradient = jax.jit(jax.grad(lambda x, y: jnp.sum(weights * squared_distance(x, y)), (0, 1)))
    difference = weights[:, :, None] * (x[:, None] - y[None])
    found = gradient(x, y)
    np.testing.assert_allclose(found[0], 2.0 * difference.sum(1), atol=1e-12)
    np.testing.assert_allclose(found[1], -2.0 * difference.sum(0), atol=1e-12)
