"""The collapsed variational bound of sparse regression, from its matrices, with its own gradient.

Notation: as in `_titsias`: m inducing points, n rows; K_uu = L L^T, A = L^-1 K_uf D^-1/2,
B = I + A A^T = L_B L_B^T, Q = K_fu K_uu^-1 K_uf, v = B^-1 A D^-1/2 r.

    bound = log N(r | 0, Q + D) - 1/2 tr(D^-1 (K_ff - Q))

The derivative in Q is G = (w w^T + U^T U) / 2 with w = (Q + D)^-1 r and U = L_B^-1 A D^-1/2. Its
rank is m + 1, so it is never formed. With P = K_uu^-1 K_uf and
dQ = dK_fu P + P^T dK_uf - P^T dK_uu P,

    d/dK_uf = 2 P G = (P w) w^T + (P U^T) U,       d/dK_uu = -P G P^T,

without reverse mode through either factorization.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.numerics import cholesky, log_determinant, solve_factored, solve_lower

_LOG_2PI = float(np.log(2.0 * np.pi))


class Blocks(NamedTuple):
    """What the bound reads: `variance` is the diagonal of K_ff, `noise` that of D.

    Padded rows have zeros in `kuf`, `variance`, `r` and `mask`, and ones in `noise`.
    """

    kuu: Float[Array, "m m"]
    kuf: Float[Array, "m n"]
    variance: Float[Array, " n"]
    r: Float[Array, " n"]
    noise: Float[Array, " n"]
    mask: Float[Array, " n"]


class Optimum(NamedTuple):
    """The optimal q(u) = N(L v, L B^-1 L^T), and what the bound needs of it.

    `misfit` is D^-1/2 (r - E[f]); `unexplained` is the diagonal of D^-1 (K_ff - Q).
    """

    factor: Float[Array, "m m"]
    precision_factor: Float[Array, "m m"]
    v: Float[Array, " m"]
    a: Float[Array, "m n"]
    misfit: Float[Array, " n"]
    unexplained: Float[Array, " n"]


def optimal_q(blocks: Blocks) -> Optimum:
    """The distribution of the inducing values that maximizes the bound (Titsias 2009)."""
    root = jnp.sqrt(blocks.noise)
    factor = cholesky(blocks.kuu)
    a = solve_lower(factor, blocks.kuf) / root
    precision_factor = cholesky(jnp.eye(a.shape[0]) + a @ a.T)
    r = blocks.r / root
    v = solve_factored(precision_factor, a @ r)
    unexplained = blocks.variance / blocks.noise - jnp.sum(a * a, axis=0)
    return Optimum(factor, precision_factor, v, a, r - a.T @ v, unexplained)


def bound_at(blocks: Blocks, q: Optimum) -> Float[Array, ""]:
    """The bound, given the optimal q."""
    # r^T (Q + D)^-1 r is the ridge objective at its minimum v: a sum of squares, where the usual
    # difference of two large numbers would cancel.
    square = q.misfit @ q.misfit + q.v @ q.v
    logdet = log_determinant(q.precision_factor) + jnp.sum(jnp.log(blocks.noise))
    constant = jnp.sum(blocks.mask) * _LOG_2PI
    return -0.5 * (square + logdet + jnp.sum(q.unexplained) + constant)


@jax.custom_vjp
def collapsed_bound(blocks: Blocks) -> Float[Array, ""]:
    """The lower bound on log p(y) (Titsias 2009)."""
    return bound_at(blocks, optimal_q(blocks))


def _forward(blocks):
    q = optimal_q(blocks)
    return bound_at(blocks, q), (q, blocks.noise)


def _backward(saved, g):
    q, noise = saved
    root = jnp.sqrt(noise)
    w = q.misfit / root
    u = solve_lower(q.precision_factor, q.a / root)
    p = jax.scipy.linalg.solve_triangular(q.factor, q.a * root, lower=True, trans=1)
    pw, pu = p @ w, p @ u.T
    gradient = Blocks(
        kuu=-0.5 * (jnp.outer(pw, pw) + pu @ pu.T),
        kuf=jnp.outer(pw, w) + pu @ u,
        variance=-0.5 / noise,
        r=-w,
        # The diagonal of (Q + D)^-1 is 1 / D - sum U^2.
        noise=0.5 * (w * w + jnp.sum(u * u, axis=0) + (q.unexplained - 1.0) / noise),
        mask=jnp.zeros_like(noise),
    )
    return (jax.tree.map(lambda d: g * d, gradient),)


collapsed_bound.defvjp(_forward, _backward)
