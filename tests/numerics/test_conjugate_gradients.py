"""Conjugate gradients: right answers, honest reports, and what preconditioning saves."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.numerics import conjugate_gradients, pivoted_cholesky, woodbury_preconditioner

N, NOISE = 96, 1e-4
RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(size=N))
K = jnp.asarray(np.exp(-0.5 * ((X[:, None] - X) / 0.15) ** 2))
A = K + NOISE * jnp.eye(N)  # condition number about 3e5
B = jnp.asarray(RNG.normal(size=(N, 4)))


@partial(jax.jit, static_argnames=("rank", "max_iter"))
def solve(A, b, rank=0, tol=1e-9, max_iter=2000):
    preconditioner = None
    if rank:
        L = pivoted_cholesky(jnp.diag(A) - NOISE, lambda i: A[i].at[i].add(-NOISE), rank)
        preconditioner = woodbury_preconditioner(L, NOISE).solve
    return conjugate_gradients(
        lambda v: A @ v, b, preconditioner=preconditioner, tol=tol, max_iter=max_iter
    )


@pytest.mark.parametrize("rank", [0, 15])
def test_agrees_with_a_direct_solve(rank):
    x, info = solve(A, B, rank)
    np.testing.assert_allclose(x, np.linalg.solve(A, B), rtol=1e-5, atol=1e-5)
    assert np.all(info.converged)
    np.testing.assert_allclose(
        info.residual, jnp.linalg.norm(B - A @ x, axis=0) / jnp.linalg.norm(B, axis=0), rtol=1e-6
    )
    assert np.all(np.asarray(info.residual) < 2e-9)


def test_preconditioning_saves_iterations():
    """A kernel matrix of condition 3e5: rank 15 takes at most a fifth of the products."""
    plain, better = solve(A, B)[1].iterations, solve(A, B, 15)[1].iterations
    assert int(better) * 5 <= int(plain)


def test_columns_do_not_disturb_each_other():
    """Each column's answer is the one that it has alone, although all share the products."""
    easy = K[:, :1] * 3.0
    together, info = solve(A, jnp.concatenate([easy, B[:, :3]], axis=1), 15)
    alone, alone_info = solve(A, jnp.tile(easy, 4), 15)
    np.testing.assert_allclose(together[:, 0], alone[:, 0], rtol=1e-10, atol=1e-12)
    assert np.all(info.converged)
    assert int(alone_info.iterations) <= int(info.iterations)


def test_zero_columns_and_padded_rows():
    """Padded rows are a unit diagonal with zeros elsewhere; a zero column is solved by zero."""
    padded = A.at[80:].set(0.0).at[:, 80:].set(0.0) + jnp.diag(jnp.arange(N) >= 80.0)
    b = B.at[80:].set(0.0).at[:, 1].set(0.0)
    x, info = solve(padded, b)
    assert np.all(np.asarray(x)[80:] == 0.0)
    assert np.all(np.asarray(x)[:, 1] == 0.0)
    assert np.all(info.converged)
    assert float(info.residual[1]) == 0.0
    np.testing.assert_allclose(x[:80], np.linalg.solve(A[:80, :80], b[:80]), rtol=1e-5, atol=1e-5)


def test_says_so_when_it_does_not_converge():
    _, info = solve(A, B, max_iter=3)
    assert int(info.iterations) == 3
    assert not np.any(info.converged)
    assert np.all(np.asarray(info.residual) > 1e-9)


def test_an_indefinite_matrix_stops_finite_and_unconverged():
    x, info = solve(-A, B)
    assert np.all(np.isfinite(x))
    assert not np.any(info.converged)
    assert int(info.iterations) == 1
