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
from jax.scipy.special import erfcx, ndtr
from jaxtyping import Array, Float

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
# Below this z four terms of the series of 1 - |z| M are exact to 1e-13.
_FAR = -100.0


def _deficit(z: Array) -> Array:
    """1 - |z| M(z) for z <= -1, with Mills' ratio M = Phi / phi: then h = phi times the deficit."""
    tail = jnp.clip(z, _FAR, -1.0)
    difference = 1.0 + tail * _SQRT_HALF_PI * erfcx(-tail * 0.5**0.5)
    # The difference loses its digits to cancellation where z is large; its series does not.
    inverse = 1.0 / jnp.minimum(z, -1.0) ** 2
    series = inverse * (1.0 - inverse * (3.0 - inverse * (15.0 - 105.0 * inverse)))
    return jnp.where(z < _FAR, series, difference)


@jax.custom_jvp
def log_h(z: Float[Array, ...]) -> Float[Array, ...]:
    """The logarithm of h(z) = phi(z) + z Phi(z), for every finite z."""
    near = jnp.maximum(z, -1.0)
    density = jnp.exp(-0.5 * near**2 - _LOG_SQRT_2PI)
    far = -0.5 * z**2 - _LOG_SQRT_2PI + jnp.log(_deficit(z))
    return jnp.where(z > -1.0, jnp.log(density + near * ndtr(near)), far)


@log_h.defjvp
def _log_h_jvp(primals, tangents):
    (z,), (dz,) = primals, tangents
    value, deficit = log_h(z), _deficit(z)
    far = (1.0 - deficit) / (deficit * jnp.maximum(-z, 1.0))
    return value, dz * jnp.where(z > -1.0, ndtr(z) * jnp.exp(-value), far)


def log_expected_excess(mean: Any, std: Any, threshold: Any) -> Array:
    """Log E max(y - threshold, 0) of a normal y with a positive standard deviation."""
    return log_h((mean - threshold) / std) + jnp.log(std)


def expected_excess(mean: Any, std: Any, threshold: Any) -> Array:
    """E max(y - threshold, 0) of a normal y with a positive standard deviation."""
    return jnp.exp(log_expected_excess(mean, std, threshold))
