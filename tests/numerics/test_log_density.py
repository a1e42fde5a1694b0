"""The Gaussian log density and its own gradient rule, against SciPy and finite differences."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from leadline.numerics import (
    cholesky,
    gaussian_log_density,
    inverse_factored,
    log_density_factored,
    solve_factored,
)

N = 12
RNG = np.random.default_rng(0)
M = RNG.normal(size=(N, N))
A = M @ M.T / N + 0.2 * np.eye(N)
R = RNG.normal(size=N)
ONES = np.ones(N)
log_density = jax.jit(gaussian_log_density)
gradient = jax.jit(jax.grad(gaussian_log_density, (0, 1)))


def padded(a, r, size):
    n = r.size
    big, long = np.eye(size), np.zeros(size)
    big[:n, :n], long[:n] = a, r
    return big, long, (np.arange(size) < n).astype(float)


def test_agrees_with_scipy():
    """Check: naiff S9.4 (the value)"""
    wanted = scipy.stats.multivariate_normal.logpdf(R, cov=A)
    np.testing.assert_allclose(log_density(A, R, ONES), wanted, rtol=0, atol=1e-8)
    l = np.linalg.cholesky(A)
    factored = jax.jit(log_density_factored)(l, R, np.linalg.solve(A, R), ONES)
    np.testing.assert_allclose(factored, wanted, rtol=0, atol=1e-8)


def central_difference(f, v, step=1e-5):
    flat = v.ravel()
    grad = np.empty_like(flat)
    for i in range(flat.size):
        up, down = flat.copy(), flat.copy()
        up[i] += step
        down[i] -= step
        grad[i] = (f(up.reshape(v.shape)) - f(down.reshape(v.shape))) / (2 * step)
    return grad.reshape(v.shape)


def test_gradient_against_finite_differences():
    """Check: naiff S9.4 (the gradient)

    A symmetric matrix is moved along symmetric directions, as kernels move it.
    """
    root = np.random.default_rng(1).normal(size=(N, N)) / np.sqrt(N)

    @jax.jit
    def of_root(b):
        return gaussian_log_density(b @ b.T + 0.2 * jnp.eye(N), jnp.asarray(R), jnp.asarray(ONES))

    wanted = central_difference(of_root, root)
    np.testing.assert_allclose(jax.jit(jax.grad(of_root))(root), wanted, rtol=1e-5, atol=1e-6)
    wanted = central_difference(lambda r: log_density(A, r, ONES), R)
    np.testing.assert_allclose(gradient(A, R, ONES)[1], wanted, rtol=1e-5, atol=1e-8)


def test_gradient_is_that_of_automatic_differentiation():
    def plain(a, r):
        l = jnp.linalg.cholesky(a)
        return log_density_factored(l, r, solve_factored(l, r), jnp.asarray(ONES))

    ours = gradient(A, R, ONES)
    theirs = jax.jit(jax.grad(plain, (0, 1)))(A, R)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-9, atol=1e-11)


def test_negative_control_without_the_half():
    """The rule without its factor 1/2 is off by a factor of two, far beyond the tolerance."""

    @jax.custom_vjp
    def wrong(a, r):
        return gaussian_log_density(a, r, jnp.asarray(ONES))

    def forward(a, r):
        inverse = inverse_factored(cholesky(a))
        return wrong(a, r), (inverse, inverse @ r)

    def backward(saved, g):
        inverse, w = saved
        return g * (jnp.outer(w, w) - inverse), -g * w

    wrong.defvjp(forward, backward)
    direction, step = np.eye(N), 1e-5
    along = np.sum(jax.jit(jax.grad(wrong))(A, R) * direction)
    wanted = (
        log_density(A + step * direction, R, ONES) - log_density(A - step * direction, R, ONES)
    ) / (2 * step)
    right = np.sum(gradient(A, R, ONES)[0] * direction)
    assert right == pytest.approx(float(wanted), rel=1e-5)
    assert along != pytest.approx(float(wanted), rel=0.5)


@pytest.mark.parametrize("size", [N + 1, 32])
def test_padded_rows_add_nothing(size):
    a, r, mask = padded(A, R, size)
    np.testing.assert_allclose(log_density(a, r, mask), log_density(A, R, ONES), rtol=0, atol=1e-12)
    da, dr = gradient(a, r, mask)
    wanted = gradient(A, R, ONES)
    np.testing.assert_allclose(da[:N, :N], wanted[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(dr[:N], wanted[1], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(dr[N:], 0.0)


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_jitter_leaves_no_trace_in_padded_rows(scale):
    """A matrix that needs jitter, in small or large units: the same density but for the units."""
    n = 6
    b = np.random.default_rng(4).normal(size=(n, n - 1))
    a, r = b @ b.T - 1e-8 * np.eye(n), b @ np.ones(n - 1)
    one = log_density(*padded(a, r, 32))
    scaled = log_density(*padded(scale * a, np.sqrt(scale) * r, 32))
    np.testing.assert_allclose(scaled, one - 0.5 * n * np.log(scale), rtol=0, atol=1e-4)


def test_second_derivatives_exist():
    """Reverse over reverse, as a Laplace approximation of hyper-parameters needs."""

    def f(t):
        return gaussian_log_density(jnp.exp(t) * jnp.asarray(A), jnp.asarray(R), jnp.asarray(ONES))

    # log N(r | 0, e^t A) = c - n t / 2 - q e^-t / 2: the second derivative is -q / 2 at 0.
    q = R @ np.linalg.solve(A, R)
    np.testing.assert_allclose(jax.jit(jax.jacrev(jax.grad(f)))(0.0), -0.5 * q, rtol=1e-8)
