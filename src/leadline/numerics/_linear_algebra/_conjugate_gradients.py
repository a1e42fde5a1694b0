"""Preconditioned conjugate gradients for many right-hand sides at once.

Notation: `A (n, n)` symmetric positive definite, known only through `matvec(V) = A V` for
`V (n, s)`; `b (n, s)`; per column `a = r.z / p.Ap` and `beta = r'.z' / r.z` (Wilson 2023,
section 3.4, after Hestenes and Stiefel 1952). The columns share every product with `A` but not
their step sizes: this is `s` separate solves, each of which stands still once it has converged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class ConjugateGradientsInfo(NamedTuple):
    """How a solve went.

    `iterations`: products with `A` that were taken. `residual`: the true `|b - A x| / |b|` of each
    column, not the recursive one, which drifts below it. `converged`: the recursive residual
    reached the tolerance, and the true one is within a factor of two of it.
    """

    iterations: Int[Array, ""]
    residual: Float[Array, " s"]
    converged: Bool[Array, " s"]


def conjugate_gradients(
    matvec: Callable[[Array], Array],
    b: Float[Array, "n s"],
    *,
    preconditioner: Callable[[Array], Array] | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> tuple[Float[Array, "n s"], ConjugateGradientsInfo]:
    """Solve `A x = b` for every column of `b`.

    Args:
        matvec: `V (n, s) -> A V`.
        b: the right-hand sides. A column of zeros has the solution zero.
        preconditioner: `V -> P^-1 V` for some symmetric positive definite `P` near `A`, such as
            `woodbury_preconditioner(L, noise).solve`; None for the identity.
        tol: where to stop, as a fraction of the norm of each column.
        max_iter: the most products with `A`.

    Returns:
        The solution, and how the solve went. A column whose curvature `p.Ap` is not positive
        (`A` is not positive definite, or rounding has won) stops where it is, unconverged.
    """
    precondition = preconditioner if preconditioner is not None else lambda v: v
    norm = jnp.linalg.norm(b, axis=0)
    goal = tol * norm

    def working(state):
        _, _, _, _, active, iteration = state
        return jnp.any(active) & (iteration < max_iter)

    def step(state):
        x, r, p, rz, active, iteration = state
        Ap = matvec(p)
        curvature = jnp.sum(p * Ap, axis=0)
        active = active & (curvature > 0.0)
        a = jnp.where(active, rz / jnp.where(active, curvature, 1.0), 0.0)
        x, r = x + a * p, r - a * Ap
        z = precondition(r)
        rz_new = jnp.sum(r * z, axis=0)
        beta = jnp.where(active, rz_new / jnp.where(active, rz, 1.0), 0.0)
        p = jnp.where(active, z + beta * p, p)
        rz = jnp.where(active, rz_new, rz)
        active = active & (jnp.linalg.norm(r, axis=0) > goal)
        return x, r, p, rz, active, iteration + 1

    z = precondition(b)
    start = (jnp.zeros_like(b), b, z, jnp.sum(b * z, axis=0), norm > 0.0, jnp.asarray(0))
    x, r, _, _, _, iterations = jax.lax.while_loop(working, step, start)
    true = jnp.linalg.norm(b - matvec(x), axis=0)
    converged = (jnp.linalg.norm(r, axis=0) <= goal) & (true <= 2.0 * goal)
    residual = true / jnp.where(norm > 0.0, norm, 1.0)
    return x, ConjugateGradientsInfo(iterations, residual, converged)
