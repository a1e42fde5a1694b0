"""Mean functions and their integrals.

Notation: `x (n, d)`; a mean gives `(n,)`. `integral` is an ability. Every mean here is a polynomial
of degree two at most, so its integral against a probability measure needs the measure's mean and
variances only.
"""

from __future__ import annotations

import abc
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.measures import Measure
from leadline.numerics import Parameterized, positive, real


class Mean(Parameterized):
    """The expected value of a function before data arrive."""

    @abc.abstractmethod
    def __call__(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The mean at each row of `x`."""


def as_mean(value: Any) -> Mean:
    """A mean function; a number (or `fixed` number) is a constant mean."""
    return value if isinstance(value, Mean) else Constant(value)


class Zero(Mean):
    """m(x) = 0."""

    def __call__(self, x):
        return jnp.zeros(x.shape[0])

    def integral(self, measure: Measure) -> Float[Array, ""]:
        """The integral against a probability measure."""
        return jnp.zeros(())


class Constant(Mean):
    """m(x) = value."""

    value: Float[Array, ""] = real(0.0, scales_with="location")

    def __call__(self, x):
        return jnp.full(x.shape[0], self.value)

    def integral(self, measure: Measure) -> Float[Array, ""]:
        """The integral against a probability measure."""
        return self.value


class Linear(Mean):
    """m(x) = value + slope . x."""

    slope: Float[Array, " d"] = real(scales_with="slope")
    value: Float[Array, ""] = real(0.0, scales_with="location")

    def __call__(self, x):
        return self.value + x @ self.slope

    def integral(self, measure: Measure) -> Float[Array, ""]:
        """The integral against a probability measure."""
        return self.value + self.slope @ measure.mean


class Quadratic(Mean):
    """m(x) = value - 1/2 sum_d (x_d - center_d)^2 / width_d^2 (Naiff 2019, eq. 5.50).

    The thesis has no `value`; it is the maximum of the bowl. The integral is eq. 5.51 with the
    weights of a mixture, which the printed formula leaves out, in the mixture's moments.
    """

    center: Float[Array, " d"] = real(scales_with="position")
    width: Float[Array, " d"] = positive(scales_with="input")
    value: Float[Array, ""] = real(0.0, scales_with="location")

    def __call__(self, x):
        return self.value - 0.5 * jnp.sum(((x - self.center) / self.width) ** 2, axis=1)

    def integral(self, measure: Measure) -> Float[Array, ""]:
        """The integral against a probability measure."""
        spread = jnp.diagonal(measure.cov) + (measure.mean - self.center) ** 2
        return self.value - 0.5 * jnp.sum(spread / self.width**2)
