"""Building blocks of frequencies: laws of `theta` for unit length scales, and their densities.

Notation: `u (l, k)` uniform numbers, `z (l, d)` frequencies for unit length scales. All laws are
symmetric about zero, which products of kernels rely on: cos(a + b) has the mean of cos(a) cos(b)
only if sin(a) or sin(b) has mean zero.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
import scipy
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


def normal_density(z: Float[Array, "l d"]) -> Float[Array, " l"]:
    """The standard normal density: the spectrum of a squared exponential kernel."""
    return jnp.exp(-0.5 * jnp.sum(z**2, axis=1) - 0.5 * z.shape[1] * np.log(2.0 * np.pi))


def student_t_density(z: Float[Array, "l d"], nu: float) -> Float[Array, " l"]:
    """The multivariate t density with 2 nu degrees of freedom, of vectors `z`."""
    d = z.shape[1]
    log_factor = float(scipy.special.gammaln(nu + 0.5 * d) - scipy.special.gammaln(nu))
    log_factor -= 0.5 * d * float(np.log(2.0 * nu * np.pi))
    return jnp.exp(log_factor - (nu + 0.5 * d) * jnp.log1p(jnp.sum(z**2, axis=1) / (2.0 * nu)))


def rescaled_density(
    density: Callable[[Float[Array, "l d"]], Float[Array, " l"]],
    theta: Float[Array, "l d"],
    lengthscale: Float[Array, ...],
) -> Float[Array, " l"]:
    """The density of `theta = z / lengthscale` from that of `z`."""
    volume = jnp.prod(jnp.broadcast_to(lengthscale, theta.shape[1:]))
    return volume * density(theta * lengthscale)
