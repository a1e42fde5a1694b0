"""The matrix `P = L L^T + D`, low rank plus diagonal: solves, a root and a determinant in O(n k).

Notation: `L (n, k)`, `D` a diagonal with positive entries (one number or `n`), `W = D^(-1/2) L`,
`W^T W = V diag(a) V^T` (k x k). Then `P = D^(1/2) (I + W W^T) D^(1/2)` and, for any function f,

    f(I + W W^T) = f(1) I + W V diag((f(1 + a) - f(1)) / a) V^T W^T,

where the quotient is written without its removable singularity at a = 0, so that zero columns
of `L` do no harm. With f(t) = 1/t this is the identity of Woodbury.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class WoodburyPreconditioner(eqx.Module):
    """`P = L L^T + D`; made by `woodbury_preconditioner`."""

    scale: Float[Array, " n"]
    basis: Float[Array, "n k"]
    squares: Float[Array, " k"]

    def solve(self, v: Float[Array, "n s"]) -> Float[Array, "n s"]:
        """`P^-1 v`."""
        v = v / self.scale[:, None]
        v = v - self._low_rank(1.0 / (1.0 + self.squares), v)
        return v / self.scale[:, None]

    def inverse_root(self, v: Float[Array, "n s"]) -> Float[Array, "n s"]:
        """`R v`, where `R R^T = P^-1`."""
        return self._symmetric_root(v) / self.scale[:, None]

    def inverse_root_transposed(self, v: Float[Array, "n s"]) -> Float[Array, "n s"]:
        """`R^T v`, where `R R^T = P^-1`."""
        return self._symmetric_root(v / self.scale[:, None])

    @property
    def logdet(self) -> Float[Array, ""]:
        """`log |P|`."""
        return jnp.sum(jnp.log1p(self.squares)) + 2.0 * jnp.sum(jnp.log(self.scale))

    def _symmetric_root(self, v: Array) -> Array:
        root = jnp.sqrt(1.0 + self.squares)
        return v - self._low_rank(1.0 / (root * (1.0 + root)), v)

    def _low_rank(self, weight: Array, v: Array) -> Array:
        return self.basis @ (weight[:, None] * (self.basis.T @ v))


def woodbury_preconditioner(
    L: Float[Array, "n k"], noise: float | Float[Array, ...]
) -> WoodburyPreconditioner:
    """`P = L L^T + noise`, where `noise` is one variance or one of each row."""
    scale = jnp.sqrt(jnp.broadcast_to(jnp.asarray(noise, dtype=jnp.float64), L.shape[:1]))
    W = L / scale[:, None]
    squares, V = jnp.linalg.eigh(W.T @ W)
    return WoodburyPreconditioner(scale, W @ V, jnp.maximum(squares, 0.0))
