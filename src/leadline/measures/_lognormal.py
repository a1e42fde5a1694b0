"""Independent log-normal coordinates."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.measures._measure import (
    Measure,
    as_cube,
    as_points,
    as_vectors,
    gaussian_quantile,
    on_host,
    require_positive,
    shown,
)


class LogNormal(Measure):
    """exp of N(log_mean, log_std^2) in each coordinate.

    Args:
        log_mean: the mean of the logarithm, a number or `(d,)`.
        log_std: the standard deviation of the logarithm, a number or `(d,)`.
    """

    log_mean: Float[Array, " d"]
    log_std: Float[Array, " d"]

    def __init__(self, log_mean: Any, log_std: Any):
        log_mean, log_std = as_vectors(log_mean=log_mean, log_std=log_std)
        require_positive(log_std=log_std)
        self.log_mean, self.log_std = jnp.asarray(log_mean), jnp.asarray(log_std)

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.log_mean.shape[0]

    @property
    def mean(self) -> Float[Array, " d"]:
        """The mean of the measure itself, not of its logarithm."""
        return jnp.exp(self.log_mean + 0.5 * self.log_std**2)

    @property
    def cov(self) -> Float[Array, "d d"]:
        """The covariance matrix of the measure itself."""
        return jnp.diag(self.mean**2 * jnp.expm1(self.log_std**2))

    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Draw `n` independent points."""
        return jnp.exp(self.log_mean + self.log_std * jax.random.normal(key, (n, self.dim)))

    def quantile(self, u: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n d"]:
        """The quantile of each coordinate."""
        xp, u, mean, std = on_host(as_cube(u, self.dim), self.log_mean, self.log_std)
        return jnp.asarray(xp.exp(mean + std * gaussian_quantile(u)))

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log density."""
        x = as_points(x, self.dim)
        log_x = jnp.log(jnp.where(x > 0.0, x, 1.0))
        z = (log_x - self.log_mean) / self.log_std
        terms = -0.5 * z * z - log_x - jnp.log(self.log_std) - 0.5 * jnp.log(2.0 * jnp.pi)
        return jnp.sum(jnp.where(x > 0.0, terms, -jnp.inf), axis=1)

    def __repr__(self) -> str:
        return f"LogNormal(log_mean={shown(self.log_mean)}, log_std={shown(self.log_std)})"
