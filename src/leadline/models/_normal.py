"""Normal laws: what a Gaussian posterior says about each point, and about points together."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from jaxtyping import Array, Float

from leadline.numerics import (
    blas_threads_for,
    bucket,
    cholesky,
    is_traced,
    log_density_factored,
    pad_rows,
    require_factor,
    solve_factored,
)


class Normal(eqx.Module):
    """Independent normal laws with `mean` and `var` of one shape."""

    mean: Float[Array | np.ndarray, "..."]
    var: Float[Array | np.ndarray, "..."]

    @property
    def std(self) -> Any:
        """Standard deviations."""
        return _library(self)[0].sqrt(self.var)

    def log_prob(self, y: Any) -> Any:
        """Log density of each value."""
        np_, _ = _library(self, y)
        return -0.5 * ((y - self.mean) ** 2 / self.var + np_.log(2.0 * np.pi * self.var))

    def cdf(self, y: Any) -> Any:
        """Probability of a value at most `y`."""
        np_, special = _library(self, y)
        return special.ndtr((y - self.mean) / np_.sqrt(self.var))

    def quantile(self, p: Any) -> Any:
        """The value below which a fraction `p` lies."""
        np_, special = _library(self, p)
        return self.mean + np_.sqrt(self.var) * special.ndtri(p)

    def sample(self, key: Array, n: int) -> Float[Array, "n ..."]:
        """Draw `n` values of each."""
        noise = jax.random.normal(key, (n, *np.shape(self.mean)))
        return self.mean + _library(self)[0].sqrt(self.var) * noise


class MultivariateNormal(eqx.Module):
    """A joint normal law with `mean (m,)` and `cov (m, m)`."""

    mean: Float[Array | np.ndarray, " m"]
    cov: Float[Array | np.ndarray, "m m"]

    @property
    def marginals(self) -> Normal:
        """The normal law of each entry."""
        np_, _ = _library(self)
        return Normal(self.mean, np_.maximum(np_.diagonal(self.cov), 0.0))

    def log_prob(self, y: Float[Array | np.ndarray, " m"]) -> Any:
        """Log density of a joint value `y (m,)`."""
        factor = cholesky(jnp.asarray(self.cov))
        residual = jnp.asarray(y - self.mean)
        weights = solve_factored(factor, residual)
        return log_density_factored(factor, residual, weights, jnp.ones_like(residual))

    def sample(self, key: Array, n: int) -> Float[Array, "n m"]:
        """Draw `n` joint values."""
        if is_traced(self, key):
            return _draw(self.mean, self.cov, key, n)
        m = self.mean.shape[0]
        size = bucket(m)
        cov = np.eye(size)
        cov[:m, :m] = self.cov
        with blas_threads_for(size):
            draws = np.asarray(_draw_jit(pad_rows(np.asarray(self.mean), size), cov, key, n))
        if np.isnan(draws).any():
            require_factor(np.full((m, m), np.nan), "covariance matrix of the draws", "rounding")
        return jnp.asarray(draws[:, :m])


def _draw(mean: Array, cov: Array, key: Array, n: int) -> Array:
    return mean + jax.random.normal(key, (n, mean.shape[0])) @ cholesky(cov).T


_draw_jit = jax.jit(_draw, static_argnums=3)


def _library(*values: Any) -> tuple[Any, Any]:
    """JAX inside a trace; else NumPy, where an eager operation compiles nothing."""
    return (jnp, jax.scipy.special) if is_traced(values) else (np, scipy.special)
