"""Products over the input columns of one-dimensional Matern kernels."""

from __future__ import annotations

from functools import reduce
from operator import mul
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.kernels._kernel import Frequencies, Kernel, check_columns, check_shape
from leadline.kernels._matern import matern_profile
from leadline.kernels._spectrum import (
    equally_weighted,
    rescaled_density,
    student_t,
    student_t_density,
)
from leadline.numerics import positive


def as_half_integer(nu: Any) -> float:
    """The order of a one-dimensional Matern kernel in closed form."""
    if nu not in (0.5, 1.5, 2.5):
        raise ValueError(f"nu of a ProductMatern must be 0.5, 1.5 or 2.5, got {nu}.")
    return float(nu)


class ProductMatern(Kernel):
    """k = prod_d m_nu(|x_d - y_d| / lengthscale_d), nu = 1/2, 3/2 or 5/2 (Naiff 2019, eq. 6.12).

    It factorizes over the columns, unlike the Matern kernel of the distance, and so do its
    integrals.
    """

    lengthscale: Float[Array, ...] = positive(1.0, scales_with="input")
    nu: float = eqx.field(default=2.5, static=True, converter=as_half_integer, kw_only=True)

    def __check_init__(self):
        check_shape(self, "lengthscale", 0, 1)

    def __call__(self, x, y):
        check_columns(self, "lengthscale", x)
        # Differences come first: compilers fuse x / l - y / l such that it is not 0 at x = y.
        scales = jnp.broadcast_to(self.lengthscale, x.shape[1:])
        squares = (((x[:, d, None] - y[None, :, d]) / scales[d]) ** 2 for d in range(x.shape[1]))
        return reduce(mul, (matern_profile(self.nu, s) for s in squares))

    def diag(self, x):
        return jnp.ones(x.shape[0])

    def frequency_inputs(self, dim: int) -> int:
        """Two uniform numbers per input column."""
        return 2 * dim

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Independent t frequencies with 2 nu degrees of freedom along each column."""
        dim = self.input_columns(u)
        check_columns(self, "lengthscale", u[:, :dim])
        return equally_weighted(student_t(u[:, :dim], u[:, dim:], self.nu) / self.lengthscale)

    def spectral_density(self, theta: Float[Array, "l d"]) -> Float[Array, " l"]:
        """The product over the columns of t densities with 2 nu degrees of freedom."""
        check_columns(self, "lengthscale", theta)

        def law(z):
            return jnp.prod(student_t_density(z.reshape(-1, 1), self.nu).reshape(z.shape), axis=1)

        return rescaled_density(law, theta, self.lengthscale)
