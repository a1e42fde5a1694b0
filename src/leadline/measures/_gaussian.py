"""The Gaussian measure.

Notation: `mean (d,)`; `spread` the covariance as it was given, `(d,)` variances or `(d, d)`;
`root` its square root in the same form: standard deviations, or the lower Cholesky factor.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, is_traced
from leadline.measures._measure import (
    Measure,
    as_arguments,
    as_cube,
    as_points,
    broadcast,
    gaussian_quantile,
    on_host,
    require_positive,
    shown,
)


class Gaussian(Measure):
    """N(mean, cov).

    Args:
        mean: `(d,)`, or one number for the same mean in every coordinate.
        cov: `(d,)` variances of independent coordinates, `(d, d)` a covariance matrix, or one
            number for the same variance in every coordinate. Two plain numbers mean d = 1. Give
            variances where coordinates are independent: more integrals are then known exactly.
    """

    location: Float[Array, " d"]
    spread: Float[Array, " d"] | Float[Array, "d d"]
    root: Float[Array, " d"] | Float[Array, "d d"]

    def __init__(self, mean: Any, cov: Any):
        mean, cov = as_arguments(mean=mean, cov=cov)
        if mean.ndim > 1 or mean.size == 0:
            raise InvalidData(f"mean must be a number or a vector, got shape {mean.shape}.")
        if cov.ndim > 2 or cov.size == 0:
            raise InvalidData(f"cov must have shape (), (d,) or (d, d), got {cov.shape}.")
        d = mean.shape[0] if mean.ndim else (cov.shape[0] if cov.ndim else 1)
        if cov.shape not in ((), (d,), (d, d)):
            raise InvalidData(
                f"cov must be one number, {d} variances or a {d} x {d} matrix to go with mean "
                f"{mean.shape}, got shape {cov.shape}."
            )
        if cov.ndim == 0 or d == 1:
            cov = broadcast(cov.reshape(-1), (d,))
        self.location = jnp.asarray(broadcast(mean, (d,)))
        self.spread, self.root = map(jnp.asarray, factor(cov))

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.location.shape[0]

    @property
    def diagonal(self) -> bool:
        """Whether it was given by variances: its coordinates are independent."""
        return self.spread.ndim == 1

    @property
    def mean(self) -> Float[Array, " d"]:
        """The mean."""
        return self.location

    @property
    def cov(self) -> Float[Array, "d d"]:
        """The covariance matrix."""
        return jnp.diag(self.spread) if self.diagonal else self.spread

    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Draw `n` independent points."""
        return self.location + color(jax.random.normal(key, (n, self.dim)), self.root)

    def quantile(self, u: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n d"]:
        """Normal quantiles, colored by the Cholesky factor: coordinate i depends on u[:, :i+1]."""
        _, u, location, root = on_host(as_cube(u, self.dim), self.location, self.root)
        return jnp.asarray(location + color(gaussian_quantile(u), root))

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log density."""
        return log_density(as_points(x, self.dim), self.location, self.root)

    def __repr__(self) -> str:
        return f"Gaussian(mean={shown(self.location)}, cov={shown(self.spread)})"


def factor(spread: Any, name: str = "cov") -> tuple[Any, Any]:
    """A covariance, checked and symmetric, and its root; `(d,)` variances or `(d, d)`."""
    if is_traced(spread):
        return spread, traced_root(spread, diagonal=spread.ndim == 1)
    if spread.ndim == 1:
        require_positive(**{name: spread})
        return spread, np.sqrt(spread)
    gap = np.abs(spread - spread.T)
    if gap.max() > 1e-8 * np.abs(spread).max():
        i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
        raise InvalidData(
            f"{name} must be symmetric, but {name}[{i}, {j}] = {spread[i, j]:g} and "
            f"{name}[{j}, {i}] = {spread[j, i]:g}."
        )
    spread = 0.5 * (spread + spread.T)
    try:
        root = np.linalg.cholesky(spread)
    except np.linalg.LinAlgError as error:
        raise InvalidData(
            f"{name} must be positive definite, but its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(spread)[0]:g}."
        ) from error
    return spread, root


def traced_root(spread: Array, *, diagonal: bool) -> Array:
    """The roots of one or several covariances, unchecked."""
    return jnp.sqrt(spread) if diagonal else jnp.linalg.cholesky(spread)


def color(z: Any, root: Any) -> Any:
    """Standard normal rows `z (n, d)` with the covariance of `root`."""
    return z * root if root.ndim == 1 else z @ root.T


def log_density(x: Array, mean: Array, root: Array) -> Array:
    """Log N(x | mean, root root^T) for `x (n, d)`."""
    centered = x - mean
    if root.ndim == 1:
        z, log_root = centered / root, jnp.sum(jnp.log(root))
    else:
        z = jax.scipy.linalg.solve_triangular(root, centered.T, lower=True).T
        log_root = jnp.sum(jnp.log(jnp.diagonal(root)))
    return -0.5 * jnp.sum(z * z, axis=1) - log_root - 0.5 * x.shape[1] * jnp.log(2.0 * jnp.pi)
