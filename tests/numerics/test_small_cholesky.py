"""Factors of many small matrices: LAPACK's, also where a matrix is singular."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.numerics import small_cholesky

factors = jax.jit(small_cholesky)
Q = 4


def matrices(b=40, q=Q, seed=0):
    """Covariances of very different scales."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(b, q, q + 2))
    scale = 10.0 ** rng.uniform(-3.0, 3.0, size=(b, 1, 1))
    return scale * np.einsum("bij,bkj->bik", root, root)


def diagonals(a):
    return np.diagonal(a, axis1=1, axis2=2).copy()


@pytest.mark.parametrize("q", [1, Q])
def test_they_are_the_factors_of_lapack(q):
    a = matrices(q=q)
    np.testing.assert_allclose(factors(a, diagonals(a)), np.linalg.cholesky(a), rtol=1e-9)


def test_each_row_is_what_is_left_given_the_rows_before():
    """The j-th pivot is the deviation of y_j given y_1 .. y_{j-1}."""
    a = matrices(b=1)[0]
    factor = np.asarray(factors(a[None], np.diag(a)[None]))[0]
    for j in range(1, Q):
        known = np.linalg.solve(a[:j, :j], a[:j, j])
        assert factor[j, j] ** 2 == pytest.approx(a[j, j] - a[j, :j] @ known, rel=1e-9)


def test_a_row_that_repeats_another_keeps_a_little_of_its_variance():
    a = matrices()
    a[:, 3], a[:, :, 3] = a[:, 1], a[:, :, 1]
    a[:, 3, 3] = a[:, 1, 1]
    variances = 2.0 * diagonals(a)
    factor = np.asarray(factors(a, variances))
    assert np.all(np.isfinite(factor))
    np.testing.assert_allclose(factor[:, 3, 3] ** 2, 1e-12 * variances[:, 3], rtol=1e-2)
    product = np.einsum("bij,bkj->bik", factor, factor)
    np.testing.assert_allclose(product, a, atol=1e-9 * np.max(a, axis=(1, 2)).min(), rtol=1e-9)


def test_nothing_left_at_all_is_no_error():
    """Points where the function is known: the matrix is rounding error around 0."""
    rng = np.random.default_rng(0)
    noise = 1e-17 * rng.normal(size=(40, Q, Q))
    factor = np.asarray(factors(noise + noise.transpose(0, 2, 1), np.ones((40, Q))))
    assert np.all(np.isfinite(factor))
    assert np.max(np.abs(factor)) < 2e-6


def test_derivatives_are_those_of_lapack():
    weights = np.tril(np.random.default_rng(1).normal(size=(Q, Q)))
    a = matrices()[:5]

    def ours(a):
        factor = small_cholesky(a[None], jnp.diagonal(a)[None])[0]
        return jnp.sum(weights * factor)

    def theirs(a):
        return jnp.sum(weights * jnp.linalg.cholesky(a))

    def symmetric(gradient):
        return gradient + gradient.T

    found = jax.lax.map(lambda a: symmetric(jax.grad(ours)(a)), a)
    wanted = jax.lax.map(lambda a: symmetric(jax.grad(theirs)(a)), a)
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9 * np.max(np.abs(wanted)))


def test_derivatives_are_finite_where_rows_repeat():
    a = np.ones((40, Q, Q))  # one value, four times
    gradient = jax.jit(jax.grad(lambda a: jnp.sum(small_cholesky(a, jnp.ones((40, Q))))))(a)
    assert np.all(np.isfinite(gradient))
