"""Exact draws at finitely many points.

Notation: points `z (l, d)`, K = k(z, z) = L L^T; `v = L^-T e` with standard normal `e (l,)`;

    f(x) = k(x, z) v,   so that f(z) = L e ~ N(0, K)

(Wilson 2023, eq. 3.19). Weights are `v` instead of `e`: the triangular system is solved once for
each draw, not for each input.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import as_rows, is_traced
from leadline.kernels import Kernel
from leadline.numerics import (
    blas_threads_for,
    cholesky,
    extend_cholesky,
    require_factor,
    solve_lower,
)
from leadline.paths._features._features import Features

_CAUSE = "points that are given twice, or nearly so"


class FiniteSet(Features):
    """Draws whose values at given points have exactly the kernel's law, for any kernel.

    Elsewhere they are the mean given those values, with the degenerate covariance
    k(x, z) K^-1 k(z, y) (Wilson 2023, eq. 3.36): away from the points a draw returns to zero and
    its variance collapses. Use it where all inputs are known beforehand.

    Args:
        kernel: the covariance function.
        points: where draws are exact, (l, d).
    """

    kernel_inside: Kernel
    points: Float[Array, "l d"]
    factor: Float[Array, "l l"]

    def __init__(self, kernel: Kernel, points: Any):
        self.kernel_inside = kernel
        self.points = _as_points(points)
        self.factor = _checked(_factor_jit, kernel, self.points)

    def extend(self, points: Any) -> FiniteSet:
        """The same draws at more points, in O(l^2) for each new one.

        The factor only gets more rows: weights from the same leading normal numbers give the same
        values at the old points (Wilson 2023, eq. 3.20).
        """
        new = _as_points(points, columns=self.dim)
        factor = _checked(_extend_jit, self.kernel_inside, self.points, self.factor, new)
        together = jnp.concatenate([self.points, new])
        return eqx.tree_at(lambda f: (f.points, f.factor), self, (together, factor))

    @property
    def size(self):
        """One for each point."""
        return self.points.shape[0]

    @property
    def dim(self):
        return self.points.shape[1]

    def __call__(self, x):
        return self.kernel_inside(x, self.points)

    def correlate(self, z):
        solve = jax.scipy.linalg.solve_triangular
        return solve(self.factor, z.T, lower=True, trans=1).T

    def covariance(self, x, y):
        return self._whitened(x).T @ self._whitened(y)

    def variance(self, x):
        return jnp.sum(self._whitened(x) ** 2, axis=0)

    def _whitened(self, x: Array) -> Float[Array, "l m"]:
        return solve_lower(self.factor, self(x).T)


def _as_points(points: Any, columns: int | None = None) -> Array:
    return (
        points if is_traced(points) else jax.device_put(as_rows(points, "points", columns=columns))
    )


def _checked(program: Any, *args: Any) -> Array:
    """Run a factorization; outside a trace, raise if it failed."""
    if is_traced(args):
        return program(*args)
    with blas_threads_for(args[1].shape[0]):
        factor = jax.block_until_ready(program(*args))
    require_factor(factor, "covariance matrix of the points", _CAUSE)
    return factor


def _factor(kernel: Kernel, points: Array) -> Array:
    return cholesky(kernel(points, points))


def _extend(kernel: Kernel, old: Array, factor: Array, new: Array) -> Array:
    below, corner = extend_cholesky(factor, kernel(old, new), kernel(new, new))
    return jnp.block([[factor, jnp.zeros((old.shape[0], new.shape[0]))], [below, corner]])


_factor_jit = eqx.filter_jit(_factor)
_extend_jit = eqx.filter_jit(_extend)
