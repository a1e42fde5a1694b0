"""Building blocks of frequencies: laws of `theta` for unit length scales, from uniform numbers.

Notation: `u (l, k)` uniform numbers. All laws are symmetric about zero, which products of kernels
rely on: cos(a + b) has the mean of cos(a) cos(b) only if sin(a) or sin(b) has mean zero.
"""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.kernels._kernel import Frequencies
from leadline.numerics import gamma_quantile, normal_quantile


def student_t(
    u: Float[Array, "l d"], mixing: Float[Array, "l c"], nu: float
) -> Float[Array, "l d"]:
    """Student t with 2 nu degrees of freedom: the spectrum of a Matern kernel.

    `mixing` are the uniform numbers of the chi-square variables: one column for vectors with the
    multivariate law, `d` columns for independent entries.
    """
    chi_square = 2.0 * gamma_quantile(nu, mixing)
    return normal_quantile(u) * jnp.sqrt(2.0 * nu / chi_square)


def equally_weighted(theta: Float[Array, "l d"]) -> Frequencies:
    """Frequencies that share a unit variance evenly."""
    return Frequencies(theta, jnp.full(theta.shape[0], 1.0 / theta.shape[0]))


def random_sign(u: Float[Array, "l 1"]) -> Float[Array, "l 1"]:
    """-1 or 1, each for half of the uniform numbers."""
    return jnp.where(u < 0.5, -1.0, 1.0)
