"""Kernels on the sphere: rows get a bias column and are scaled to norm one.

Notation: `x~ = [x scaled, bias] (d + 1,)`, `t = cos(angle)` between two such rows, and the squared
chord `s = 2 - 2 t` in [0, 4], of which kernels are functions: unlike the angle, it can be computed
and differentiated where two rows are parallel (s = 0).
"""

from __future__ import annotations

import abc

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.kernels._kernel import Kernel, check_columns, check_shape
from leadline.kernels._matern import as_order, matern_profile
from leadline.numerics import positive, squared_distance


def with_bias(x: Float[Array, "n d"], bias: Float[Array, ""]) -> Float[Array, "n d+1"]:
    """The rows with one more column, of which every entry is `bias`."""
    return jnp.concatenate([x, jnp.full((x.shape[0], 1), bias)], axis=1)


_ROUNDING = (4.0 * float(np.finfo(np.float64).eps)) ** 2


class Zonal(Kernel):
    """A kernel of the angle between rows (Tiao 2023, section 3.2.1)."""

    @abc.abstractmethod
    def augmented(self, x: Float[Array, "n d"]) -> Float[Array, "n d+1"]:
        """The rows, scaled and with a bias."""

    @abc.abstractmethod
    def profile(self, s: Float[Array, ...]) -> Float[Array, ...]:
        """The covariance of unit rows at squared chord `s`; 1 at s = 0."""

    def zonal(self, x: Float[Array, "n e"], y: Float[Array, "m e"]) -> Float[Array, "n m"]:
        """The covariance of augmented rows, with their lengths divided out."""
        x, y = (rows / jnp.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y))
        s = squared_distance(x, y)
        # The chord between parallel rows is the rounding error of dividing by their norms.
        return self.profile(jnp.where(s > _ROUNDING, jnp.minimum(s, 4.0), 0.0))

    def __call__(self, x, y):
        return self.zonal(self.augmented(x), self.augmented(y))

    def diag(self, x):
        return jnp.ones(x.shape[0])


class SphereMatern(Zonal):
    """A Matern kernel of the chord: x -> [x / lengthscale, bias] / norm, r^2 = 2 - 2 t.

    Args:
        lengthscale: one for all input columns, or one for each.
        bias: the value of the added column.
        nu: the order of the Matern kernel.
    """

    lengthscale: Float[Array, ...] = positive(1.0, scales_with="input")
    bias: Float[Array, ""] = positive(1.0)
    nu: float = eqx.field(default=2.5, static=True, converter=as_order, kw_only=True)

    def __check_init__(self):
        check_shape(self, "lengthscale", 0, 1)
        check_shape(self, "bias", 0)

    def augmented(self, x):
        check_columns(self, "lengthscale", x)
        return with_bias(x / self.lengthscale, self.bias)

    def profile(self, s):
        return matern_profile(self.nu, s)
