"""Factorizations: the jitter policy and its error, the inverse by halving, and block extension."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.boundary import NotPositiveDefinite
from leadline.numerics import (
    add_to_diagonal,
    cholesky,
    extend_cholesky,
    inverse_factored,
    log_determinant,
    require_factor,
    solve_factored,
    solve_lower,
    solve_stored,
)

factorize = jax.jit(cholesky)
N = 24


def spd(n: int, seed: int = 0) -> np.ndarray:
    m = np.random.default_rng(seed).normal(size=(n, n))
    return m @ m.T / n + 0.1 * np.eye(n)


def with_smallest_eigenvalue(value: float, n: int = N) -> np.ndarray:
    """A matrix with unit mean diagonal and one eigenvalue `value`."""
    q, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(n, n)))
    eigenvalues = np.full(n, (n - value) / (n - 1))
    eigenvalues[0] = value
    a = (q * eigenvalues) @ q.T
    return 0.5 * (a + a.T)


def test_no_jitter_where_none_is_needed():
    a = spd(N)
    np.testing.assert_allclose(factorize(a), np.linalg.cholesky(a), rtol=0, atol=1e-14)


@pytest.mark.parametrize("exponent", range(-10, -3))
def test_each_level_of_the_policy_is_the_least_that_works(exponent):
    """An eigenvalue of -0.3 of a level is cured by that level, and not by the one before it."""
    a = with_smallest_eigenvalue(-0.3 * 10.0**exponent)
    l = np.asarray(factorize(a))
    added = np.mean(np.diagonal(l @ l.T - a))
    # The rounding error of the product is 1e-16 per entry.
    np.testing.assert_allclose(added, 10.0**exponent, rtol=0.02, atol=1e-15)


def test_jitter_is_relative_to_the_matrix():
    a = with_smallest_eigenvalue(-3e-8)
    np.testing.assert_allclose(factorize(1e-30 * a), 1e-15 * factorize(a), rtol=1e-6, atol=1e-21)
    np.testing.assert_allclose(factorize(1e30 * a), 1e15 * factorize(a), rtol=1e-6, atol=1e9)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_padded_rows_neither_count_for_the_jitter_nor_get_any(scale):
    """Negative control: the mean diagonal with the padding in it is wrong at both scales."""
    n = 10
    small = scale * with_smallest_eigenvalue(-3e-8, n)
    a = np.eye(N)
    a[:n, :n] = small
    mask = (np.arange(N) < n).astype(float)
    l = np.asarray(factorize(a, mask))
    np.testing.assert_allclose(l[:n, :n], factorize(small), rtol=1e-6)
    np.testing.assert_array_equal(l[n:, n:], np.eye(N - n))
    with_padding = np.asarray(factorize(a))
    if scale != 1.0:
        assert (
            np.isnan(with_padding).all()
            or np.any(with_padding[n:, n:] != np.eye(N - n))
            or (np.abs(with_padding[:n, :n] - l[:n, :n]).max() > 1e-3 * np.sqrt(scale))
        )


def test_the_error_names_matrix_size_and_cause():
    a = with_smallest_eigenvalue(-0.5)
    l = factorize(a)
    assert np.isnan(l[-1, -1])
    with pytest.raises(NotPositiveDefinite, match=r"24 x 24 Gram matrix .*0\.0001.* twins\.$"):
        require_factor(l, "Gram matrix", "twins")
    with pytest.raises(NotPositiveDefinite, match="the 7 x 7 Gram"):
        require_factor(l, "Gram matrix", "twins", n=7)
    require_factor(factorize(spd(N)), "Gram matrix", "twins")


def test_a_factor_that_is_not_a_number_in_part_is_refused():
    """An extension can fail in its own rows while the padding below stays the identity."""
    l = np.eye(4)
    l[2, 2] = np.nan
    with pytest.raises(NotPositiveDefinite):
        require_factor(l, "Gram matrix", "twins")
    with pytest.raises(NotPositiveDefinite):
        require_factor(np.stack([np.eye(4), l, np.eye(4)]), "Gram matrix", "twins")


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_what_is_not_a_number_stays_so(bad):
    a = spd(N)
    a[3, 3] = bad
    assert np.isnan(factorize(a)[-1, -1])


@pytest.mark.parametrize("n", [1, 64, 65, 200])
def test_inverse_by_halving(n):
    a = spd(n)
    l = np.linalg.cholesky(a)
    inverse = np.asarray(jax.jit(inverse_factored)(l))
    np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=0, atol=1e-9)
    np.testing.assert_allclose(inverse @ a, np.eye(n), rtol=0, atol=1e-10)


def test_solves_and_determinant():
    a, b = spd(N), np.random.default_rng(2).normal(size=(N, 3))
    l = np.linalg.cholesky(a)
    solve = jax.jit(solve_factored)
    np.testing.assert_allclose(l @ jax.jit(solve_lower)(l, b), b, atol=1e-12)
    np.testing.assert_allclose(a @ solve(l, b), b, atol=1e-12)
    np.testing.assert_allclose(a @ solve(l, b[:, 0]), b[:, 0], atol=1e-12)
    determinant = jax.jit(log_determinant)(l)
    np.testing.assert_allclose(determinant, np.linalg.slogdet(a)[1], rtol=1e-12)


def test_block_extension():
    """Check: naiff S9.1"""
    n, m = 20, 10
    a = spd(n + m)
    old = jnp.asarray(np.linalg.cholesky(a[:n, :n]))
    rows, corner = jax.jit(extend_cholesky)(old, a[:n, n:], a[n:, n:])
    full = np.block([[np.asarray(old), np.zeros((n, m))], [np.asarray(rows), np.asarray(corner)]])
    assert np.max(np.abs(full - np.linalg.cholesky(a))) < 1e-12


def test_extension_by_a_duplicate_row():
    """What is left of the new block is rounding error; jitter relative to that would be useless."""
    a = spd(N)
    a[-1], a[:, -1] = a[0], a[:, 0]
    a[-1, -1] = a[0, 0]
    old = jnp.asarray(np.linalg.cholesky(a[:-1, :-1]))
    _, corner = jax.jit(extend_cholesky)(old, a[:-1, -1:], a[-1:, -1:] - 1e-13)
    np.testing.assert_allclose(corner[0, 0], np.sqrt(1e-10 * a[0, 0]), rtol=0.02)


def test_gradient_of_the_factor_is_that_of_jax():
    """Reverse mode passes the jitter loop, and agrees with JAX's own rule without it."""
    a = jnp.asarray(spd(6))
    weights = jnp.asarray(np.random.default_rng(3).normal(size=(6, 6)))

    def ours(s):
        return jnp.sum(weights * cholesky(0.5 * (s + s.T)))

    def plain(s):
        return jnp.sum(weights * jnp.linalg.cholesky(0.5 * (s + s.T)))

    found, wanted = jax.jit(jax.grad(ours))(a), jax.jit(jax.grad(plain))(a)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_solves_against_a_stored_factor_are_the_same():
    rng = np.random.default_rng(3)
    l = np.tril(rng.normal(size=(7, 7))) + 4.0 * np.eye(7)
    b = rng.normal(size=(7, 2))
    stored = jax.device_put((l, b))
    np.testing.assert_allclose(solve_stored(*stored), np.linalg.solve(l @ l.T, b), rtol=1e-12)
    half = solve_stored(*stored, both=False)
    np.testing.assert_allclose(half, np.linalg.solve(l, b), rtol=1e-12)


def test_adding_to_the_diagonal():
    a, d = np.arange(9.0).reshape(3, 3), np.array([1.0, -2.0, 0.5])
    given = jax.device_put((a, d))
    np.testing.assert_array_equal(add_to_diagonal(*given), a + np.diag(d))
    slope = jax.grad(lambda a, d: jnp.sum(add_to_diagonal(a, d) ** 2), argnums=1)(*given)
    np.testing.assert_allclose(slope, 2 * (np.diag(a) + d))
