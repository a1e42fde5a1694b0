"""The pivoted Cholesky factor: its error shrinks, it ends at the exact matrix, it stays finite."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.numerics import pivoted_cholesky

N = 40


def kernel_matrix(lengthscale=0.3, n=N):
    x = np.random.default_rng(0).uniform(size=(n, 2))
    s = ((x[:, None] - x[None]) ** 2).sum(-1) / lengthscale**2
    return jnp.asarray(np.exp(-np.sqrt(s)))


def factor(A, rank, **options):
    return pivoted_cholesky(jnp.diag(A), lambda i: A[i], rank, **options)


def test_full_rank_recovers_the_matrix():
    A = kernel_matrix()
    L = factor(A, N)
    np.testing.assert_allclose(L @ L.T, A, atol=1e-13)


def test_is_the_cholesky_factor_of_the_permuted_matrix():
    """With rows in pivot order, L is lower triangular and equal to NumPy's factor."""
    A = kernel_matrix()
    L, A = np.asarray(factor(A, N)), np.asarray(A)
    # Row p was the pivot of step j if its last non-zero entry is in column j.
    last = [np.flatnonzero(np.abs(row) > 1e-12)[-1] for row in L]
    order = np.argsort(last)
    assert sorted(last) == list(range(N))
    np.testing.assert_allclose(L[order], np.linalg.cholesky(A[np.ix_(order, order)]), atol=1e-12)


def test_trace_error_falls_with_every_column():
    A = kernel_matrix()
    L = np.asarray(factor(A, N))
    errors = [np.trace(np.asarray(A) - L[:, :k] @ L[:, :k].T) for k in range(N + 1)]
    assert np.all(np.diff(errors) < 0.0)
    # The columns of a smaller rank are the first ones of a larger rank.
    np.testing.assert_allclose(factor(A, 7), L[:, :7], atol=1e-14)


def test_first_pivot_is_the_largest_diagonal_entry():
    A = kernel_matrix() + jnp.diag(jnp.zeros(N).at[11].set(0.5))
    L = factor(A, 1)
    np.testing.assert_allclose(L[:, 0], A[:, 11] / jnp.sqrt(A[11, 11]), rtol=1e-14)


def test_columns_beyond_the_rank_of_the_matrix_are_zero():
    B = jnp.asarray(np.random.default_rng(1).normal(size=(N, 5)))
    L = factor(B @ B.T, 9, tol=1e-12)
    np.testing.assert_allclose(L @ L.T, B @ B.T, atol=1e-10)
    assert np.all(np.asarray(L)[:, 5:] == 0.0)


def test_stops_at_the_tolerance():
    A = kernel_matrix()
    L, A = np.asarray(factor(A, N, tol=0.2)), np.asarray(A)
    used = int(np.sum(np.any(L != 0.0, axis=0)))
    fraction = [np.trace(A - L[:, :k] @ L[:, :k].T) / np.trace(A) for k in (used - 1, used)]
    assert fraction[0] > 0.2 >= fraction[1]


def test_zero_rows_of_padding_stay_zero():
    A = kernel_matrix().at[30:].set(0.0).at[:, 30:].set(0.0)
    L = factor(A, 12)
    assert np.all(np.asarray(L)[30:] == 0.0)
    np.testing.assert_allclose(L[:30], factor(A[:30, :30], 12), atol=1e-14)


def test_traces_and_has_finite_gradients_past_the_rank():
    x = jnp.linspace(0.0, 1.0, 10)

    def trace_error(lengthscale):
        A = jnp.exp(-0.5 * ((x[:, None] - x) / lengthscale) ** 2)
        L = pivoted_cholesky(jnp.diag(A), lambda i: A[i], 10)
        return jnp.sum((A - L @ L.T) ** 2) + jnp.sum(L)

    assert np.isfinite(jax.jit(jax.grad(trace_error))(5.0))


@pytest.mark.parametrize("rank", [0, N + 1])
def test_refuses_an_impossible_rank(rank):
    with pytest.raises(ValueError, match=f"{N}; got {rank}"):
        factor(kernel_matrix(), rank)
