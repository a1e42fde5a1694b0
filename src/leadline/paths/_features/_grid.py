"""Regular grids, and features that interpolate random values at their nodes.

Notation: nodes are `lower + spacing * i` with whole `i (d,)`, numbered with the last column
fastest. `x (m, d)` is interpolated from `s = 2^d` nodes (linear) or `4^d` (cubic convolution, Keys
1981): weights `xi(x) (m, s)` of the nodes `(m, s, d)` around it.

With values g ~ N(0, C) at the nodes, f(x) = xi(x) . g has the covariance xi(x)^T C xi(y), which is
kernel interpolation (Wilson and Nickisch 2015; Wilson 2023, section 3.4.5) where C = k(Z, Z).
"""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from leadline.boundary import InvalidData, as_bounds
from leadline.paths._features._features import Features

# How many nodes an interpolation needs beyond the two around an input, on each side.
REACH = {"linear": 0, "cubic": 1}


class RegularGrid(eqx.Module):
    """A box of evenly spaced nodes.

    Args:
        bounds: (low, high) of each input column: the first and the last node.
        shape: how many nodes along each column, at least two.
    """

    lower: Float[Array | np.ndarray, " d"]
    spacing: Float[Array | np.ndarray, " d"]
    shape: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, bounds: Any, shape: Any):
        lower, upper = as_bounds(bounds)
        counts = np.atleast_1d(np.asarray(shape))
        if counts.shape != lower.shape or counts.dtype.kind not in "iu" or np.any(counts < 2):
            raise InvalidData(
                "shape must be a whole number of nodes, two or more, for each of the "
                f"{lower.shape[0]} input columns, got {shape!r}."
            )
        self.lower, self.spacing = lower, (upper - lower) / (counts - 1)
        self.shape = tuple(int(n) for n in counts)

    @classmethod
    def covering(cls, bounds: Any, spacing: float) -> RegularGrid:
        """The smallest grid from the lower corner on that holds the box."""
        lower, upper = as_bounds(bounds)
        if not (np.isfinite(spacing) and spacing > 0):
            raise InvalidData(f"spacing must be positive, got {spacing}.")
        # A box that is a whole number of spacings wide gets no more because of rounding.
        steps = np.maximum(np.ceil((upper - lower) / spacing - 1e-9), 1.0)
        return cls(np.stack([lower, lower + spacing * steps], axis=1), steps.astype(int) + 1)

    def extended(self, nodes: int) -> RegularGrid:
        """The grid with more nodes on all sides."""
        lower, upper = self.lower - nodes * self.spacing, self.upper + nodes * self.spacing
        return RegularGrid(np.stack([lower, upper], axis=1), np.asarray(self.shape) + 2 * nodes)

    @property
    def dim(self) -> int:
        """How many columns the inputs have."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return int(np.prod(self.shape))

    @property
    def upper(self) -> Float[Array | np.ndarray, " d"]:
        """The last node."""
        return self.lower + self.spacing * (np.asarray(self.shape) - 1)

    def points(self) -> Float[np.ndarray, "l d"]:
        """The nodes, as inputs."""
        steps = np.indices(self.shape).reshape(self.dim, -1).T
        return np.asarray(self.lower) + np.asarray(self.spacing) * steps

    def stencil(
        self, x: Float[Array, "m d"], interpolation: str
    ) -> tuple[Int[Array, "m s d"], Float[Array, "m s"]]:
        """The nodes around each input, and their interpolation weights.

        Cubic weights need a node more on each side. Inputs beyond what the nodes can interpolate
        are moved to the nearest point where they can.
        """
        reach, counts = REACH[interpolation], np.asarray(self.shape)
        t = moved_inside((x - self.lower) / self.spacing, reach, counts - 1.0 - reach)
        first = jnp.clip(jnp.floor(t), reach, counts - 2 - reach)
        weights = _WEIGHTS[interpolation](t - first)
        along = first[..., None].astype(int) + np.arange(-reach, 2 + reach)
        nodes = jnp.zeros((x.shape[0], 1, 0), along.dtype)
        xi = jnp.ones((x.shape[0], 1))
        for axis in range(self.dim):
            nodes = _outer(nodes, along[:, axis, :, None], lambda a, b: jnp.concatenate([a, b], -1))
            xi = _outer(xi[..., None], weights[:, axis, :, None], jnp.multiply)[..., 0]
        return nodes, xi

    def number(self, nodes: Int[Array, "... d"]) -> Int[Array, ...]:
        """The row of `points` that a node is."""
        strides = np.cumprod((1, *self.shape[:0:-1]))[::-1]
        return jnp.sum(nodes * strides, axis=-1)


def moved_inside(t: Array, low: Any, high: Any) -> Array:
    """`t` clipped to [low, high], with the gradient of the inside also on the edge."""
    return jnp.where(t < low, low, jnp.where(t > high, high, t))


def _outer(a: Array, b: Array, combine: Any) -> Array:
    """`combine(a[:, i], b[:, j])` for all i and j: (m, p, .) and (m, q, .) make (m, p q, .)."""
    m, p, q = a.shape[0], a.shape[1], b.shape[1]
    a, b = (jnp.broadcast_to(c, (m, p, q, c.shape[-1])) for c in (a[:, :, None], b[:, None]))
    return combine(a, b).reshape(m, p * q, -1)


def _linear(u: Array) -> Array:
    return jnp.stack([1.0 - u, u], axis=-1)


def _cubic(u: Array) -> Array:
    """Cubic convolution with a = -1/2 (Keys 1981): reproduces quadratics, differentiable once."""
    return 0.5 * jnp.stack(
        [
            ((2.0 - u) * u - 1.0) * u,
            (3.0 * u - 5.0) * u * u + 2.0,
            ((4.0 - 3.0 * u) * u + 1.0) * u,
            (u - 1.0) * u * u,
        ],
        axis=-1,
    )


_WEIGHTS = {"linear": _linear, "cubic": _cubic}


class GridFeatures(Features):
    """Interpolation from a regular grid: features are sparse, and weights are values at the nodes.

    A draw costs a few multiplications for each input, whatever the number of nodes. Inputs outside
    the box are moved to its edge.
    """

    grid: RegularGrid
    interpolation: str = eqx.field(static=True)

    @abc.abstractmethod
    def node_covariance(self, i: Int[Array, "... d"], j: Int[Array, "... d"]) -> Float[Array, ...]:
        """The covariance of the values at two nodes."""

    @property
    def size(self):
        """One for each node."""
        return self.grid.size

    @property
    def dim(self):
        return self.grid.dim

    @property
    def row_size(self):
        return (2 + 2 * REACH[self.interpolation]) ** self.dim

    def __call__(self, x):
        nodes, xi = self.grid.stencil(x, self.interpolation)
        rows = jnp.arange(x.shape[0])[:, None]
        return jnp.zeros((x.shape[0], self.size)).at[rows, self.grid.number(nodes)].add(xi)

    def values(self, x, weights):
        nodes, xi = self.grid.stencil(x, self.interpolation)
        return jnp.sum(weights[:, self.grid.number(nodes)] * xi, axis=-1)

    def paired_values(self, x, weights):
        n, m, d = x.shape
        nodes, xi = self.grid.stencil(x.reshape(n * m, d), self.interpolation)
        number, xi = self.grid.number(nodes).reshape(n, -1), xi.reshape(n, m, -1)
        return jnp.sum(jnp.take_along_axis(weights, number, axis=1).reshape(xi.shape) * xi, axis=-1)

    def covariance(self, x, y):
        """One pair of nodes after the other, so that no array is larger than the answer."""
        of_x, of_y = (self.grid.stencil(a, self.interpolation) for a in (x, y))
        of_x, of_y = jax.tree.map(lambda a: jnp.swapaxes(a, 0, 1), (of_x, of_y))

        def with_node(total, left):
            i, a = left

            def with_pair(so_far, right):
                j, b = right
                return so_far + a[:, None] * b * self.node_covariance(i[:, None], j[None]), None

            return jax.lax.scan(with_pair, total, of_y)[0], None

        return jax.lax.scan(with_node, jnp.zeros((x.shape[0], y.shape[0])), of_x)[0]

    def variance(self, x):
        nodes, xi = self.grid.stencil(x, self.interpolation)
        inside = self.node_covariance(nodes[:, :, None], nodes[:, None])
        return jnp.sum(xi[:, :, None] * xi[:, None] * inside, axis=(-2, -1))
