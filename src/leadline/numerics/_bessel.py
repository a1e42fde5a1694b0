"""The Bessel profile: the modified Bessel function K with its singularity at zero divided out.

Notation: `z = sqrt(w)`, order `a` (a static number), and

    F_a(w)  = z^a K_a(z),          F_a(0) = 2^(a-1) Gamma(a)   for a > 0
    F_-a(w) = F_a(w) / z^(2 a)
    d/dw F_a(w) = -F_(a-1)(w) / 2,

so the derivative of a profile is again a profile, which is how derivatives of any order are taken
here. `a = mu + k` with `|mu| <= 1/2` and an integer `k >= 0`. K_mu and K_(mu+1) come from Temme's
series for z <= 2 (Temme 1975) and from a Chebyshev interpolant of sqrt(z) e^z K in 4/z - 1 beyond,
whose coefficients are computed once for each order. The recurrence in the order,
F_(j+1) = 2 j F_j + w F_(j-1), has positive terms only, and is carried out on the logarithm and the
ratio of neighbors: nothing overflows, whatever the order.
"""

from __future__ import annotations

from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from leadline.numerics._chebyshev import chebyshev_coefficients, chebyshev_value

_SERIES_TERMS = 16
_CHEBYSHEV_DEGREE = 32
_SWITCH = 2.0


@partial(jax.custom_jvp, nondiff_argnums=(0, 1))
def bessel_profile(order: float, log_factor: float, w: Float[Array, ...]) -> Float[Array, ...]:
    """exp(log_factor) F_order(w), elementwise for w >= 0, with exact derivatives in `w`.

    At w = 0 an order that is not positive has an infinite value; it is given as 0, so that the
    gradient of a rough kernel at zero distance is 0 instead of not a number.
    """
    safe = jnp.where(w > 0, w, 1.0)
    value = jnp.exp(log_factor + _log_profile(order, safe))
    at_zero = _value_at_zero(order, log_factor)
    return jnp.where(w > 0, value, at_zero)


@bessel_profile.defjvp
def _bessel_profile_jvp(order, log_factor, primals, tangents):
    (w,), (dw,) = primals, tangents
    slope = -0.5 * bessel_profile(order - 1.0, log_factor, w)
    return bessel_profile(order, log_factor, w), slope * dw


def _value_at_zero(order: float, log_factor: float) -> float:
    if order <= 0:
        return 0.0
    return float(np.exp(log_factor + (order - 1.0) * np.log(2.0) + scipy.special.gammaln(order)))


def _log_profile(order: float, w: Array) -> Array:
    """log F_order(w) for w > 0."""
    a = abs(order)
    steps = int(np.ceil(a - 0.5))
    mu = a - steps
    z = jnp.sqrt(w)
    log_w = jnp.log(w)
    lower, upper = _neighbors(mu, z)
    if steps == 0:
        log_f = 0.5 * a * log_w + jnp.log(lower)
    else:
        log_f = 0.5 * (mu + 1.0) * log_w + jnp.log(upper)
        start = (log_f, lower / (z * upper))
        log_f, _ = jax.lax.fori_loop(1, steps, partial(_raise_order, mu, w), start)
    log_f = log_f - z
    return log_f if order >= 0 else log_f - a * log_w


def _raise_order(mu, w, k, state):
    """From log F_j and F_(j-1) / F_j to order j + 1, with j = mu + k."""
    log_f, ratio = state
    growth = 2.0 * (mu + k) + w * ratio
    return log_f + jnp.log(growth), 1.0 / growth


def _neighbors(mu: float, z: Array) -> tuple[Array, Array]:
    """e^z K_mu(z) and e^z K_(mu+1)(z) for |mu| <= 1/2."""
    small = jnp.minimum(z, _SWITCH)
    large = jnp.maximum(z, _SWITCH)
    series = _temme(mu, small)
    chebyshev = (
        chebyshev_value(_coefficients(order), 4.0 / large - 1.0) for order in (mu, mu + 1.0)
    )
    e, root = jnp.exp(small), jnp.sqrt(large)
    lower, upper = (
        jnp.where(z <= _SWITCH, e * s, c / root) for s, c in zip(series, chebyshev, strict=True)
    )
    return lower, upper


def _temme(mu: float, z: Array) -> tuple[Array, Array]:
    """K_mu(z) and K_(mu+1)(z) for 0 < z <= 2."""
    gamma1, gamma2 = _temme_gammas(mu)
    log_ratio = jnp.log(2.0 / z)
    sigma = mu * log_ratio
    e = jnp.exp(sigma)
    sinhc = jnp.where(
        jnp.abs(sigma) > 1e-3,
        (e - 1.0 / e) / jnp.where(sigma == 0, 1.0, 2.0 * sigma),
        1.0 + sigma**2 / 6.0,
    )
    f = (gamma1 * 0.5 * (e + 1.0 / e) + gamma2 * sinhc * log_ratio) / float(np.sinc(mu))
    p = 0.5 * e * float(scipy.special.gamma(1.0 + mu))
    q = 0.5 / e * float(scipy.special.gamma(1.0 - mu))
    quarter = 0.25 * z * z
    c = jnp.ones_like(z)
    lower, upper = f, p
    for k in range(1, _SERIES_TERMS):
        f = (k * f + p + q) / (k * k - mu * mu)
        p, q, c = p / (k - mu), q / (k + mu), c * quarter / k
        lower, upper = lower + c * f, upper + c * (p - k * f)
    return lower, 2.0 / z * upper


@lru_cache
def _temme_gammas(mu: float) -> tuple[float, float]:
    """[1/Gamma(1-mu) -+ 1/Gamma(1+mu)] / (2 mu or 2), from the Taylor series of 1/Gamma."""
    circle = np.exp(2j * np.pi * np.arange(64) / 64)
    taylor = np.fft.fft(scipy.special.rgamma(1.0 + circle)).real / 64
    odd, even = taylor[1:32:2], taylor[0:32:2]
    squares = mu ** (2 * np.arange(16))
    return -float(odd @ squares), float(even @ squares)


@lru_cache
def _coefficients(order: float) -> tuple[float, ...]:
    """Chebyshev coefficients of sqrt(z) e^z K_order(z) in t = 4/z - 1 for z >= 2."""

    def target(t):
        z = 4.0 / np.maximum(t + 1.0, 1e-300)
        return np.sqrt(z) * scipy.special.kve(order, z)

    return chebyshev_coefficients(target, _CHEBYSHEV_DEGREE)
