"""Finite elements: a stochastic differential equation on a regular grid.

Notation: hat functions psi_i (products of them in several dimensions) on a grid with spacing `h`,
M_ij = int psi_i psi_j, G_ij = int grad psi_i . grad psi_j. The Galerkin solution f = sum_i w_i
psi_i of (kappa^2 - Lap) f = white noise, with reflecting (Neumann) boundaries, has the weights

    A w = b,   b ~ N(0, M),   A = kappa^2 M + G

(Lindgren, Rue and Lindstrom 2011; Wilson 2023, eq. 3.27), and repeated solves raise the power of
the operator. On a regular grid cosines diagonalize both matrices at once: along one axis of `n`
nodes, with v_k = cos(a j), a = pi k / (n - 1),

    G v_k = mu_k M v_k,   mu_k = (6 / h^2) (1 - cos a) / (2 + cos a)
    |v_k|^2 = v_k^T M v_k = (h / 3) (2 + cos a) (n - 1) (1 if k is 0 or n - 1, else 1/2)

and the mu_k of all axes add up. Hence w = sum_k sqrt(lambda_k) z_k v_k / |v_k|, with lambda_k the
variance that the kernel gives to the eigenvalue mu_k (`_laplacian.py`), is the same solution, for
any power of the operator, whole or not, and by fast cosine transforms.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_bounds, is_traced
from leadline.kernels import Kernel
from leadline.paths._features._grid import GridFeatures, RegularGrid
from leadline.paths._features._laplacian import mode_variances, shared_lengthscale

_MOST_NODES = 2**23
_LENGTHSCALES = 4.0


class FiniteElements(GridFeatures):
    """Draws of a Matern process from finite elements on a box.

    A draw costs O(l log l) for l nodes, and its value at an input a handful of multiplications. It
    is (multi-)linear between the nodes: the covariance error falls as the squared spacing for
    processes with a derivative (nu > 1), more slowly for rough ones.

    Args:
        kernel: a Matern or squared exponential kernel with one length scale, possibly scaled.
        bounds: (low, high) of each input column.
        spacing: the distance of neighboring nodes, well below the length scale.
        padding: how far the grid goes on beyond the box. At a reflecting boundary the variance is
            2^d times as large; that dies out over a few length scales (4 of them if None).
    """

    amplitude: Float[Array, ...]
    reflected: Float[Array, ...]

    def __init__(
        self, kernel: Kernel, bounds: Any, spacing: float, *, padding: float | None = None
    ):
        lower, upper = as_bounds(bounds)
        lengthscale = shared_lengthscale(kernel)
        if padding is None:
            if is_traced(kernel):
                raise InvalidData(
                    "Inside jit and grad the number of nodes must not depend on the length scale: "
                    "give the padding as a number."
                )
            padding = _LENGTHSCALES * float(lengthscale)
        if not (np.isfinite(padding) and padding >= 0):
            raise InvalidData(f"padding must be zero or positive, got {padding}.")
        self.interpolation = "linear"
        padded = np.stack([lower - padding, upper + padding], axis=1)
        self.grid = RegularGrid.covering(padded, spacing)
        if self.grid.size > _MOST_NODES:
            raise InvalidData(
                f"A grid of shape {self.grid.shape} is too large. Take a spacing above "
                f"{spacing:g}, or less padding than {padding:g}."
            )
        axes = [_modes(n, h) for n, h in zip(self.grid.shape, self.grid.spacing, strict=True)]
        mu = reduce(np.add.outer, [mu for mu, _ in axes])
        squares = reduce(np.multiply.outer, [square for _, square in axes])
        self.amplitude, self.reflected = _amplitudes_jit(kernel, mu, squares)

    def correlate(self, z):
        scaled = self.amplitude * z.reshape(-1, *self.grid.shape)
        return _cosine_sums(scaled, range(1, 1 + self.dim)).reshape(z.shape)

    def node_covariance(self, i, j):
        """By images: cos(a i) cos(a j) = [cos(a (i - j)) + cos(a (i + j))] / 2 along each axis."""
        last = np.asarray(self.grid.shape) - 1
        total = jnp.zeros(jnp.broadcast_shapes(i.shape, j.shape)[:-1])
        for signs in product((-1, 1), repeat=self.dim):
            lag = jnp.abs(i + np.asarray(signs) * j)
            folded = jnp.where(lag > last, 2 * last - lag, lag)
            total = total + self.reflected[tuple(jnp.moveaxis(folded, -1, 0))]
        return total


@eqx.filter_jit
def _amplitudes_jit(kernel: Kernel, mu: Any, squares: Any) -> tuple[Array, Array]:
    """Standard deviations of the coefficients of v_k, and the sums that `node_covariance` reads."""
    variances = mode_variances(kernel, mu.ravel(), mu.ndim).reshape(mu.shape) / squares
    return jnp.sqrt(variances), _cosine_sums(variances, range(mu.ndim)) / 2.0**mu.ndim


def _modes(n: int, h: float) -> tuple[np.ndarray, np.ndarray]:
    """mu_k and |v_k|^2 along one axis."""
    cosines = np.cos(np.pi * np.arange(n) / (n - 1))
    at_end = np.where(np.isin(np.arange(n), (0, n - 1)), 1.0, 0.5)
    mu = 6.0 / h**2 * (1.0 - cosines) / (2.0 + cosines)
    return mu, h / 3.0 * (2.0 + cosines) * (n - 1) * at_end


def _cosine_sums(a: Array, axes: Any) -> Array:
    """sum_k a_k cos(pi k j / (n - 1)) along each of the axes."""
    for axis in axes:
        a = jnp.moveaxis(a, axis, -1)
        inner = 0.5 * a[..., 1:-1]
        around = jnp.concatenate([a[..., :1], inner, a[..., -1:], inner[..., ::-1]], axis=-1)
        a = jnp.moveaxis(jnp.fft.rfft(around).real, -1, axis)
    return a
