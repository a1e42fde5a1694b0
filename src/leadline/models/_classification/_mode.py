"""The mode of a latent Gaussian vector seen through a logistic link, and Laplace's evidence there.

Notation: as in `_laplace`: `k (n, n)` prior covariance, `m (n,)` prior mean, labels `z`, weights
`omega`; g = f - m = K a; W = omega sigmoid(f) sigmoid(-f), B = I + W^1/2 K W^1/2.

    psi(a) = -1/2 a^T g + log p(z | m + g),      log evidence = psi - 1/2 log |B|  at the mode

The logistic function is evaluated in forms that neither overflow nor cancel: log sigmoid for the
likelihood, sigmoid(-f) and not 1 - sigmoid(f) for its gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.numerics import cholesky, inverse_factored, log_determinant, solve_factored

# Newton's method takes its last step when that step promises less than this part of the objective;
# it converges quadratically, so what is left after it is rounding error.
_TOLERANCE = 1e-12
_MOST_STEPS = 100
_ARMIJO = 1e-4
_SHORTEST = 1e-9


class Mode(NamedTuple):
    """The mode and the curvature there: `f = m + k a`, the diagonal of W^1/2, and B's factor."""

    f: Float[Array, " n"]
    a: Float[Array, " n"]
    root: Float[Array, " n"]
    factor: Float[Array, "n n"]
    log_evidence: Float[Array, ""]


def laplace_mode(
    k: Float[Array, "n n"],
    m: Float[Array, " n"],
    z: Float[Array, " n"],
    weight: Float[Array, " n"],
) -> Mode:
    """Newton's method with step halving (Rasmussen and Williams 2006, algorithm 3.1)."""

    def objective(a, g):
        return -0.5 * (a @ g) + _log_likelihood(m + g, z, weight)

    def step(state):
        gradient, root, factor = _curvature(k, m + state.g, z, weight)
        b = root**2 * state.g + gradient
        da = b - root * solve_factored(factor, root * (k @ b)) - state.a
        dg = k @ da
        value = objective(state.a, state.g)
        promised = dg @ (gradient - state.a)
        last = promised <= _TOLERANCE * (1.0 + jnp.abs(value))

        def too_long(t):
            reached = objective(state.a + t * da, state.g + t * dg)
            return ~last & ~(reached >= value + _ARMIJO * t * promised) & (t > _SHORTEST)

        t = jax.lax.while_loop(too_long, lambda t: 0.5 * t, jnp.ones(()))
        there = last | (t <= _SHORTEST) | (state.steps == _MOST_STEPS)
        t = jnp.where(state.there, 0.0, t)
        a, g = state.a + t * da, state.g + t * dg
        return _Newton(a, g, root, factor, state.steps + 1, there, state.there)

    n = m.shape[0]
    zeros, no = jnp.zeros(n), jnp.asarray(False)
    start = _Newton(zeros, zeros, zeros, jnp.eye(n), jnp.asarray(0), no, no)
    end = jax.lax.while_loop(lambda state: ~state.done, step, start)
    evidence = objective(end.a, end.g) - 0.5 * log_determinant(end.factor)
    return Mode(m + end.g, end.a, end.root, end.factor, evidence)


class _Newton(NamedTuple):
    a: Array
    g: Array
    root: Array
    factor: Array
    steps: Array
    there: Array  # the next turn only measures the curvature
    done: Array


def _log_likelihood(f: Array, z: Array, weight: Array) -> Array:
    return jnp.sum(weight * jax.nn.log_sigmoid(jnp.where(z > 0.5, f, -f)))


def _curvature(k: Array, f: Array, z: Array, weight: Array) -> tuple[Array, Array, Array]:
    """The gradient of the log likelihood, the diagonal of W^1/2, and the factor of B."""
    above, below = jax.nn.sigmoid(f), jax.nn.sigmoid(-f)
    gradient = weight * jnp.where(z > 0.5, below, -above)
    root = jnp.sqrt(weight * above * below)
    return gradient, root, cholesky(jnp.eye(f.shape[0]) + root[:, None] * k * root)


@jax.custom_vjp
def laplace_log_evidence(
    k: Float[Array, "n n"],
    m: Float[Array, " n"],
    z: Float[Array, " n"],
    weight: Float[Array, " n"],
) -> Float[Array, ""]:
    """Laplace's approximation of log p(z), differentiable in the prior's `k` and `m`.

    The mode moves with the prior, and log |B| with the mode. At a fixed mode the derivatives are

        d/dK = (a a^T - R) / 2,   R = W^1/2 B^-1 W^1/2,         d/dm = a,

    the derivative of log |B| / 2 in f is s = (1 - diag B^-1) (1 - 2 sigmoid(f)) / 2 since
    dW/df = W (1 - 2 sigmoid(f)), and psi has none. The mode satisfies f = m + K a(f), hence
    df = (I + K W)^-1 (dm + dK a) with (I + K W)^-1 = I - K R. Together, with v = -(I - R K) s,

        d/dK = (a a^T - R + v a^T + a v^T) / 2,                 d/dm = a + v

    (Rasmussen and Williams 2006, algorithm 5.1, for all hyper-parameters at once). Labels and
    weights are data: no gradient flows to them.
    """
    return laplace_mode(k, m, z, weight).log_evidence


def _forward(k, m, z, weight):
    mode = laplace_mode(k, m, z, weight)
    return mode.log_evidence, (k, mode)


def _backward(saved, g):
    k, mode = saved
    a, root = mode.a, mode.root
    inverse = inverse_factored(mode.factor)
    r = root[:, None] * inverse * root
    s = 0.5 * (1.0 - jnp.diagonal(inverse)) * (jax.nn.sigmoid(-mode.f) - jax.nn.sigmoid(mode.f))
    v = r @ (k @ s) - s
    cross = v[:, None] * a
    d_k = 0.5 * (a[:, None] * a - r + cross + cross.T)
    return g * d_k, g * (a + v), None, None


laplace_log_evidence.defvjp(_forward, _backward)
