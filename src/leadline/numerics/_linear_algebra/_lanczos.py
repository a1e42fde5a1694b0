"""Stochastic Lanczos quadrature: the log-determinant of a matrix known through its products.

Notation: `A (n, n)` symmetric positive definite, `matvec(V) = A V` for `V (n, s)`; `z (n, s)`
probes of random signs; per probe `T = Q^T A Q`, tridiagonal with diagonal `alpha` and off-diagonal
`beta`, from `depth` Lanczos steps that start at `z`. Then

    log |A| = E[z^T log(A) z],   z^T log(A) z ~ n e_1^T log(T) e_1     (Ubaru, Chen and Saad 2017),

and with a preconditioner `R R^T = P^-1` the same for `R^T A R`, plus `log |P|`: the closer P is
to A, the less the probes differ from each other and the fewer steps they need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.numerics._linear_algebra._preconditioner import WoodburyPreconditioner


class LogdetEstimate(NamedTuple):
    """An estimate of a log-determinant, and the standard error that its probes show."""

    value: Float[Array, ""]
    std_error: Float[Array, ""]


def lanczos_logdet(
    matvec: Callable[[Array], Array],
    n: int,
    key: Array,
    *,
    probes: int = 16,
    depth: int = 64,
    preconditioner: WoodburyPreconditioner | None = None,
) -> LogdetEstimate:
    """Estimate `log |A|` with `depth` products of `A` with `(n, probes)` matrices.

    The standard error is that of the probes; the error of stopping at `depth` is not in it, and
    is small only if `depth` resolves the spectrum (a few times the root of the condition number
    of the preconditioned matrix, or its number of distinct eigenvalues).
    """
    if probes < 2:
        raise ValueError(f"A standard error needs at least 2 probes; got {probes}.")

    def product(v):
        if preconditioner is None:
            return matvec(v)
        return preconditioner.inverse_root_transposed(matvec(preconditioner.inverse_root(v)))

    z = jax.random.rademacher(key, (n, probes), dtype=jnp.float64)
    alpha, beta = tridiagonalize(product, z, min(depth, n))
    forms = n * jax.lax.map(lambda t: _first_entry_of_log(*t), (alpha.T, beta.T))
    value, std_error = jnp.mean(forms), jnp.std(forms, ddof=1) / jnp.sqrt(probes)
    if preconditioner is not None:
        value = value + preconditioner.logdet
    return LogdetEstimate(value, std_error)


def tridiagonalize(
    matvec: Callable[[Array], Array], start: Float[Array, "n s"], depth: int
) -> tuple[Float[Array, "k s"], Float[Array, "k-1 s"]]:
    """`alpha` and `beta` of `depth` Lanczos steps from each column, fully reorthogonalized."""
    n, s = start.shape

    def step(j, state):
        Q, alpha, beta, v = state
        length = jnp.linalg.norm(v, axis=0)
        # A Krylov space that is exhausted goes on with zeros, which are inert; `beta` stays the
        # true length, so that directions made of rounding error carry no weight either.
        alive = length > 0.0
        q = jnp.where(alive, v / jnp.where(alive, length, 1.0), 0.0)
        Q, w = Q.at[j].set(q), matvec(q)
        alpha = alpha.at[j].set(jnp.where(alive, jnp.sum(q * w, axis=0), 1.0))
        for _ in range(2):
            w = w - jnp.einsum("kns,ks->ns", Q, jnp.einsum("kns,ns->ks", Q, w))
        return Q, alpha, beta.at[j].set(length), w

    state = (jnp.zeros((depth, n, s)), jnp.ones((depth, s)), jnp.zeros((depth, s)), start)
    _, alpha, beta, _ = jax.lax.fori_loop(0, depth, step, state)
    return alpha, beta[1:]


def _first_entry_of_log(alpha: Array, beta: Array) -> Array:
    """`e_1^T log(T) e_1`."""
    T = jnp.diag(alpha) + jnp.diag(beta, 1) + jnp.diag(beta, -1)
    values, vectors = jnp.linalg.eigh(T)
    # Ritz values below the rounding error of the largest are noise, and may be negative.
    floor = jnp.finfo(values.dtype).eps * values[-1]
    return jnp.sum(vectors[0] ** 2 * jnp.log(jnp.maximum(values, floor)))
