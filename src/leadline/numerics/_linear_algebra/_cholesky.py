"""Factorizations of covariance matrices: the jitter policy, extension, and the inverse.

Notation: `a (n, n)` symmetric positive semi-definite, `l (n, n)` lower with `l l^T = a`;
`mask (n,)` 1 for real rows, 0 for padded ones, which are rows of the identity.

The jitter policy is the same everywhere. No jitter first; where the factorization fails, 1e-10 of
the mean diagonal, then tenfold up to 1e-4; then the factor is NaN, which `require_factor` turns
into an error that names the matrix, its size and the likely cause.

Do not `vmap` over matrices to factorize: use `jax.lax.map`. Batched LAPACK calls of jaxlib wait for
one another inside the same thread pool, and two of them at once can wait forever on a machine with
two cores.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import NotPositiveDefinite

FIRST_JITTER = 1e-10
LAST_JITTER = 1e-4

# Halving stops where LAPACK's triangular solve is as fast as anything built from matrix products,
# and after three times: more products take longer to compile than they save.
_LEAF, _HALVINGS = 64, 3


def _factor(a: Float[Array, "n n"]) -> Float[Array, "n n"]:
    return jax.lax.linalg.cholesky(a, symmetrize_input=False)


def add_to_diagonal(a: Float[Array, "n n"], d: Float[Array, " n"]) -> Float[Array, "n n"]:
    """The matrix with `d` added to its diagonal, entry by entry.

    The compiler makes that part of whatever comes before it; an update in place would be a loop of
    its own over the diagonal.
    """
    rows = jnp.arange(a.shape[0])
    return jnp.where(rows[:, None] == rows, a + d[:, None], a)


def cholesky(
    a: Float[Array, "n n"],
    mask: Float[Array, " n"] | None = None,
    variances: Float[Array, " n"] | None = None,
) -> Float[Array, "n n"]:
    """The lower Cholesky factor of `a`, with the least jitter of the policy that works.

    Works under `jit` and `grad`; a factor of NaN means that no jitter was enough.

    Args:
        a: the matrix.
        mask: which rows are real; all if None. Padded rows neither count nor get any jitter.
        variances: what the jitter is measured in, if not by the diagonal of `a` itself.
    """
    variances = jnp.diagonal(a) if variances is None else variances
    mask = jnp.ones(a.shape[0]) if mask is None else mask
    return _jittered(a, mask * (jnp.sum(mask * variances) / jnp.maximum(jnp.sum(mask), 1.0)))


@jax.custom_jvp
def _jittered(a: Float[Array, "n n"], unit: Float[Array, " n"]) -> Float[Array, "n n"]:
    # A loop that holds the only factorization there is: a second one would compile once more.
    def failed(state):
        level, l = state
        # The last entry of a failed factor is NaN: LAPACK's answer is blanked out as a whole.
        return jnp.isnan(l[-1, -1]) & (level <= LAST_JITTER)

    def attempt(state):
        level, _ = state
        l = _factor(add_to_diagonal(a, level * unit))
        return jnp.maximum(10.0 * level, 0.99 * FIRST_JITTER), l

    return jax.lax.while_loop(failed, attempt, (jnp.asarray(0.0), jnp.full_like(a, jnp.nan)))[1]


@_jittered.defjvp
def _jittered_jvp(primals, tangents):
    """With phi the lower half, dl = l phi(l^-1 da l^-T) (Murray 2016); the jitter is constant.

    JAX has no reverse mode through a `while_loop`, even if it never turns.
    """
    (a, unit), (da, _) = primals, tangents
    l = _jittered(a, unit)
    inner = solve_lower(l, solve_lower(l, da).T)
    return l, l @ (jnp.tril(inner) - 0.5 * jnp.diag(jnp.diagonal(inner)))


def require_factor(l: Any, name: str, cause: str, n: int | None = None) -> None:
    """Raise `NotPositiveDefinite` if a factor (or one of a stack) is NaN, even in part.

    `n` is its size without padding.
    """
    if np.isnan(np.diagonal(np.asarray(l), axis1=-2, axis2=-1)).any():
        n = l.shape[-1] if n is None else n
        raise NotPositiveDefinite(
            f"the {n} x {n} {name} is not positive definite, even with {LAST_JITTER:g} of its mean "
            f"diagonal added. Likely cause: {cause}."
        )


def solve_lower(l: Float[Array, "n n"], b: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
    """Solve `l z = b`."""
    return jax.scipy.linalg.solve_triangular(l, b, lower=True)


def solve_factored(l: Float[Array, "n n"], b: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
    """Solve `l l^T z = b`."""
    return jax.scipy.linalg.cho_solve((l, True), b)


def solve_stored(
    l: Float[Array, "n n"], b: Float[Array, "n m"], *, both: bool = True
) -> Float[Array, "n m"]:
    """Solve `l l^T z = b`, or `l z = b`, for few columns and a factor that is not computed here.

    LAPACK wants the columns of a matrix together. Those of a factor that a program is given lie
    apart, and the compiler makes a copy that costs ten solves; its transpose is as LAPACK wants it.
    """
    upper = {"left_side": True, "lower": False}
    z = jax.lax.linalg.triangular_solve(l.T, b, transpose_a=True, **upper)
    return jax.lax.linalg.triangular_solve(l.T, z, **upper) if both else z


def log_determinant(l: Float[Array, "n n"]) -> Float[Array, ""]:
    """Log |l l^T|."""
    return 2.0 * jnp.sum(jnp.log(jnp.diagonal(l)))


def inverse_factored(l: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """(l l^T)^-1, by halving: about twice as fast as solving against the identity.

    Nearly all of its work is matrix products of half the size; the triangular solves that are left
    are small.
    """
    leaf = max(_LEAF, l.shape[0] >> _HALVINGS)
    return _gram(_inverse_lower(l, leaf), leaf)


def _inverse_lower(l: Array, leaf: int) -> Array:
    n = l.shape[0]
    if n <= leaf:
        return solve_lower(l, jnp.eye(n))
    h = n // 2
    top, bottom = _inverse_lower(l[:h, :h], leaf), _inverse_lower(l[h:, h:], leaf)
    corner = -bottom @ (l[h:, :h] @ top)
    return jnp.block([[top, jnp.zeros((h, n - h))], [corner, bottom]])


def _gram(m: Array, leaf: int) -> Array:
    """m^T m of a lower-triangular m, leaving out the products with zero blocks."""
    n = m.shape[0]
    if n <= leaf:
        return m.T @ m
    h = n // 2
    corner, bottom = m[h:, :h], m[h:, h:]
    off = bottom.T @ corner
    top = _gram(m[:h, :h], leaf) + corner.T @ corner
    return jnp.block([[top, off.T], [off, _gram(bottom, leaf)]])


def extend_cholesky(
    l: Float[Array, "n n"],
    cross: Float[Array, "n m"],
    block: Float[Array, "m m"],
    mask: Float[Array, " m"] | None = None,
) -> tuple[Float[Array, "m n"], Float[Array, "m m"]]:
    """The new rows of the factor of [[a, cross], [cross^T, block]], in O(n^2 m + m^3).

    Returns the rows under `l` and the new lower-triangular corner (Naiff 2019, section 3.6). What
    is left of `block` may be rounding error only, so jitter is measured by `block` itself.
    """
    rows = solve_stored(l, cross, both=False).T
    return rows, cholesky(block - rows @ rows.T, mask, jnp.diagonal(block))
