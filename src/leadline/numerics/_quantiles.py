"""Quantiles from uniform numbers, traceable and differentiable.

Notation: shape `a > 0`, probability `p` in (0, 1), `x` the quantile: P(a, x) = p, where P is the
regularized lower incomplete gamma function and Q = 1 - P.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.scipy.special import gammainc, gammaincc, gammaln, ndtri
from jaxtyping import Array, Float

_EDGE = 2.0**-53
_STEPS = 8


def normal_quantile(u: Float[Array, ...]) -> Float[Array, ...]:
    """Standard normal quantiles; uniform numbers that are exactly 0 or 1 stay finite."""
    return ndtri(jnp.clip(u, _EDGE, 1.0 - _EDGE))


def gamma_quantile(a: Float[Array, ...], u: Float[Array, ...]) -> Float[Array, ...]:
    """Quantiles of the gamma law with shape `a` and unit rate, differentiable in both arguments.

    Uniform numbers that are exactly 0 or 1 stay finite.
    """
    a, u = jnp.broadcast_arrays(jnp.asarray(a, jnp.float64), u)
    return _gamma_quantile(a, jnp.clip(u, _EDGE, 1.0 - _EDGE))


@jax.custom_jvp
def _gamma_quantile(a: Array, p: Array) -> Array:
    """Halley's method on the logarithm of the nearer tail, as a function of t = log x.

    Both tails have logarithms that are close to linear in t far out (slope a below), so that a few
    steps do from the Wilson-Hilferty start, or from the leading term of P near zero.
    """
    q = 1.0 - p
    low = p < 0.5
    near_zero = (jnp.log(p) + gammaln(a + 1.0)) / a
    cube = 1.0 - 1.0 / (9.0 * a) + ndtri(p) / (3.0 * jnp.sqrt(a))
    wilson_hilferty = jnp.log(a) + 3.0 * jnp.log(jnp.maximum(cube, 1e-3))
    t = jnp.where((cube < 0.2) & low, near_zero, wilson_hilferty)
    target = jnp.log(jnp.where(low, p, q))

    def step(_, t):
        x = jnp.exp(t)
        tail = jnp.where(low, gammainc(a, x), gammaincc(a, x))
        log_tail = jnp.log(jnp.maximum(tail, 1e-300))
        # d log(tail) / dt = +-density * x / tail; its own logarithmic derivative is a - x -+ slope.
        slope = jnp.exp(a * t - x - gammaln(a) - log_tail) * jnp.where(low, 1.0, -1.0)
        newton = (log_tail - target) / slope
        bend = a - x - slope
        damping = jnp.clip(1.0 - 0.5 * newton * bend, 0.5, 2.0)
        return t - jnp.clip(newton / damping, -4.0, 4.0)

    # A quantile that underflows would turn into an infinite frequency.
    return jnp.exp(jnp.maximum(jax.lax.fori_loop(0, _STEPS, step, t), -660.0))


@_gamma_quantile.defjvp
def _gamma_quantile_jvp(primals, tangents):
    (a, p), (da, dp) = primals, tangents
    x = _gamma_quantile(a, p)
    density = jnp.exp((a - 1.0) * jnp.log(x) - x - gammaln(a))
    return x, jax.lax.random_gamma_grad(a, x, dtype=x.dtype) * da + dp / density
