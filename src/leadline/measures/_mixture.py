"""Mixtures of Gaussians.

Notation: k components with weights `w (k,)`, means `m (k, d)` and spreads `(k, d)` or `(k, d, d)`;
roots as in `_gaussian.py`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, is_traced
from leadline.measures._gaussian import factor, log_density, traced_root
from leadline.measures._measure import (
    Measure,
    as_arguments,
    as_cube,
    as_points,
    broadcast,
    gaussian_quantile,
    on_host,
    shown,
)


class GaussianMixture(Measure):
    """sum_j w_j N(m_j, S_j).

    It has no `quantile`: there is no natural map from the cube of the same dimension. Its `qmc`
    spends one more uniform number on the component, so that components are stratified.

    Args:
        weights: `(k,)`, not negative, summing to 1. A component may have weight zero.
        means: `(k, d)`; `(k,)` if d = 1.
        covs: `(k, d)` variances, `(k, d, d)` covariance matrices, or `(k,)` one variance for all
            coordinates of each component.
    """

    weights: Float[Array, " k"]
    locations: Float[Array, "k d"]
    spreads: Float[Array, "k d"] | Float[Array, "k d d"]
    roots: Float[Array, "k d"] | Float[Array, "k d d"]

    def __init__(self, weights: Any, means: Any, covs: Any):
        weights, means, covs = as_arguments(weights=weights, means=means, covs=covs)
        if weights.ndim != 1 or weights.size == 0:
            raise InvalidData(f"weights must have shape (k,), got {weights.shape}.")
        means = means[:, None] if means.ndim == 1 else means
        k = weights.shape[0]
        if means.ndim != 2 or means.shape[0] != k or means.size == 0:
            raise InvalidData(
                f"means must have shape ({k}, d), one row per weight, got {means.shape}."
            )
        d = means.shape[1]
        if covs.shape not in ((k,), (k, d), (k, d, d)):
            raise InvalidData(
                f"covs must have shape ({k}, {d}), ({k}, {d}, {d}) or ({k},), got {covs.shape}."
            )
        if covs.ndim == 1 or d == 1:
            covs = broadcast(covs.reshape(k, -1), (k, d))
        _check_weights(weights)
        self.weights, self.locations = jnp.asarray(weights), jnp.asarray(means)
        if is_traced(covs):
            self.spreads, self.roots = covs, traced_root(covs, diagonal=covs.ndim == 2)
        else:
            pairs = [factor(covs[j], f"covs[{j}]") for j in range(k)]
            self.spreads, self.roots = (
                jnp.asarray(np.stack(part)) for part in zip(*pairs, strict=True)
            )

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.locations.shape[1]

    @property
    def diagonal(self) -> bool:
        """Whether it was given by variances: coordinates are independent within components."""
        return self.spreads.ndim == 2

    @property
    def mean(self) -> Float[Array, " d"]:
        """The mean (Naiff 2019, 5.27)."""
        return self.weights @ self.locations

    @property
    def cov(self) -> Float[Array, "d d"]:
        """The covariance matrix (Naiff 2019, 5.28), within plus between components."""
        within = jnp.tensordot(self.weights, self.spreads, axes=1)
        centered = self.locations - self.mean
        between = (self.weights[:, None] * centered).T @ centered
        return (jnp.diag(within) if self.diagonal else within) + between

    @property
    def cube_dim(self) -> int:
        """One uniform number for the component, and one per coordinate."""
        return self.dim + 1

    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Draw `n` independent points."""
        which, noise = jax.random.split(key)
        index = jax.random.choice(which, self.weights.shape[0], (n,), p=self.weights)
        z = jax.random.normal(noise, (n, self.dim))
        return self.locations[index] + _color_each(jnp, z, self.roots[index])

    def from_cube(self, u: Float[Array | np.ndarray, "n c"]) -> Float[Array, "n d"]:
        """The first column chooses components by their cumulative weights."""
        xp, u, weights, locations, roots = on_host(
            as_cube(u, self.cube_dim), self.weights, self.locations, self.roots
        )
        edges = xp.cumsum(weights)
        index = xp.searchsorted(edges[:-1] / edges[-1], u[:, 0], side="right")
        z = gaussian_quantile(u[:, 1:])
        return jnp.asarray(locations[index] + _color_each(xp, z, roots[index]))

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log density."""
        x = as_points(x, self.dim)
        parts = jax.lax.map(lambda c: log_density(x, *c), (self.locations, self.roots))
        return jax.nn.logsumexp(parts, axis=0, b=self.weights[:, None])

    def __repr__(self) -> str:
        return (
            f"GaussianMixture(weights={shown(self.weights)}, means={shown(self.locations)}, "
            f"covs={shown(self.spreads)})"
        )


def _color_each(xp: Any, z: Any, roots: Any) -> Any:
    """Standard normal rows `z (n, d)`, each with the covariance of its own root."""
    return z * roots if roots.ndim == 2 else xp.einsum("nij,nj->ni", roots, z)


def _check_weights(weights: Any) -> None:
    if is_traced(weights):
        return
    if np.any(weights < 0.0):
        i = int(np.argmin(weights))
        raise InvalidData(f"weights must not be negative, but weights[{i}] = {weights[i]:g}.")
    if abs(float(np.sum(weights)) - 1.0) > 1e-8:
        raise InvalidData(f"weights must sum to 1, but they sum to {float(np.sum(weights)):.10g}.")
