"""Where an integrand is called: a box that holds nearly all of its measure.

Models see rows of the unit cube, which the box is scaled to, and the measure as it is there. So a
measure of scale 1e-4 and one of 1e4 are the same to them.

Notation: box [lower, lower + width], rows u = (x - lower) / width.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData
from leadline.measures import Gaussian, GaussianMixture, Measure, Product, Uniform

# A Gaussian is looked at so many deviations to each side of its mean.
_DEVIATIONS = 4.0
# Of a measure that is known by its points so many decide, and a margin of their extent.
_POINTS, _MARGIN = 1024, 0.02


def as_measure(measure: Any) -> Measure:
    """A measure as it is, or an error that says which there are."""
    if not isinstance(measure, Measure):
        raise InvalidData(
            "measure must be one of ll.measures, such as ll.measures.Uniform([0, 0], [1, 1]) or "
            f"ll.measures.Gaussian([0, 0], [1, 1]), got {type(measure).__name__}."
        )
    return measure


@singledispatch
def box_of(measure: Measure) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper ends of the box."""
    points = np.asarray(measure.qmc(_POINTS, 0))
    low, high = points.min(axis=0), points.max(axis=0)
    return low - _MARGIN * (high - low), high + _MARGIN * (high - low)


@box_of.register
def _(measure: Uniform):
    return np.asarray(measure.lower), np.asarray(measure.upper)


@box_of.register
def _(measure: Gaussian):
    reach = _DEVIATIONS * np.sqrt(np.diagonal(np.asarray(measure.cov)))
    return np.asarray(measure.location) - reach, np.asarray(measure.location) + reach


@box_of.register
def _(measure: GaussianMixture):
    spreads = np.asarray(measure.spreads)
    if not measure.diagonal:
        spreads = np.diagonal(spreads, axis1=1, axis2=2)
    centers, reach = np.asarray(measure.locations), _DEVIATIONS * np.sqrt(spreads)
    return (centers - reach).min(axis=0), (centers + reach).max(axis=0)


@box_of.register
def _(measure: Product):
    lower, upper = zip(*map(box_of, measure.measures), strict=True)
    return np.concatenate(lower), np.concatenate(upper)


@singledispatch
def in_cube(measure: Measure, lower: np.ndarray, width: np.ndarray) -> Measure:
    """The measure of rows."""
    return Scaled(measure, jnp.asarray(lower), jnp.asarray(width))


@in_cube.register
def _(measure: Uniform, lower, width):
    return Uniform((measure.lower - lower) / width, (measure.upper - lower) / width)


@in_cube.register
def _(measure: Gaussian, lower, width):
    scale = width if measure.diagonal else np.outer(width, width)
    spread = measure.spread / (scale**2 if measure.diagonal else scale)
    return Gaussian((measure.location - lower) / width, spread)


@in_cube.register
def _(measure: GaussianMixture, lower, width):
    scale = width**2 if measure.diagonal else np.outer(width, width)
    locations = (measure.locations - lower) / width
    return GaussianMixture(measure.weights, locations, measure.spreads / scale)


@in_cube.register
def _(measure: Product, lower, width):
    ends = np.cumsum([m.dim for m in measure.measures])[:-1]
    blocks = zip(measure.measures, np.split(lower, ends), np.split(width, ends), strict=True)
    return Product([in_cube(m, low, wide) for m, low, wide in blocks])


class Scaled(Measure):
    """The law of rows of a measure that is known by its points."""

    measure: Measure
    lower: Float[Array, " d"]
    width: Float[Array, " d"]

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.measure.dim

    @property
    def cube_dim(self) -> int:
        """That of the measure."""
        return self.measure.cube_dim

    @property
    def mean(self) -> Float[Array, " d"]:
        """The row of the mean."""
        return (self.measure.mean - self.lower) / self.width

    @property
    def cov(self) -> Float[Array, "d d"]:
        """The covariance of rows."""
        return self.measure.cov / jnp.outer(self.width, self.width)

    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Rows of draws."""
        return (self.measure.sample(key, n) - self.lower) / self.width

    def from_cube(self, u: Float[Array | np.ndarray, "n c"]) -> Float[Array, "n d"]:
        """Rows of its points."""
        return (self.measure.from_cube(u) - self.lower) / self.width
