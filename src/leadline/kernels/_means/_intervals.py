"""One-dimensional kernels averaged over an interval, once and twice.

Notation: the interval `[lower, upper]` of width `W`; for a kernel k of the distance,

    mean(x) = 1/W int k(x - t) dt,
    double  = 1/W^2 int int k(t - t') dt dt' = 2 int_0^1 (1 - t) k(W t) dt.

`w` is the width in units of the kernel (`W / lengthscale`, times `sqrt(2 nu)` for Matern kernels).
Differences of antiderivatives cancel where the interval is narrow (`w` small) or far from `x`;
each function says how it avoids that.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import erf, erfc
from jaxtyping import Array, Float

_points, _weights = np.polynomial.legendre.leggauss(20)
# Gauss-Legendre on [0, 1]: exact to rounding for these kernels on intervals up to w = 2.
_NODES, _WEIGHTS = 0.5 * (_points + 1.0), 0.5 * _weights


def gaussian_interval_mean(
    x: Float[Array, "n d"],
    lower: Float[Array, " d"],
    upper: Float[Array, " d"],
    precision: Float[Array, " d"],
) -> Float[Array, "n d"]:
    """The mean of `exp(-precision r^2 / 2)` over each interval (Hamid 2023, section 2.3.1).

    Narrow intervals are done by Gauss-Legendre; from outside, the smaller tails are subtracted.
    """
    root = jnp.sqrt(precision)
    w = (upper - lower) * root
    start, stop = (lower - x) * root, (upper - x) * root
    narrow = w < 0.5
    nodes = start[..., None] + w[:, None] * _NODES
    by_nodes = jnp.exp(-0.5 * nodes * nodes) @ _WEIGHTS

    # Seen from above, the interval is its mirror image seen from below.
    near = jnp.where(stop < 0.0, -stop, start) / np.sqrt(2.0)
    far = jnp.where(stop < 0.0, -start, stop) / np.sqrt(2.0)
    difference = jnp.where(near > 0.0, erfc(near) - erfc(far), erf(far) - erf(near))
    by_erf = np.sqrt(0.5 * np.pi) / jnp.where(narrow, 1.0, w) * difference
    return jnp.where(narrow, by_nodes, by_erf)


def gaussian_interval_double_mean(
    width: Float[Array, " d"], precision: Float[Array, " d"]
) -> Float[Array, " d"]:
    """The double mean of `exp(-precision r^2 / 2)` over each interval (Hamid 2023, 2.3.1)."""
    w = width * jnp.sqrt(precision)
    narrow = w < 1.0
    v = jnp.where(narrow, 1.0, w)
    closed = 2.0 * jnp.expm1(-0.5 * v * v) + np.sqrt(2.0 * np.pi) * v * erf(v / np.sqrt(2.0))
    return jnp.where(narrow, _narrow_double_mean(lambda r: jnp.exp(-0.5 * r * r), w), closed / v**2)


def matern_interval_mean(
    nu: float,
    x: Float[Array, "n d"],
    lower: Float[Array, " d"],
    upper: Float[Array, " d"],
    lengthscale: Float[Array, " d"],
) -> Float[Array, "n d"]:
    """The mean of a Matern kernel with nu = 1/2, 3/2 or 5/2 over each interval.

    The part of the interval above `x` and the part below it are integrated from where they begin,
    with the decay up to there factored out: nothing of size 1 is subtracted.
    """
    unit = jnp.sqrt(2.0 * nu) / lengthscale
    above = _segment(
        nu,
        unit * jnp.maximum(lower - x, 0.0),
        unit * jnp.maximum(upper - jnp.maximum(x, lower), 0.0),
    )
    below = _segment(
        nu,
        unit * jnp.maximum(x - upper, 0.0),
        unit * jnp.maximum(jnp.minimum(x, upper) - lower, 0.0),
    )
    return (above + below) / (unit * (upper - lower))


def matern_interval_double_mean(
    nu: float, width: Float[Array, " d"], lengthscale: Float[Array, " d"]
) -> Float[Array, " d"]:
    """The double mean of a Matern kernel with nu = 1/2, 3/2 or 5/2 over each interval."""
    w = jnp.sqrt(2.0 * nu) * width / lengthscale
    narrow = w < 2.0
    v = jnp.where(narrow, 2.0, w)
    e = jnp.exp(-v)
    closed = {
        0.5: v - 1.0 + e,
        1.5: 2.0 * v - 3.0 + (3.0 + v) * e,
        2.5: 8.0 / 3.0 * v - 5.0 + (5.0 + 7.0 / 3.0 * v + v * v / 3.0) * e,
    }[nu]
    return jnp.where(
        narrow, _narrow_double_mean(lambda r: matern_profile(nu, r), w), 2.0 * closed / v**2
    )


def matern_profile(nu: float, z: Array) -> Array:
    """A Matern kernel at distance `z`, measured so that it decays as e^-z."""
    return {0.5: 1.0, 1.5: 1.0 + z, 2.5: 1.0 + z + z * z / 3.0}[nu] * jnp.exp(-z)


def _segment(nu: float, start: Array, length: Array) -> Array:
    """The integral of `matern_profile` from `start` to `start + length`."""
    gone, left = -jnp.expm1(-length), jnp.exp(-length)
    inner = {
        0.5: gone,
        1.5: (2.0 + start) * gone - length * left,
        2.5: (
            (8.0 + 5.0 * start + start * start) * gone
            - length * (5.0 + 2.0 * start + length) * left
        )
        / 3.0,
    }[nu]
    return jnp.exp(-start) * inner


def _narrow_double_mean(profile: Callable[[Array], Array], w: Array) -> Array:
    return profile(w[..., None] * _NODES) @ (2.0 * (1.0 - _NODES) * _WEIGHTS)
