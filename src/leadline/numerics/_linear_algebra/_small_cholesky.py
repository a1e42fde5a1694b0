"""Cholesky factors of many small matrices at once, column by column.

LAPACK factorizes one matrix after the other, and batches of its calls must not be mapped (see
`_cholesky.py`). For matrices of a few rows, of which there are hundreds, sums over the batch are
faster, and they have derivatives of every order.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

# What is left of a variance counts as at least this part of it: rounding error can make it 0.
_LEAST = 1e-12


def small_cholesky(a: Float[Any, "b q q"], variances: Float[Any, "b q"]) -> Float[Array, "b q q"]:
    """The lower factor of each matrix.

    A row that the rows before it explain, up to rounding, keeps 1e-12 of its variance.

    Args:
        a: symmetric positive semi-definite matrices.
        variances: in which rounding is measured: the diagonal before what is known was taken off.
    """
    q = a.shape[-1]
    columns: list[Array] = []
    for j in range(q):
        left = a[:, j:, j]
        if columns:
            done = jnp.stack(columns, axis=-1)  # (b, q, j)
            left = left - jnp.einsum("bik,bk->bi", done[:, j:], done[:, j])
        pivot = jnp.sqrt(jnp.maximum(left[:, 0], _LEAST * variances[:, j]))
        below = left[:, 1:] / pivot[:, None]
        columns.append(jnp.concatenate([jnp.zeros((a.shape[0], j)), pivot[:, None], below], axis=1))
    return jnp.stack(columns, axis=-1)


def root_of_inverse(factor: Float[Array, "b q q"]) -> Float[Array, "b q q"]:
    """A = L^-T of each factor, column by column: A L^T = I."""
    q = factor.shape[-1]
    columns: list[Array] = []
    for j in range(q):
        left = jnp.eye(q)[j]
        if columns:
            done = jnp.stack(columns, axis=-1)  # (b, q, j)
            left = left - jnp.einsum("bik,bk->bi", done, factor[:, j, :j])
        columns.append(jnp.broadcast_to(left / factor[:, j, j, None], factor.shape[:2]))
    return jnp.stack(columns, axis=-1)
