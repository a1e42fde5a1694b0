"""One-dimensional Matern kernels averaged over a Gaussian difference.

Notation: `kappa(delta, s2) = E[k(tau)]`, `tau ~ N(delta, s2)`, for k of unit length scale (divide
`delta` by the length scale and `s2` by its square); `lam = sqrt(2 nu)`, `s = sqrt(s2)`,
`a = (m - lam s2) / s`, `phi = exp(-m^2 / (2 s2)) / sqrt(2 pi)`. Everything follows from

    M_n(m) = E[tau^n e^(-lam tau); tau > 0] = s^n phi h_n(a),   tau ~ N(m, s2),
    h_n(a) = int_0^inf t^n e^(a t - t^2 / 2) dt,
    I_n = M_n(delta) + M_n(-delta),   J_n = M_n(delta) - M_n(-delta).

The recursions for h_1 and h_2 cancel where `a` is very negative (a kernel much narrower than the
Gaussian), down to negative answers; an asymptotic series takes over there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jax.scipy.special import erfcx, ndtr
from jaxtyping import Array, Float

# Where the series takes over. With 16 terms both sides are right to 1e-12 there; the 8 terms of
# the usual recipe are right to 2e-9.
_SERIES_BELOW = -12.0
_TERMS = np.arange(16)
# A variance of zero is a kernel that is not averaged at all: this is as good, and divides.
_LEAST_VARIANCE = 1e-60


def smoothed_matern(
    nu: float, delta: Float[Array, ...], s2: Float[Array, ...]
) -> Float[Array, ...]:
    """`kappa(delta, s2)` for nu = 1/2, 3/2 or 5/2, with its own first derivatives.

    It replaces the Gauss-Hermite rule of Naiff (2019, 4.19-4.22), whose nodes miss a kernel that
    is narrow against the Gaussian.
    """
    return _smoothed_matern(nu, *jnp.broadcast_arrays(delta, s2))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _smoothed_matern(nu, delta, s2):
    lam, _, i, _ = _integrals(nu, delta, s2)
    if nu == 0.5:
        return i[0]
    if nu == 1.5:
        return i[0] + lam * i[1]
    return i[0] + lam * i[1] + lam**2 / 3.0 * i[2]


@_smoothed_matern.defjvp
def _smoothed_matern_jvp(nu, primals, tangents):
    """The derivative in `s2` is half the second derivative in `delta` (the heat equation)."""
    (delta, s2), (d_delta, d_s2) = primals, tangents
    lam, density, i, j = _integrals(nu, delta, s2)
    if nu == 0.5:
        slope = -lam * j[0]
        heat = 0.5 * (lam**2 * i[0] - 2.0 * lam * density)
    elif nu == 1.5:
        slope = -(lam**2) * j[1]
        heat = -0.5 * lam**2 * (i[0] - lam * i[1])
    else:
        slope = -(lam**2) / 3.0 * (j[1] + lam * j[2])
        heat = -(lam**2) / 6.0 * (i[0] + lam * i[1] - lam**2 * i[2])
    return _smoothed_matern(nu, delta, s2), slope * d_delta + heat * d_s2


def _integrals(nu: float, delta: Array, s2: Array) -> tuple[float, Array, Array, Array]:
    """lam, the density of `tau` at zero, and `I_n`, `J_n` for n = 0 .. nu - 1/2."""
    lam, orders = float(np.sqrt(2.0 * nu)), int(nu + 0.5)
    s2 = jnp.maximum(s2, _LEAST_VARIANCE)
    both = _half_moments(lam, orders, jnp.stack([delta, -delta]), s2)
    plus, minus = both[:, 0], both[:, 1]
    return lam, _density_at_zero(delta, s2), plus + minus, plus - minus


def _density_at_zero(m: Array, s2: Array) -> Array:
    return jnp.exp(-0.5 * m * m / s2) / jnp.sqrt(2.0 * jnp.pi * s2)


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def _half_moments(lam: float, orders: int, m: Array, s2: Array) -> Array:
    """`M_n(m)` for n = 0, 1, ..., along a new first axis; `m` may have more axes than `s2`."""
    s = jnp.sqrt(s2)
    a = m / s - lam * s
    phi = jnp.exp(-0.5 * m * m / s2) / jnp.sqrt(2.0 * jnp.pi)

    # a > 0: every term is positive, and the exponent negative.
    up = jnp.where(a > 0.0, a, 0.0)
    p = jnp.exp(jnp.where(a > 0.0, lam * (0.5 * lam * s2 - m), 0.0)) * ndtr(up)
    right = (p, s * (up * p + phi), s2 * ((up * up + 1.0) * p + up * phi))

    down = jnp.clip(a, _SERIES_BELOW, 0.0)
    r = jnp.sqrt(0.5 * jnp.pi) * erfcx(-down / np.sqrt(2.0))
    middle = (r, 1.0 + down * r, (down * down + 1.0) * r + down)

    far = a < _SERIES_BELOW
    q = -1.0 / jnp.where(far, a, _SERIES_BELOW)

    def moment(n):
        h = jnp.where(far, _series(n, q), middle[n])
        return jnp.where(a > 0.0, right[n], s**n * phi * h)

    return jnp.stack([moment(n) for n in range(orders)])


def _series(n: int, q: Array) -> Array:
    """`h_n(-1/q) = sum_k (-1/2)^k / k! (n + 2k)! q^(n + 2k + 1)`, by Horner's rule."""
    factorial = scipy.special.factorial
    coefficients = (-0.5) ** _TERMS / factorial(_TERMS) * factorial(n + 2 * _TERMS)
    return q ** (n + 1) * jnp.polyval(jnp.asarray(coefficients[::-1]), q * q)


@_half_moments.defjvp
def _half_moments_jvp(lam, orders, primals, tangents):
    """By parts: `M_n' = n M_(n-1) - lam M_n`, plus the density at zero if n = 0; twice for s2."""
    (m, s2), (d_m, d_s2) = primals, tangents
    M = _half_moments(lam, orders, m, s2)
    f = _density_at_zero(m, s2)
    edge_of_slope, edge_of_bend = (f, 0.0, 0.0), (-(m / s2 + lam) * f, f, 0.0)

    def step(n):
        one, two = (M[n - i] if n >= i else 0.0 for i in (1, 2))
        slope = n * one - lam * M[n] + edge_of_slope[n]
        bend = n * (n - 1) * two - 2.0 * lam * n * one + lam**2 * M[n] + edge_of_bend[n]
        return slope * d_m + 0.5 * bend * d_s2

    return M, jnp.stack([step(n) for n in range(orders)])


def gauss_hermite_mean(
    function: Callable[[Array], Array],
    delta: Float[Array, ...],
    s2: Float[Array, ...],
    nodes: int = 32,
) -> Float[Array, ...]:
    """`E[function(tau)]`, `tau ~ N(delta, s2)`, by Gauss-Hermite quadrature (Naiff 2019, 4.19).

    For any one-dimensional function: a stationary kernel of the difference, say. It converges
    slowly for functions with a kink, and misses those that are narrow against `s2`.
    """
    points, weights = np.polynomial.hermite.hermgauss(nodes)
    tau = delta[..., None] + jnp.sqrt(2.0 * s2)[..., None] * points
    return function(tau) @ jnp.asarray(weights / np.sqrt(np.pi))
