"""Independent beta coordinates on the unit cube."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import betaln, xlog1py, xlogy
from jaxtyping import Array, Float

from leadline.measures._measure import (
    Measure,
    as_cube,
    as_points,
    as_vectors,
    require_host,
    require_positive,
    shown,
)


class Beta(Measure):
    """The density x^(a-1) (1-x)^(b-1) / B(a, b) in each coordinate; `a`, `b` numbers or `(d,)`."""

    a: Float[Array, " d"]
    b: Float[Array, " d"]

    def __init__(self, a: Any, b: Any):
        a, b = as_vectors(a=a, b=b)
        require_positive(a=a, b=b)
        self.a, self.b = jnp.asarray(a), jnp.asarray(b)

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.a.shape[0]

    @property
    def mean(self) -> Float[Array, " d"]:
        """A / (a + b)."""
        return self.a / (self.a + self.b)

    @property
    def cov(self) -> Float[Array, "d d"]:
        """The covariance matrix, diagonal."""
        return jnp.diag(self.mean * (1.0 - self.mean) / (self.a + self.b + 1.0))

    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Draw `n` independent points."""
        return jax.random.beta(key, self.a, self.b, (n, self.dim))

    def quantile(self, u: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n d"]:
        """The quantile of each coordinate, computed on the host: it does not trace."""
        from scipy.special import betaincinv

        u = as_cube(u, self.dim)
        require_host(self, u)
        return jnp.asarray(betaincinv(np.asarray(self.a), np.asarray(self.b), np.asarray(u)))

    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log density; infinite at a face of the cube where the density is."""
        x = as_points(x, self.dim)
        inside = (x >= 0.0) & (x <= 1.0)
        safe = jnp.where(inside, x, 0.5)
        terms = xlogy(self.a - 1.0, safe) + xlog1py(self.b - 1.0, -safe) - betaln(self.a, self.b)
        # First all coordinates, then the sum: an infinite density times zero is zero.
        return jnp.where(jnp.all(inside, axis=1), jnp.sum(terms, axis=1), -jnp.inf)

    def __repr__(self) -> str:
        return f"Beta(a={shown(self.a)}, b={shown(self.b)})"
