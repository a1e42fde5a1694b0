"""How far a normal value is expected to exceed a threshold, and the logarithm of it.

Notation: y ~ N(m, s^2), threshold t, z = (m - t) / s; phi and Phi are the standard normal density
and its integral.

    E max(y - t, 0) = s h(z),    h(z) = phi(z) + z Phi(z),    h'(z) = Phi(z)

It is 0 in floating point where z is below -38, and so is its gradient. The logarithm is not (Ament
et al. 2023): log h and its derivative Phi / h are evaluated in pieces.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy.special import erfcx
from jaxtyping import Array, Float

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
# Below this z four terms of the series of 1 - |z| M are exact to 1e-13.
_FAR = -100.0


def _log_h_and_slope(z: Array) -> tuple[Array, Array]:
    """The logarithm of h, and its derivative Phi / h, from one exponential and one Mills' ratio.

    With M = Phi(-|z|) / phi(z): above -1, h = phi + z Phi; below, h = phi times 1 - |z| M.
    """
    size = jnp.clip(jnp.abs(z), 0.0, -_FAR)
    mills = _SQRT_HALF_PI * erfcx(size * 0.5**0.5)
    log_density = -0.5 * z**2 - _LOG_SQRT_2PI
    density = jnp.exp(log_density)
    is_near = z > -1.0
    below = density * mills
    probability = jnp.where(z > 0.0, 1.0 - below, below)
    h = jnp.where(is_near, density + jnp.maximum(z, -1.0) * probability, 1.0)
    # The difference loses its digits to cancellation where z is large; its series does not.
    inverse = 1.0 / jnp.minimum(z, -1.0) ** 2
    series = inverse * (1.0 - inverse * (3.0 - inverse * (15.0 - 105.0 * inverse)))
    deficit = jnp.where(is_near, 1.0, jnp.where(z < _FAR, series, 1.0 - size * mills))
    value = jnp.where(is_near, jnp.log(h), log_density + jnp.log(deficit))
    far = (1.0 - deficit) / (deficit * jnp.maximum(-z, 1.0))
    return value, jnp.where(is_near, probability / h, far)


@jax.custom_jvp
def log_h(z: Float[Array, ...]) -> Float[Array, ...]:
    """The logarithm of h(z) = phi(z) + z Phi(z), for every finite z."""
    return _log_h_and_slope(z)[0]


@log_h.defjvp
def _log_h_jvp(primals, tangents):
    (z,), (dz,) = primals, tangents
    value, slope = _log_h_and_slope(z)
    return value, dz * slope


def log_expected_excess(mean: Any, std: Any, threshold: Any) -> Array:
    """Log E max(y - threshold, 0) of a normal y with a positive standard deviation."""
    return log_h((mean - threshold) / std) + jnp.log(std)


def expected_excess(mean: Any, std: Any, threshold: Any) -> Array:
    """E max(y - threshold, 0) of a normal y with a positive standard deviation."""
    return jnp.exp(log_expected_excess(mean, std, threshold))
