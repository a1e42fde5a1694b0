"""A Matérn kernel of all columns together, and one of each column for itself.

    k(x, y) = (1 - share) m(|x - y|_l) + share / d sum_i m(sqrt(d) |x_i - y_i| / l_i)

with m of smoothness 5/2. Functions of many inputs are often nearly sums of functions of one input
each (Duvenaud et al. 2011), and then a few dozen values say far more about them than a kernel of
the distance can take in: what was seen along one column holds wherever the others are. The factor
sqrt(d) makes one set of length scales serve both parts: typical distances in d columns are that
much longer than in one.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.kernels._kernel import Frequencies, Kernel, check_columns, check_shape
from leadline.kernels._matern import matern_profile
from leadline.kernels._spectrum import equally_weighted, student_t
from leadline.numerics import bounded, positive, squared_distance

_SMOOTHNESS = 2.5


@jax.custom_jvp
def _profile_of_column(difference: Float[Array, ...]) -> Float[Array, ...]:
    """The Matérn profile of one column, whose distance needs no square root."""
    a = jnp.abs(difference)
    return (1.0 + a + a * a / 3.0) * jnp.exp(-a)


@_profile_of_column.defjvp
def _profile_of_column_jvp(primals, tangents):
    (difference,), (change,) = primals, tangents
    a = jnp.abs(difference)
    slope = -difference * (1.0 + a) * jnp.exp(-a) / 3.0
    return _profile_of_column(difference), slope * change


class PartlyAdditive(Kernel):
    """A Matérn-5/2 kernel of unit variance, a `share` of which is a sum over the columns.

    Args:
        lengthscale: one, or one for each column.
        share: the part of the variance of functions of one column each, between 0 and 1.
    """

    lengthscale: Float[Array, ...] = positive(1.0, scales_with="input")
    share: Float[Array, ""] = bounded(0.0, 1.0, 0.5)

    def __check_init__(self):
        check_shape(self, "lengthscale", 0, 1)
        check_shape(self, "share", 0)

    def __call__(self, x, y):
        check_columns(self, "lengthscale", x)
        x, y = x / self.lengthscale, y / self.lengthscale
        together = matern_profile(_SMOOTHNESS, squared_distance(x, y))
        alone = jnp.zeros_like(together)
        scale = (2.0 * _SMOOTHNESS * x.shape[1]) ** 0.5
        for u, v in zip((scale * x).T, (scale * y).T, strict=True):
            alone = alone + _profile_of_column(u[:, None] - v[None, :])
        return (1.0 - self.share) * together + self.share / x.shape[1] * alone

    def diag(self, x):
        return jnp.ones(x.shape[0])

    def frequency_inputs(self, dim: int) -> int:
        """One uniform number per column, one for the chi-square variable, one for the part."""
        return dim + 2

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Multivariate t frequencies; a share of them along one column each."""
        check_columns(self, "lengthscale", u[:, :-2])
        theta = student_t(u[:, :-2], u[:, -2:-1], _SMOOTHNESS) / self.lengthscale
        d = theta.shape[1]
        part = u[:, -1:] / self.share * d  # below d: along the column of that number
        along = jnp.where(jnp.floor(part) == jnp.arange(d), d**0.5 * theta, 0.0)
        return equally_weighted(jnp.where(part < d, along, theta))
