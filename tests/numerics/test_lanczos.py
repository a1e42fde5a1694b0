"""Stochastic Lanczos quadrature: log-determinants within their own standard errors."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.numerics import lanczos_logdet, pivoted_cholesky, woodbury_preconditioner

N = 128
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(N, 2))
K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(-1) / 0.3**2)


# Called for many seeds, with thousands of products in each: some optimization is worth its time.
@partial(
    jax.jit,
    static_argnames=("probes", "depth", "rank"),
    compiler_options={"xla_backend_optimization_level": 1},
)
def estimate(A, noise, seed=0, probes=16, depth=100, rank=0):
    preconditioner = None
    if rank:
        L = pivoted_cholesky(jnp.diag(A) - noise, lambda i: A[i].at[i].add(-noise), rank)
        preconditioner = woodbury_preconditioner(L, noise)
    return lanczos_logdet(
        lambda v: A @ v,
        N,
        jax.random.key(seed),
        probes=probes,
        depth=depth,
        preconditioner=preconditioner,
    )


def with_noise(noise):
    A = K + noise * np.eye(N)
    return A, noise, float(np.linalg.slogdet(A)[1])


@pytest.mark.parametrize("rank", [0, 40])
def test_within_four_standard_errors(rank):
    """Condition number about 1e6, with and without a preconditioner, ten seeds each."""
    A, noise, exact = with_noise(3e-5)
    assert 5e5 < np.linalg.cond(A) < 2e6
    for seed in range(10):
        value, error = estimate(A, noise, seed, rank=rank)
        assert abs(float(value) - exact) < 4.0 * float(error)


def test_preconditioning_shrinks_the_error():
    A, noise, exact = with_noise(3e-5)
    plain, better = estimate(A, noise), estimate(A, noise, rank=40)
    assert float(better.std_error) < 0.2 * float(plain.std_error)
    assert abs(float(better.value) - exact) < 0.01 * abs(exact)


def test_full_depth_is_exact_for_each_probe():
    """With n steps the quadrature is exact: the mean is that of z^T log(A) z itself."""
    A, noise, _ = with_noise(0.1)
    value, _ = estimate(A, noise, 3, probes=4, depth=N)
    z = np.asarray(jax.random.rademacher(jax.random.key(3), (N, 4), dtype=jnp.float64)).T
    w, V = np.linalg.eigh(A)
    np.testing.assert_allclose(value, np.mean((z @ V) ** 2 @ np.log(w)), rtol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_a_multiple_of_the_identity_is_exact(scale):
    """The Krylov space has one dimension, where an unguarded recursion divides zero by zero."""
    value, error = estimate(scale * np.eye(N), 0.0)
    np.testing.assert_allclose(value, N * np.log(scale), atol=1e-10)
    np.testing.assert_allclose(error, 0.0, atol=1e-10)


def test_padded_rows_add_nothing():
    A, noise, _ = with_noise(0.1)
    real = np.arange(N) < 100
    padded = np.where(np.outer(real, real), A, 0.0) + np.diag(~real)
    value, error = estimate(padded, noise)
    assert abs(float(value) - np.linalg.slogdet(A[:100, :100])[1]) < 4.0 * float(error)


def test_the_key_decides():
    A, noise, _ = with_noise(0.1)
    assert estimate(A, noise, 1).value == estimate(A, noise, 1).value
    assert estimate(A, noise, 1).value != estimate(A, noise, 2).value


def test_one_probe_has_no_standard_error():
    with pytest.raises(ValueError, match="at least 2 probes; got 1"):
        lanczos_logdet(lambda v: v, 4, jax.random.key(0), probes=1)
