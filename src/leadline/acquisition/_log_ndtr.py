"""The logarithm of the normal distribution function, with a derivative that holds in the tail."""

from __future__ import annotations

import math

import jax
from jax.scipy.special import erfcx
from jax.scipy.special import log_ndtr as _log_ndtr
from jaxtyping import Array, Float

_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)


@jax.custom_jvp
def log_ndtr(z: Float[Array, ...]) -> Float[Array, ...]:
    """Log Phi(z), with a derivative phi / Phi that is exact in the tail.

    JAX's own derivative is the exponential of a difference of two numbers near z^2 / 2, of which no
    digit is left at z = -1e8.
    """
    return _log_ndtr(z)


@log_ndtr.defjvp
def _log_ndtr_jvp(primals, tangents):
    (z,), (dz,) = primals, tangents
    return log_ndtr(z), dz * _SQRT_2_OVER_PI / erfcx(-z * 0.5**0.5)
