"""Exact draws of a stationary process on a regular grid, by the fast Fourier transform.

Notation: a torus of `t` nodes around the grid, with covariances `c (t,)` from one node to all.
They make a circulant matrix, whose eigenvalues are lambda = fft(c); if none is negative, then

    g = ifft(sqrt(lambda) fft(z)),   z ~ N(0, I_t)

has the covariance c on the torus and k on the grid (Dietrich and Newsam 1997; Wilson 2023, section
3.3.1). A draw costs O(t log t).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, as_choice, is_traced
from leadline.kernels import Kernel
from leadline.numerics import in_pieces, power_of_two
from leadline.paths._features._grid import REACH, GridFeatures, RegularGrid

_TOLERANCE = 1e-10
_LARGEST_TORUS = 2**23
_PIECE = 2**16
_GROWTH = 1.25  # of each axis: in three dimensions a larger step could double the cost eightfold


class Circulant(GridFeatures):
    """Draws of a stationary kernel on a regular grid, interpolated in between.

    At the nodes the law is that of the kernel. In between it is kernel interpolation (Wilson and
    Nickisch 2015), whose covariance xi(x)^T k(Z, Z) xi(y) is `features.kernel()`; the error falls
    with the spacing, as fast as the kernel's smoothness allows.

    Args:
        kernel: a stationary kernel.
        grid: the nodes, in one, two or three dimensions.
        interpolation: "cubic" (draws have a derivative) or "linear".
    """

    eigenvalues: Float[Array, ...]
    torus_covariance: Float[Array, ...]

    def __init__(self, kernel: Kernel, grid: RegularGrid, interpolation: str = "cubic"):
        as_choice(interpolation, tuple(REACH), "interpolation")
        if not hasattr(kernel, "frequencies_at"):
            raise Unsupported(
                f"Circulant takes a stationary kernel, got {kernel!r}. FiniteSet takes any kernel."
            )
        if is_traced(kernel, grid):
            raise Unsupported(
                "The size of the torus depends on the kernel's values: make Circulant outside of "
                "jit and grad."
            )
        if grid.dim > 3:
            raise InvalidData(f"Circulant takes grids of up to 3 dimensions, got {grid.dim}.")
        self.interpolation = interpolation
        # With the nodes that cubic weights need around the grid, which are drawn like all others.
        self.grid = grid.extended(REACH[interpolation])
        eigenvalues = _torus_eigenvalues(kernel, self.grid)
        self.eigenvalues = jax.device_put(eigenvalues)
        self.torus_covariance = jax.device_put(np.fft.ifftn(eigenvalues).real)

    @property
    def torus(self) -> tuple[int, ...]:
        """How many nodes the torus has along each column."""
        return self.eigenvalues.shape

    @property
    def noises(self):
        """One for each node of the torus."""
        return int(np.prod(self.torus))

    def correlate(self, z):
        axes = tuple(range(1, 1 + self.dim))
        transformed = jnp.fft.rfftn(z.reshape(-1, *self.torus), axes=axes)
        roots = jnp.sqrt(self.eigenvalues[..., : transformed.shape[-1]])
        g = jnp.fft.irfftn(roots * transformed, self.torus, axes=axes)
        return g[(slice(None), *map(slice, self.grid.shape))].reshape(z.shape[0], self.size)

    def node_covariance(self, i, j):
        lags = (i - j) % np.asarray(self.torus)
        return self.torus_covariance[tuple(jnp.moveaxis(lags, -1, 0))]


def _from_origin(kernel: Kernel, steps: np.ndarray) -> np.ndarray:
    """k(step, 0) of many steps, in padded pieces: tori of all sizes share a compiled program."""
    size = min(_PIECE, max(1024, power_of_two(steps.shape[0])))
    return in_pieces(lambda p: _from_origin_jit(kernel, p), steps, size, pad=lambda _: size)


@eqx.filter_jit
def _from_origin_jit(kernel: Kernel, steps: Any) -> Array:
    return kernel(steps, jnp.zeros((1, steps.shape[1])))[:, 0]


def _torus_eigenvalues(kernel: Kernel, grid: RegularGrid) -> np.ndarray:
    """Eigenvalues on the smallest torus, of those tried, where none is negative."""
    torus = [scipy.fft.next_fast_len(2 * n - 1) for n in grid.shape]
    while np.prod(torus) <= _LARGEST_TORUS:
        lags = np.meshgrid(*(np.fft.fftfreq(t, 1.0 / t) for t in torus), indexing="ij")
        steps = np.stack([lag.ravel() for lag in lags], axis=1) * np.asarray(grid.spacing)
        c = _from_origin(kernel, steps).reshape(torus)
        # The real part is that of (c(lag) + c(-lag)) / 2, which differs from c only halfway around
        # the torus, where lags have two signs. The grid has no such lags.
        eigenvalues = np.fft.fftn(c).real
        if eigenvalues.min() >= -_TOLERANCE * eigenvalues.max():
            return np.maximum(eigenvalues, 0.0)
        torus = [scipy.fft.next_fast_len(int(_GROWTH * t) + 1) for t in torus]
    raise InvalidData(
        f"No torus of up to {_LARGEST_TORUS} nodes around the grid {grid.shape} has a positive "
        f"definite covariance: {kernel!r} decays too slowly for it. Take a coarser grid, or "
        "FourierFeatures."
    )
