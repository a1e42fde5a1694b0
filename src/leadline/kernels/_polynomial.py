"""Linear and polynomial functions."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.kernels._kernel import Kernel, check_columns, check_shape
from leadline.numerics import positive


class Linear(Kernel):
    """k = sum_d variance_d x_d y_d: linear functions through the origin.

    `variance` is that of the slope, shared or one for each column. Add a constant kernel (or a
    number) for functions with an offset: `Linear() + 1.0`.
    """

    variance: Float[Array, ...] = positive(1.0, scales_with="slope_variance")

    def __check_init__(self):
        check_shape(self, "variance", 0, 1)

    def __call__(self, x, y):
        check_columns(self, "variance", x)
        return (x * self.variance) @ y.T

    def diag(self, x):
        check_columns(self, "variance", x)
        return jnp.sum(self.variance * x**2, axis=1)


def as_degree(degree: Any) -> int:
    """The degree of a polynomial: a whole number from 1 on."""
    if int(degree) != degree or degree < 1:
        raise ValueError(f"degree must be a whole number from 1 on, got {degree}.")
    return int(degree)


class Polynomial(Kernel):
    """k = (sum_d x_d y_d / lengthscale_d^2 + offset)^degree: polynomials of at most this degree."""

    lengthscale: Float[Array, ...] = positive(1.0, scales_with="input")
    offset: Float[Array, ""] = positive(1.0)
    degree: int = eqx.field(default=2, static=True, converter=as_degree, kw_only=True)

    def __check_init__(self):
        check_shape(self, "lengthscale", 0, 1)
        check_shape(self, "offset", 0)

    def __call__(self, x, y):
        check_columns(self, "lengthscale", x)
        inner = (x / self.lengthscale) @ (y / self.lengthscale).T
        return (inner + self.offset) ** self.degree

    def diag(self, x):
        check_columns(self, "lengthscale", x)
        return (jnp.sum((x / self.lengthscale) ** 2, axis=1) + self.offset) ** self.degree
