"""Normal laws: what a Gaussian posterior says about each point, and about points together."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_count, as_key, as_targets, is_traced, show
from leadline.numerics import (
    blas_threads_for,
    bucket,
    cholesky,
    log_density_factored,
    pad_rows,
    require_factor,
    row_mask,
    solve_factored,
)

# A value known without doubt has the smallest variance that is still a normal number, so that its
# density and distribution function are never 0 / 0.
_POINT_MASS = float(np.finfo(np.float64).tiny)


class Normal(eqx.Module):
    """Independent normal laws with `mean` and `var` of one shape."""

    mean: Float[Any, ...]
    var: Float[Any, ...]

    @property
    def std(self) -> Any:
        """Standard deviations."""
        return array_library(self)[0].sqrt(self.var)

    def __repr__(self) -> str:
        return f"Normal(mean={show(self.mean)}, var={show(self.var)})"

    def log_prob(self, y: Any) -> Any:
        """Log density of each value."""
        np_, _ = array_library(self, y)
        var = np_.maximum(self.var, _POINT_MASS)
        with np.errstate(over="ignore"):
            return -0.5 * ((y - self.mean) ** 2 / var + np_.log(2.0 * np.pi * var))

    def cdf(self, y: Any) -> Any:
        """Probability of a value at most `y`."""
        np_, special = array_library(self, y)
        with np.errstate(over="ignore"):
            return special.ndtr((y - self.mean) / np_.sqrt(np_.maximum(self.var, _POINT_MASS)))

    def quantile(self, p: Any) -> Any:
        """The values below which a fraction `p` lies.

        A number gives the shape of the laws, `(m,)`. A list of k levels gives `(k, m)`, a row for
        each level. With more dimensions `p` is broadcast against the laws: `(1, m)` gives each of
        them a level of its own.
        """
        np_, special = array_library(self, p)
        p = levels(p, np.ndim(self.mean))
        return self.mean + np_.sqrt(np_.maximum(self.var, _POINT_MASS)) * special.ndtri(p)

    def sample(self, key: Array, n: int) -> Float[Array, "n ..."]:
        """Draw `n` values of each."""
        key, n = as_key(key), as_count(n, "n")
        noise = jax.random.normal(key, (n, *np.shape(self.mean)))
        return self.mean + array_library(self)[0].sqrt(self.var) * noise


class MultivariateNormal(eqx.Module):
    """A joint normal law with `mean (m,)` and `cov (m, m)`."""

    mean: Float[Any, " m"]
    cov: Float[Any, "m m"]

    @property
    def marginals(self) -> Normal:
        """The normal law of each entry."""
        np_, _ = array_library(self)
        return Normal(self.mean, np_.maximum(np_.diagonal(self.cov), 0.0))

    def log_prob(self, y: Float[Any, " m"]) -> Any:
        """Log density of a joint value `y (m,)`."""
        if is_traced(self, y):
            return _log_prob(self.cov, y - self.mean, jnp.ones(self.mean.shape))[0]
        residual = as_targets(y, self.mean.shape[0]) - self.mean
        cov, mask = self._padded_cov()
        with blas_threads_for(mask.size):
            program = _log_prob_jit(cov, pad_rows(residual, mask.size) * mask, mask)
            value, factor = jax.device_get(program)
        cause = "points that are (almost) the same, or values that are known without doubt"
        require_factor(factor, "covariance matrix of the points", cause, residual.size)
        return value

    def sample(self, key: Array, n: int) -> Float[Array, "n m"]:
        """Draw `n` joint values."""
        key, n = as_key(key), as_count(n, "n")
        if is_traced(self, key):
            return _draw(self.mean, self.cov, jnp.ones(self.mean.shape), key, n)
        m = self.mean.shape[0]
        cov, mask = self._padded_cov()
        mean = pad_rows(np.asarray(self.mean), mask.size)
        with blas_threads_for(mask.size):
            draws = np.asarray(_draw_jit(mean, cov, mask, key, n))
        return jax.device_put(draws[:, :m])

    def _padded_cov(self) -> tuple[np.ndarray, np.ndarray]:
        m = self.mean.shape[0]
        cov = np.eye(bucket(m))
        cov[:m, :m] = self.cov
        return cov, row_mask(m, cov.shape[0])


def _log_prob(cov: Array, residual: Array, mask: Array) -> tuple[Array, Array]:
    factor = cholesky(cov, mask)
    weights = solve_factored(factor, residual)
    return log_density_factored(factor, residual, weights, mask), factor


def _draw(mean: Array, cov: Array, mask: Array, key: Array, n: int) -> Array:
    return mean + jax.random.normal(key, (n, mean.shape[0])) @ _root(cov, mask).T


def _root(cov: Array, mask: Array) -> Array:
    """A square root of a covariance matrix.

    Where values are known without doubt, all that is left of their covariance is rounding error.
    No jitter relative to that helps; its negative eigenvalues are zero.
    """

    def symmetric():
        values, vectors = jnp.linalg.eigh(cov)
        return vectors * jnp.sqrt(jnp.maximum(values, 0.0))

    factor = cholesky(cov, mask)
    return jax.lax.cond(jnp.isnan(factor[-1, -1]), symmetric, lambda: factor)


_log_prob_jit = jax.jit(_log_prob)
_draw_jit = jax.jit(_draw, static_argnums=4)


def levels(p: Any, dimensions: int) -> Any:
    """Probabilities, checked: of a list each is for all laws, whose array has `dimensions`."""
    if not is_traced(p):
        p = np.asarray(p, dtype=float)
        if not np.all((p >= 0) & (p <= 1)):
            raise InvalidData(f"a quantile needs probabilities between 0 and 1, got {show(p)}.")
    return p.reshape(-1, *[1] * dimensions) if p.ndim == 1 else p


def array_library(*values: Any) -> tuple[Any, Any]:
    """JAX inside a trace; else NumPy, where an eager operation compiles nothing."""
    return (jnp, jax.scipy.special) if is_traced(values) else (np, scipy.special)
