"""Draws with a boundary condition, from eigenfunctions of the Laplacian on a bounded domain.

Notation: -Lap phi_i = s_i phi_i with phi_i = 0 (Dirichlet) or no slope across (Neumann) at the
boundary, orthonormal. With variances `lambda_i` from the kernel's spectral density
(`_laplacian.py`) the Karhunen-Loeve expansion

    f = sum_i w_i phi_i,   w_i ~ N(0, lambda_i)

solves the stochastic differential equation of a Matern process on the domain (Wilson 2023, eqs.
3.71 and 3.72). Far from the boundary its variance is the kernel's.

To keep the condition after data, condition with `features.kernel()`: the update is then a
combination of the phi_i too. The kernel of free space would violate it.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from leadline.boundary import InvalidData, as_bounds, as_choice
from leadline.kernels import Kernel
from leadline.numerics import blas_threads_for, sine_and_cosine
from leadline.paths._features._grid import RegularGrid, moved_inside
from leadline.paths._features._karhunen_loeve import Expansion, as_size
from leadline.paths._features._laplacian import mode_variances


class BoxModes(Expansion):
    """Draws on a box that vanish on its boundary, or have no slope across it.

    With box sides L, phi_i(x) = prod_a sqrt(2 / L_a) sin(i_a pi (x_a - low_a) / L_a) and
    s_i = sum_a (i_a pi / L_a)^2; cosines, with i_a from 0, for "neumann". Inputs outside the box
    are moved to its boundary.

    Args:
        kernel: a Matern or squared exponential kernel with one length scale, possibly scaled.
        bounds: (low, high) of each input column.
        size: how many eigenfunctions, those with the smallest eigenvalues of the Laplacian. The
            last of them should oscillate well within a length scale.
        boundary: "dirichlet" or "neumann".
    """

    laplacian: Float[Array, " l"]
    lower: Float[Array, " d"]
    sides: Float[Array, " d"]
    numbers: Int[Array, "l d"]
    counts: tuple[int, ...] = eqx.field(static=True)
    boundary: str = eqx.field(static=True)

    def __init__(self, kernel: Kernel, bounds: Any, size: int, boundary: str = "dirichlet"):
        lower, upper = as_bounds(bounds)
        self.boundary = as_choice(boundary, ("dirichlet", "neumann"), "boundary")
        numbers, laplacian = _smallest_modes(upper - lower, as_size(size), self._first)
        self.counts = tuple(int(c) + 1 for c in numbers.max(axis=0))
        self.lower, self.sides = jax.device_put((lower, upper - lower))
        self.numbers, self.laplacian = jax.device_put((numbers, laplacian))
        self.eigenvalues = mode_variances(kernel, self.laplacian, self.dim)

    @property
    def dim(self):
        return len(self.counts)

    @property
    def _first(self) -> int:
        return 1 if self.boundary == "dirichlet" else 0

    def eigenfunctions(self, x):
        t = moved_inside((x - self.lower) / self.sides, 0.0, 1.0)
        found = jnp.ones((x.shape[0], self.size))
        # Waves are computed once along each axis, and then combined.
        for axis, count in enumerate(self.counts):
            numbers = np.arange(count)
            s, c = sine_and_cosine(np.pi * t[:, axis, None] * numbers)
            waves = s if self.boundary == "dirichlet" else c
            height = jnp.sqrt(np.where(numbers == 0, 1.0, 2.0) / self.sides[axis])
            found = found * (height * waves)[:, self.numbers[:, axis]]
        return found


class RegionModes(Expansion):
    """Draws that vanish outside a region of any shape.

    The region is a set of nodes of a regular grid. Eigenfunctions are those of the finite
    difference Laplacian (with five points in the plane) that is zero at all other nodes, and
    linearly interpolated in between: they fall to zero over the cells at the edge of the region,
    and are zero beyond.

    Args:
        kernel: a Matern or squared exponential kernel with one length scale, possibly scaled.
        grid: the grid; its spacing should be well below the length scale.
        mask: which nodes are in the region, of the grid's shape.
        size: how many eigenfunctions, those with the smallest eigenvalues; fewer than nodes in the
            region.
    """

    laplacian: Float[Array, " l"]
    grid: RegularGrid
    node_values: Float[Array, "g l"]

    def __init__(self, kernel: Kernel, grid: RegularGrid, mask: Any, size: int):
        mask = np.asarray(mask)
        if mask.dtype != bool or mask.shape != grid.shape:
            raise InvalidData(
                f"mask must be an array of bool with the grid's shape {grid.shape}, got "
                f"{mask.dtype} with shape {mask.shape}."
            )
        inside = int(mask.sum())
        if as_size(size) >= inside:
            raise InvalidData(
                f"The region has {inside} nodes, so there must be fewer eigenfunctions than that, "
                f"got {size}."
            )
        # One more layer of nodes, so that functions reach zero also where the mask ends at the
        # edge of the grid.
        self.grid, mask = grid.extended(1), np.pad(mask, 1)
        laplacian, vectors = _region_eigenpairs(mask, np.asarray(self.grid.spacing), size)
        node_values = np.zeros((mask.size, size))
        node_values[mask.ravel()] = vectors
        self.laplacian, self.node_values = jax.device_put((laplacian, node_values))
        self.eigenvalues = mode_variances(kernel, self.laplacian, self.dim)

    @property
    def dim(self):
        return self.grid.dim

    def eigenfunctions(self, x):
        nodes, xi = self.grid.stencil(x, "linear")
        return jnp.sum(xi[..., None] * self.node_values[self.grid.number(nodes)], axis=1)


def _smallest_modes(sides: np.ndarray, size: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """Wave numbers (l, d) of the smallest sums of (number pi / side)^2, and the sums in order.

    Axes are added one after the other. Of two sorted lists, the pair (p, q) (counted from 1) has
    p q - 1 others that are not larger, so only pairs with p q <= size can be among the smallest.
    """
    numbers, sums = np.zeros((1, 0), int), np.zeros(1)
    own = np.arange(size)
    for side in sides:
        room = np.minimum(size // (own + 1), sums.size)
        left, right = np.concatenate([np.arange(r) for r in room]), np.repeat(own, room)
        total = sums[left] + (np.pi * (right + first) / side) ** 2
        best = np.argsort(total, kind="stable")[:size]
        numbers = np.column_stack([numbers[left[best]], right[best] + first])
        sums = total[best]
    return numbers, sums


def _region_eigenpairs(
    mask: np.ndarray, spacing: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray]:
    """The smallest eigenvalues of minus the Laplacian, and eigenvectors with unit integral."""
    import scipy.sparse.linalg  # takes a while, and is needed only here

    inside = int(mask.sum())
    row = np.full(mask.shape, -1)
    row[mask] = np.arange(inside)
    operator = scipy.sparse.diags_array(np.full(inside, np.sum(2.0 / spacing**2)))
    for axis, h in enumerate(spacing):
        along = np.moveaxis(row, axis, 0)
        pair = (along[:-1] >= 0) & (along[1:] >= 0)
        ends = along[:-1][pair], along[1:][pair]
        step = scipy.sparse.coo_array((np.full(ends[0].size, -1.0 / h**2), ends), (inside, inside))
        operator = operator + step + step.T
    # A given start makes the answer the same in every run.
    start = np.random.default_rng(0).uniform(size=inside)
    with blas_threads_for(size):
        values, vectors = scipy.sparse.linalg.eigsh(operator.tocsc(), size, sigma=0.0, v0=start)
    order = np.argsort(values)
    return values[order], vectors[:, order] / np.sqrt(np.prod(spacing))
