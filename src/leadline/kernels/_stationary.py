"""Isotropic stationary kernels: a profile of the squared distance in units of the length scale.

Notation: `s = sum_d (x_d - y_d)^2 / lengthscale_d^2`. Profiles are functions of `s`, not of its
root, and carry their own derivative, so that gradients are right (and finite) at s = 0.
"""

from __future__ import annotations

import abc

import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.kernels._kernel import Frequencies, Kernel, check_columns, check_shape
from leadline.kernels._spectrum import equally_weighted, normal_density, rescaled_density
from leadline.numerics import gamma_quantile, normal_quantile, positive, squared_distance


class Stationary(Kernel):
    """A unit-variance kernel of the scaled distance, with one or `d` length scales (ARD)."""

    lengthscale: Float[Array, ...] = positive(1.0, scales_with="input")

    def __check_init__(self):
        check_shape(self, "lengthscale", 0, 1)

    @abc.abstractmethod
    def profile(self, s: Float[Array, ...]) -> Float[Array, ...]:
        """The covariance at squared scaled distance `s`; 1 at s = 0."""

    def __call__(self, x, y):
        check_columns(self, "lengthscale", x)
        return self.profile(squared_distance(x / self.lengthscale, y / self.lengthscale))

    def diag(self, x):
        return jnp.ones(x.shape[0])


class SquaredExponential(Stationary):
    """k = exp(-s / 2): infinitely differentiable functions."""

    def profile(self, s):
        return jnp.exp(-0.5 * s)

    def frequency_inputs(self, dim: int) -> int:
        """One uniform number per input column."""
        return dim

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Normal frequencies with precision lengthscale^2 (Tiao 2023, table 2.1)."""
        check_columns(self, "lengthscale", u)
        return equally_weighted(normal_quantile(u) / self.lengthscale)

    def spectral_density(self, theta: Float[Array, "l d"]) -> Float[Array, " l"]:
        """The normal density with precision lengthscale^2, in angular frequency."""
        check_columns(self, "lengthscale", theta)
        return rescaled_density(normal_density, theta, self.lengthscale)


class RationalQuadratic(Stationary):
    """k = (1 + s / (2 alpha))^-alpha: squared exponentials of many length scales.

    Their precisions follow a gamma law with shape `alpha`; as it grows, one length scale is left
    (Rasmussen and Williams 2006, eq. 4.19).
    """

    alpha: Float[Array, ""] = positive(1.0)

    def __check_init__(self):
        check_shape(self, "alpha", 0)

    def profile(self, s):
        return jnp.exp(-self.alpha * jnp.log1p(s / (2.0 * self.alpha)))

    def frequency_inputs(self, dim: int) -> int:
        """One uniform number per input column, and one for the precision."""
        return dim + 1

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Normal frequencies, scaled by the root of a gamma variable with mean 1."""
        check_columns(self, "lengthscale", u[:, :-1])
        precision = gamma_quantile(self.alpha, u[:, -1]) / self.alpha
        z = normal_quantile(u[:, :-1]) * jnp.sqrt(precision)[:, None]
        return equally_weighted(z / self.lengthscale)
