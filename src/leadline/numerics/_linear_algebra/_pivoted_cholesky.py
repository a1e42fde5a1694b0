"""Partial pivoted Cholesky factor of a positive semi-definite matrix that is never formed.

Notation: `A (n, n)`, given by its diagonal `(n,)` and a function `row(i) -> (n,)`; `L (n, k)` with
`A ~ L L^T`; `residual (n,)` the diagonal of `A - L L^T`, whose sum is the trace error.

Each step takes the row with the largest residual (Harbrecht, Peters and Schneider 2012,
algorithm 1): k rows of `A` and O(n k^2) work. The result preconditions conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def pivoted_cholesky(
    diag: Float[Array, " n"],
    row: Callable[[Array], Array],
    rank: int,
    tol: float = 1e-14,
) -> Float[Array, "n k"]:
    """The first `rank` columns of the pivoted Cholesky factor.

    Args:
        diag: the diagonal of the matrix.
        row: `row(i)` is row `i` of the matrix; `i` may be traced.
        rank: the number of columns, at most n (static).
        tol: once the trace error is below `tol` times the trace, the columns that remain are zero.

    Returns:
        `L (n, rank)` in the order of the caller's rows: row `i` of `L` belongs to row `i` of `A`.
    """
    n = diag.shape[0]
    if not 1 <= rank <= n:
        raise ValueError(f"rank must be between 1 and the size of the matrix, {n}; got {rank}.")
    # Below this a pivot is rounding error, and dividing by its root would amplify it.
    floor = tol * jnp.sum(diag)
    index = jnp.arange(n)

    def step(j, state):
        L, residual = state
        pivot = jnp.argmax(residual)
        largest = residual[pivot]
        alive = (jnp.sum(residual) > floor) & (largest > 0.0)
        root = jnp.sqrt(jnp.where(alive, largest, 1.0))
        column = (row(pivot) - L @ L[pivot]) / root
        column = jnp.where(alive, column.at[pivot].set(root), 0.0)
        residual = jnp.maximum(residual - column * column, 0.0)
        # Exactly zero, so that rounding cannot make a row its own pivot twice.
        residual = jnp.where(alive & (index == pivot), 0.0, residual)
        return L.at[:, j].set(column), residual

    L, _ = jax.lax.fori_loop(0, rank, step, (jnp.zeros((n, rank)), diag))
    return L
