"""Expected improvement on the best value so far, in closed form, and its logarithm.

Notation: the function at x is normal with mean m and standard deviation s; `best` is what there is
to improve on; z = (m - best) / s; phi and Phi are the standard normal density and its integral.

    EI(x) = E max(f(x) - best, 0) = s h(z),    h(z) = phi(z) + z Phi(z),    h'(z) = Phi(z)

EI is 0 in floating point over most of a space after a few calls, and its gradient with it. The
logarithm is not (Ament et al. 2023): log h and its derivative Phi / h are evaluated in pieces.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.scipy.special import erfcx, ndtr
from jaxtyping import Array, Float

from leadline.acquisition._acquisition import Acquisition
from leadline.models import Posterior
from leadline.numerics import InvalidData, Unsupported

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_SQRT_HALF_PI = math.sqrt(0.5 * math.pi)
# Below this z four terms of the series of 1 - |z| M are exact to 1e-13.
_FAR = -100.0
# A marginal without any uncertainty still has a logarithm.
_LEAST_STD = 1e-150


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


class _Improvement(Acquisition):
    """What both forms share: the posterior and the value to improve on."""

    posterior: Posterior
    best: Float[Any, ""]

    def __check_init__(self):
        if not type(self.posterior).gaussian:
            raise Unsupported(
                f"{type(self.posterior).__name__} has no normal marginals, which "
                f"{type(self).__name__} needs."
            )

    def _standardized(self, x: Any) -> tuple[Array, Array]:
        """`z` and the logarithm of the standard deviation at each of `b` single points."""
        if x.ndim != 3 or x.shape[1] != 1:
            raise InvalidData(
                f"{type(self).__name__} is of one point at a time, so it takes (b, 1, d), "
                f"got {x.shape}."
            )
        marginal = self.posterior.predict(x[:, 0, :])
        # The root of 0 has no derivative.
        std = jnp.sqrt(jnp.maximum(marginal.var, _LEAST_STD**2))
        return (marginal.mean - self.best) / std, jnp.log(std)


class LogExpectedImprovement(_Improvement):
    """The logarithm of the expected improvement on `best`."""

    logarithmic: ClassVar[bool] = True

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """Log EI at each of `b` points."""
        z, log_std = self._standardized(x)
        return log_h(z) + log_std


class ExpectedImprovement(_Improvement):
    """The expected improvement on `best`."""

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """EI at each of `b` points."""
        z, log_std = self._standardized(x)
        return jnp.exp(log_h(z) + log_std)
