"""Karhunen-Loeve expansions of any kernel, by quadrature.

Notation: nodes `x_j (n, d)` with weights `w_j (n,)`; with W = diag(w), K = k(x, x),

    W^1/2 K W^1/2 u_i = lambda_i u_i,   phi_i(x) = 1/lambda_i sum_j w_j^1/2 k(x, x_j) u_ij

(Nystrom 1930; Rasmussen and Williams 2006, section 4.3.2). The covariance of the draws is never
larger than k, and with as many features as nodes it is k(x, X) K^-1 k(X, y).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_bounds, as_rows, as_targets, is_traced
from leadline.kernels import Kernel
from leadline.paths._features._karhunen_loeve import Expansion, as_size

# Nodes along each input column, for one, two and three columns.
_NODES = (200, 40, 12)


class Nystrom(Expansion):
    """The leading eigenfunctions of a kernel with respect to a measure given by nodes and weights.

    Args:
        kernel: the covariance function.
        nodes: quadrature nodes (n, d).
        quadrature_weights: their weights (n,), positive. They sum to the volume of the domain, or
            to 1 for a probability measure, such as 1/n at draws from it.
        size: how many eigenfunctions, at most n.
    """

    kernel_inside: Kernel
    nodes: Float[Array, "n d"]
    coefficients: Float[Array, "n l"]

    def __init__(self, kernel: Kernel, nodes: Any, quadrature_weights: Any, size: int):
        if not is_traced(nodes, quadrature_weights):
            nodes = as_rows(nodes, "nodes")
            quadrature_weights = _as_quadrature_weights(quadrature_weights, nodes.shape[0])
        if as_size(size) > nodes.shape[0]:
            raise InvalidData(
                f"{nodes.shape[0]} nodes have as many eigenfunctions, but {size} were asked for."
            )
        self.kernel_inside = kernel
        self.nodes = jax.device_put(nodes)
        found = _eigenpairs_jit(kernel, self.nodes, quadrature_weights, size)
        self.eigenvalues, self.coefficients = found
        if not is_traced(kernel, nodes, quadrature_weights):
            _require_resolved(np.asarray(self.eigenvalues), nodes.shape[0])

    @classmethod
    def on_box(cls, kernel: Kernel, bounds: Any, size: int, nodes: int | None = None) -> Nystrom:
        """Eigenfunctions on a box, from Gauss-Legendre nodes.

        Args:
            kernel: the covariance function.
            bounds: (low, high) of each input column; at most three columns.
            size: how many eigenfunctions.
            nodes: how many along each column; 200, 40 or 12 for one, two or three columns if None.
        """
        lower, upper = as_bounds(bounds)
        d = lower.shape[0]
        if d > len(_NODES):
            raise InvalidData(
                f"Tensor products of nodes are for at most {len(_NODES)} input columns, got {d}. "
                "In more dimensions give Nystrom draws from a measure as nodes, or use "
                "FourierFeatures."
            )
        t, w = np.polynomial.legendre.leggauss(as_size(_NODES[d - 1] if nodes is None else nodes))
        along = [0.5 * ((b - a) * t + a + b) for a, b in zip(lower, upper, strict=True)]
        heights = [0.5 * (b - a) * w for a, b in zip(lower, upper, strict=True)]
        points = np.stack([p.ravel() for p in np.meshgrid(*along, indexing="ij")], axis=1)
        products = np.prod([p.ravel() for p in np.meshgrid(*heights, indexing="ij")], axis=0)
        return cls(kernel, points, products, size)

    @property
    def dim(self):
        return self.nodes.shape[1]

    def eigenfunctions(self, x):
        return self.kernel_inside(x, self.nodes) @ self.coefficients


def _eigenpairs(kernel: Kernel, nodes: Array, weights: Array, size: int) -> tuple[Array, Array]:
    root = jnp.sqrt(weights)
    values, vectors = jnp.linalg.eigh(root[:, None] * kernel(nodes, nodes) * root)
    values, vectors = values[::-1][:size], vectors[:, ::-1][:, :size]
    return values, root[:, None] * vectors / values


_eigenpairs_jit = eqx.filter_jit(_eigenpairs)


def _as_quadrature_weights(weights: Any, n: int) -> np.ndarray:
    weights = as_targets(weights, n, "quadrature_weights")
    if np.any(weights <= 0):
        raise InvalidData(f"quadrature_weights must be positive, got {weights.min():g}.")
    return weights


def _require_resolved(values: np.ndarray, n: int) -> None:
    """Raise if the last eigenvalues are rounding errors of the first."""
    resolved = int(np.sum(values > n * np.finfo(float).eps * values[0]))
    if resolved < values.size:
        raise InvalidData(
            f"Only {resolved} of the {values.size} eigenvalues asked for are above rounding error. "
            f"Take size={resolved} or less: more features would not change the draws."
        )
