"""Quantiles from uniform numbers, traceable and differentiable.

Notation: shape `a > 0`, probability `p` in (0, 1), `x` the quantile: P(a, x) = p, where P is the
regularized lower incomplete gamma function and Q = 1 - P.
"""

from __future__ import annotations

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jax.scipy.special import gammaln, ndtri
from jaxtyping import Array, Float

from leadline.numerics._chebyshev import chebyshev_coefficients, chebyshev_value

_EDGE = 2.0**-53
_WIDEST = 8.3  # beyond the normal quantile of _EDGE
_DEGREE = 120
_STEPS = 8
_TERMS = 5000


def normal_quantile(u: Float[Array, ...]) -> Float[Array, ...]:
    """Standard normal quantiles; uniform numbers that are exactly 0 or 1 stay finite."""
    return ndtri(jnp.clip(u, _EDGE, 1.0 - _EDGE))


def gamma_quantile(a: float | Float[Array, ...], u: Float[Array, ...]) -> Float[Array, ...]:
    """Quantiles of the gamma law with shape `a` and unit rate, differentiable in both arguments.

    A shape that is a Python number is part of the program: its quantile function is then a series
    in the normal quantile, which compiles in a fraction of the time. Uniform numbers that are
    exactly 0 or 1 stay finite.
    """
    if isinstance(a, float):
        return jnp.exp(chebyshev_value(_log_quantile(a), normal_quantile(u) / _WIDEST))
    a, u = jnp.broadcast_arrays(a, u)
    return _gamma_quantile(a, jnp.clip(u, _EDGE, 1.0 - _EDGE))


@lru_cache
def _log_quantile(a: float) -> tuple[float, ...]:
    """The logarithm of the quantile as a series in z / _WIDEST, where P(a, x) = Phi(z)."""

    def target(t):
        z = _WIDEST * t
        lower, upper = scipy.special.ndtr(z), scipy.special.ndtr(-z)
        below = scipy.special.gammaincinv(a, lower)
        x = np.where(z < 0, below, scipy.special.gammainccinv(a, upper))
        near_zero = (scipy.special.log_ndtr(z) + scipy.special.gammaln(a + 1.0)) / a
        return np.where(x > 1e-280, np.log(np.maximum(x, 1e-280)), np.maximum(near_zero, -660.0))

    return chebyshev_coefficients(target, _DEGREE)


@jax.custom_jvp
def _gamma_quantile(a: Array, p: Array) -> Array:
    """Halley's method on log(P / Q) as a function of t = log x, which is nearly linear far out.

    It starts from the approximation of Wilson and Hilferty, or from the leading term of P near
    zero. Quantiles up to 0.999 are found from P, those above it from Q.
    """
    target = jnp.log(p) - jnp.log1p(-p)
    cube = 1.0 - 1.0 / (9.0 * a) + ndtri(p) / (3.0 * jnp.sqrt(a))
    wilson_hilferty = jnp.log(a) + 3.0 * jnp.log(jnp.maximum(cube, 1e-3))
    near_zero = (jnp.log(p) + gammaln(a + 1.0)) / a
    start = jnp.where((cube < 0.2) & (p < 0.5), near_zero, wilson_hilferty)

    def step(_, t):
        x = jnp.exp(t)
        density = jnp.exp(a * t - x - gammaln(a))  # of t
        below = jnp.minimum(density * _lower_series(a, x), 1.0 - 1e-16)
        above = density * _upper_fraction(a, jnp.where(p > 0.999, x, a + 1.0))
        lower = jnp.maximum(jnp.where(p > 0.999, 1.0 - above, below), 1e-300)
        upper = jnp.maximum(jnp.where(p > 0.999, above, 1.0 - below), 1e-300)
        slope = density / (lower * upper)
        newton = (jnp.log(lower) - jnp.log(upper) - target) / slope
        bend = a - x - slope * (upper - lower)
        damping = jnp.clip(1.0 - 0.5 * newton * bend, 0.5, 2.0)
        return t - jnp.clip(newton / damping, -4.0, 4.0)

    # A quantile that underflows would turn into an infinite frequency.
    return jnp.exp(jnp.maximum(jax.lax.fori_loop(0, _STEPS, step, start), -660.0))


def _lower_series(a: Array, x: Array) -> Array:
    """P(a, x) Gamma(a) e^x / x^a = sum_n x^n / (a (a + 1) ... (a + n))."""

    def more(state):
        n, term, total = state
        return (n < _TERMS) & jnp.any(term > 1e-17 * total)

    def add(state):
        n, term, total = state
        term = term * x / (a + n)
        return n + 1.0, term, total + term

    return jax.lax.while_loop(more, add, (1.0, 1.0 / a, 1.0 / a))[2]


def _upper_fraction(a: Array, x: Array) -> Array:
    """Q(a, x) Gamma(a) e^x / x^a by Legendre's continued fraction (Lentz), for x beyond a + 1."""

    def more(state):
        n, _, _, _, change = state
        return (n < _TERMS) & jnp.any(jnp.abs(change - 1.0) > 1e-15)

    def refine(state):
        n, c, d, value, _ = state
        numerator, denominator = -n * (n - a), x + 2.0 * n + 1.0 - a
        d = 1.0 / (denominator + numerator * d)
        c = denominator + numerator / c
        return n + 1.0, c, d, value * c * d, c * d

    d = 1.0 / (x + 1.0 - a)
    return jax.lax.while_loop(
        more, refine, (1.0, jnp.full_like(x, 1e300), d, d, jnp.zeros_like(x))
    )[3]


@_gamma_quantile.defjvp
def _gamma_quantile_jvp(primals, tangents):
    (a, p), (da, dp) = primals, tangents
    x = _gamma_quantile(a, p)
    density = jnp.exp((a - 1.0) * jnp.log(x) - x - gammaln(a))
    by_shape = jax.lax.random_gamma_grad(a, x)  # pyright: ignore[reportCallIssue]
    return x, by_shape * da + dp / density
