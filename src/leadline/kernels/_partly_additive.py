"""A Matérn kernel of all columns together, and one of each column for itself.

    k(x, y) = (1 - share) m(|x - y|_l) + share / d sum_i m(sqrt(d) |x_i - y_i| / l_i)

with m of smoothness 5/2. Functions of many inputs are often nearly sums of functions of one input
each (Duvenaud et al. 2011), and then a few dozen values say far more about them than a kernel of
the distance can take in: what was seen along one column holds wherever the others are. The factor
sqrt(d) makes one set of length scales serve both parts: typical distances in d columns are that
much longer than in one.
"""

from __future__ import annotations

from functools import partial

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


def _decay_by_factors(u, v, a):
    """e^-a as the smaller of e^u e^-v and e^v e^-u: n + m exponentials instead of n m."""
    return jnp.minimum(jnp.exp(u)[:, None] * jnp.exp(-v), jnp.exp(-u)[:, None] * jnp.exp(v))


def _decay(u, v, a):
    return jnp.exp(-a)


def _profiles(decay, u, v):
    total = jnp.zeros((u.shape[0], v.shape[0]))
    for p, q in zip(u.T, v.T, strict=True):
        a = jnp.abs(p[:, None] - q)
        total = total + (1.0 + a + a * a / 3.0) * decay(p, q, a)
    return total


def _slopes(decay, u, v, g):
    along_u, along_v = [], []
    for p, q in zip(u.T, v.T, strict=True):
        a = jnp.abs(p[:, None] - q)
        slope = g * ((q - p[:, None]) * (1.0 + a) / 3.0 * decay(p, q, a))
        along_u.append(slope @ jnp.ones_like(q))
        along_v.append(-jnp.ones_like(p) @ slope)
    return jnp.stack(along_u, axis=1), jnp.stack(along_v, axis=1)


def _with_decay(function, u, v, *more):
    """Call `function` with the decay that is fast, unless its factors would overflow."""
    largest = jnp.maximum(jnp.max(jnp.abs(u), initial=0.0), jnp.max(jnp.abs(v), initial=0.0))
    fast, slow = partial(function, _decay_by_factors), partial(function, _decay)
    return jax.lax.cond(largest < _MODERATE, fast, slow, u, v, *more)


@jax.custom_vjp
def _sum_of_profiles(u: Float[Array, "n d"], v: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """The sum over columns of the Matérn profile (1 + a + a^2/3) e^-a of a = |u - v|.

    Its gradient computes the exponentials again: to keep them is to read d matrices.
    """
    return _with_decay(_profiles, u, v)


_sum_of_profiles.defvjp(
    lambda u, v: (_sum_of_profiles(u, v), (u, v)),
    lambda saved, g: _with_decay(_slopes, *saved, g),
)


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
        center = jax.lax.stop_gradient(jnp.mean(x, axis=0))
        scale = (2.0 * _SMOOTHNESS * x.shape[1]) ** 0.5
        alone = _sum_of_profiles(scale * (x - center), scale * (y - center))
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
