"""The Dirichlet measure on the simplex.

Notation: concentration `alpha (d,)`, `total = sum alpha`. A point is `(d,)`, its coordinates not
negative with sum 1: independent gamma variables of shape `alpha`, divided by their sum.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln, xlogy
from jaxtyping import Array, Float

from leadline.boundary import InvalidData
from leadline.measures._measure import (
    Measure,
    as_cube,
    as_points,
    as_vectors,
    require_host,
    require_positive,
    shown,
)

# How far from 1 the coordinates of a point on the simplex may sum.
_SIMPLEX_TOLERANCE = 1e-9


class Dirichlet(Measure):
    """Dirichlet(concentration) on the simplex of `d >= 2` coordinates that sum to 1."""

    concentration: Float[Array, " d"]

    def __init__(self, concentration: Any):
        (concentration,) = as_vectors(concentration=concentration)
        if concentration.shape[0] < 2:
            raise InvalidData("concentration must have at least two entries, got one.")
        require_positive(concentration=concentration)
        self.concentration = jnp.asarray(concentration)

    @property
    def dim(self) -> int:
        """The number of coordinates, one more than the dimension of the simplex."""
        return self.concentration.shape[0]

    @property
    def mean(self) -> Float[Array, " d"]:
        """Alpha / total."""
        return self.concentration / jnp.sum(self.concentration)

    @property
    def cov(self) -> Float[Array, "d d"]:
        """The covariance matrix, singular along (1, ..., 1)."""
        spread = jnp.diag(self.mean) - jnp.outer(self.mean, self.mean)
        return spread / (jnp.sum(self.concentration) + 1.0)

    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Draw `n` independent points."""
        return jax.random.dirichlet(key, self.concentration, (n,))

    def quantile(self, u: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n d"]:
        """Gamma quantiles divided by their sum; computed on the host: it does not trace."""
        u = as_cube(u, self.dim)
        require_host(self, u)
        log_gamma = _log_gamma_quantile(np.asarray(self.concentration), np.asarray(u))
        weights = np.exp(log_gamma - np.max(log_gamma, axis=1, keepdims=True))
        return jnp.asarray(weights / np.sum(weights, axis=1, keepdims=True))

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log density with respect to the first d - 1 coordinates."""
        x = as_points(x, self.dim)
        on = jnp.all(x >= 0.0, axis=1) & (jnp.abs(jnp.sum(x, axis=1) - 1.0) <= _SIMPLEX_TOLERANCE)
        safe = jnp.where(on[:, None], x, 1.0 / self.dim)
        a = self.concentration
        log_constant = gammaln(jnp.sum(a)) - jnp.sum(gammaln(a))
        return jnp.where(on, log_constant + jnp.sum(xlogy(a - 1.0, safe), axis=1), -jnp.inf)

    def __repr__(self) -> str:
        return f"Dirichlet(concentration={shown(self.concentration)})"


def _log_gamma_quantile(shape: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The log quantile of a gamma variable, also where the quantile itself underflows."""
    from scipy import special

    # u = 0 and u = 1 would give weights that are not numbers if all coordinates had them.
    u = np.clip(u, np.finfo(np.float64).tiny, np.nextafter(1.0, 0.0))
    x = special.gammaincinv(shape, u)
    # P(shape, x) = x^shape / Gamma(shape + 1) (1 + O(x)) near zero.
    small = (np.log(u) + special.gammaln(shape + 1.0)) / shape
    return np.where(x > 1e-100, np.log(np.maximum(x, 1e-100)), small)
