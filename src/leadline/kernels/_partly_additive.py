"""A Matérn kernel of all columns together, and one of each column for itself.

    k(x, y) = (1 - share) m(|x - y|_l) + share / d sum_i m(sqrt(d) |x_i - y_i| / l_i)

with m of smoothness 5/2. Functions of many inputs are often nearly sums of functions of one input
each (Duvenaud et al. 2011), and then a few dozen values say far more about them than a kernel of
the distance can take in: what was seen along one column holds wherever the others are. The factor
sqrt(d) makes one set of length scales serve both parts: typical distances in d columns are that
much longer than in one.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.kernels._kernel import Frequencies, Kernel, check_columns, check_shape
from leadline.kernels._matern import matern_profile
from leadline.kernels._spectrum import equally_weighted, student_t
from leadline.numerics import bounded, positive, squared_distance

_SMOOTHNESS = 2.5
# The exponential of twice this is a number.
_MODERATE = 300.0


def _scale(dim):
    """What a distance along one column counts by, once it is measured in length scales."""
    return (2.0 * _SMOOTHNESS * dim) ** 0.5


def _columns(moderate, u, v):
    """The columns to go through: of u and v and, if they are moderate, of their exponentials.

    Then e^-a is the smaller of e^u e^-v and e^v e^-u: n + m exponentials instead of n m.
    """
    if not moderate:
        return u.T, v.T
    p, q = jnp.exp(u.T), jnp.exp(v.T)
    return u.T, v.T, p, 1.0 / p, q, 1.0 / q


def _distances(u, v, *factors):
    """Differences v - u of one column, their sizes a, and e^-a."""
    difference = v - u[:, None]
    a = jnp.abs(difference)
    if not factors:
        return difference, a, jnp.exp(-a)
    up, down, right, left = factors
    return difference, a, jnp.minimum(up[:, None] * left, down[:, None] * right)


def _profiles(moderate, u, v):
    def add(total, column):
        _, a, decay = _distances(*column)
        return total + (1.0 + a + a * a / 3.0) * decay, None

    first = jnp.zeros((u.shape[0], v.shape[0]))
    return jax.lax.scan(add, first, _columns(moderate, u, v))[0]


def _slopes(moderate, u, v, g):
    def slopes(_, column):
        difference, a, decay = _distances(*column)
        slope = g * (difference * (1.0 + a) / 3.0 * decay)
        return None, (jnp.sum(slope, axis=1), -jnp.sum(slope, axis=0))

    along_u, along_v = jax.lax.scan(slopes, None, _columns(moderate, u, v))[1]
    return along_u.T, along_v.T


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sum_of_profiles(
    moderate: bool, u: Float[Array, "n d"], v: Float[Array, "m d"]
) -> Float[Array, "n m"]:
    """The sum over columns of the Matérn profile (1 + a + a^2/3) e^-a of a = |u - v|.

    Columns are taken one after the other in a loop: a program with the code of each would take
    minutes to compile for a hundred columns. The gradient computes distances again: to keep them is
    to read d matrices. `moderate` says that exponentials of u and v are numbers.
    """
    return _profiles(moderate, u, v)


def _forward(moderate, u, v):
    return _profiles(moderate, u, v), (u, v)


def _backward(moderate, saved, g):
    u, v = saved
    return _slopes(moderate, u, v, g)


_sum_of_profiles.defvjp(_forward, _backward)


class PartlyAdditive(Kernel):
    """A Matérn-5/2 kernel of unit variance, a `share` of which is a sum over the columns.

    Args:
        lengthscale: one, or one for each column.
        share: the part of the variance of functions of one column each, between 0 and 1.
        extent: how far apart inputs can be in any column, if that is known: 1 in the unit cube.
            The kernel then needs far fewer exponentials, and length scales below about a hundredth
            of the extent count as that.
    """

    lengthscale: Float[Array, ...] = positive(1.0, scales_with="input")
    share: Float[Array, ""] = bounded(0.0, 1.0, 0.5)
    extent: float | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        check_shape(self, "lengthscale", 0, 1)
        check_shape(self, "share", 0)
        if self.extent is not None and not 0.0 < self.extent < math.inf:
            raise ValueError(f"extent must be positive and finite, got {self.extent}.")

    def __call__(self, x, y):
        check_columns(self, "lengthscale", x)
        scale = _scale(x.shape[1])
        lengthscale = self._lengthscale(x.shape[1])
        x, y = x / lengthscale, y / lengthscale
        together = matern_profile(_SMOOTHNESS, squared_distance(x, y))
        center = jax.lax.stop_gradient(jnp.mean(x, axis=0))
        moderate = self.extent is not None
        alone: Any = _sum_of_profiles(moderate, scale * (x - center), scale * (y - center))
        return (1.0 - self.share) * together + self.share / x.shape[1] * alone

    def diag(self, x):
        return jnp.ones(x.shape[0])

    def _lengthscale(self, dim: int) -> Array:
        """The length scales that count."""
        if self.extent is None:
            return self.lengthscale
        # No input is further than the extent from the center, so no factor overflows.
        return jnp.maximum(self.lengthscale, _scale(dim) * self.extent / _MODERATE)

    def frequency_inputs(self, dim: int) -> int:
        """One uniform number per column, one for the chi-square variable, one for the part."""
        return dim + 2

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Multivariate t frequencies; a share of them along one column each."""
        check_columns(self, "lengthscale", u[:, :-2])
        theta = student_t(u[:, :-2], u[:, -2:-1], _SMOOTHNESS)
        theta = theta / self._lengthscale(theta.shape[1])
        d = theta.shape[1]
        part = u[:, -1:] / self.share * d  # below d: along the column of that number
        along = jnp.where(jnp.floor(part) == jnp.arange(d), d**0.5 * theta, 0.0)
        return equally_weighted(jnp.where(part < d, along, theta))
