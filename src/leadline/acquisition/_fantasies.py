"""A posterior given running calls: many possible outcomes of them, and one factor for all.

The values f(P) of the calls at rows P are not known yet. Each of `s` fantasies is one joint draw of
them; given it, the function elsewhere is normal with a mean of its own and a standard deviation
that all share (Wilson 2023, section 2.6).

Notation: rows X of data with K = k(X, X) + D, where D are the noise variances, and rows P without
noise. With the factor L of both together, L L^T = [[K, k(X, P)], [k(P, X), k(P, P)]], the whitened
residuals of the data are e_X = L_XX^-1 (y - m(X)), and those of f(P) are standard normal draws z:

    f(P) = m(P) + L_PX e_X + L_PP z,    weights = L^-T [e_X, z],    mean(x) = m(x) + k(x, [X, P]) w

so that drawing outcomes one call after the other, or for all calls at once, is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from leadline.acquisition._utilities import Utility
from leadline.boundary import InvalidData, Unsupported, as_rows
from leadline.models import Posterior
from leadline.numerics import (
    blas_threads_for,
    bucket,
    cholesky,
    pad_rows,
    quick_jit,
    require_factor,
    row_mask,
    shifted_sobol,
    solve_lower,
)

FANTASIES = 64
# A variance is at least this part of the prior's: its root has no derivative at 0.
LEAST_VARIANCE = 1e-20


@lru_cache(maxsize=16)
def base_samples(n: int, columns: int, seed: int = 0) -> Float[np.ndarray, "n c"]:
    """Standard normal draws, evenly spread; sets with more columns begin with the same ones."""
    return scipy.special.ndtri(shifted_sobol(np.random.default_rng(seed), n, columns))


class Fantasies(eqx.Module):
    """What is believed about a function given possible outcomes of running calls.

    Attributes:
        posterior: what is believed given the data alone.
        x, mask: rows of data and calls, padded.
        outcomes: values of the function that are drawn for the rows, (s, n).
        drawn: which rows those are: running calls, and the data if their values are drawn too.
        centers: the posterior mean at the rows, (n,).
        seed: of the draws.
    """

    posterior: Posterior
    x: Float[Any, "n d"]
    mask: Float[Any, " n"]
    factor: Float[Array, "n n"]
    weights: Float[Array, "n s"]
    outcomes: Float[Array, "s n"]
    drawn: Float[Any, " n"]
    centers: Float[Array, " n"]
    seed: int = eqx.field(static=True)
    incumbent: bool = eqx.field(static=True)

    @property
    def running(self) -> Float[np.ndarray, "p d"]:
        """The rows of the running calls.

        They are read off `x`: an array of their own would have a shape, and so a program, for each
        number of them.
        """
        return np.asarray(self.x)[self.posterior.n : int(np.sum(self.mask))]

    def after(self, rows: Any) -> Fantasies:
        """The same with more running calls; those before keep their outcomes."""
        rows = as_rows(rows, "rows", columns=self.posterior.query_columns)
        both = np.concatenate([self.running, rows])
        draw = fantasize_incumbent if self.incumbent else fantasize
        return draw(self.posterior, both, self.outcomes.shape[0], self.seed)

    def reached(self, utility: Utility) -> Float[Array, " s"]:
        """What the drawn values have reached in each fantasy."""
        worth = utility.worth(self.outcomes, self.centers)
        best = jnp.max(jnp.where(self.drawn > 0, worth, -jnp.inf), axis=1)
        return jnp.maximum(best, utility.start)

    def moments(self, xs: Float[Array, "m d"]) -> tuple[Array, Array, Array]:
        """Means (s, m), the standard deviation (m,), and the mean (m,) given the data alone."""
        gp = self.posterior.gp
        cross = self.mask[:, None] * gp.kernel(self.x, xs)
        prior = gp.kernel.diag(xs)
        var = prior - jnp.sum(solve_lower(self.factor, cross) ** 2, axis=0)
        std = jnp.sqrt(jnp.maximum(var, LEAST_VARIANCE * prior))
        before = self.posterior.expansion().mean_at(xs)
        return gp.mean(xs) + self.weights.T @ cross, std, before


def fantasize(posterior: Any, rows: Any, n: int = FANTASIES, seed: int = 0) -> Fantasies:
    """Draw outcomes of calls at `rows (p, d)`.

    Args:
        posterior: given the data; of an exact Gaussian process.
        rows: where the calls are; they see the function itself, without noise.
        n: how many outcomes.
        seed: of the draws. Calls have the same draws whether more of them follow or not.
    """
    return _fantasies(_draw_jit, posterior, rows, n, seed)


def fantasize_incumbent(posterior: Any, rows: Any, n: int = FANTASIES, seed: int = 0) -> Fantasies:
    """Draw what the function is at the data themselves, then outcomes of calls at `rows (p, d)`.

    With noise nobody knows the best value so far; here each fantasy has its own (Letham et al.
    2019). Given the function at the rows of the data, the noisy data say nothing more.
    """
    return _fantasies(_draw_incumbent_jit, posterior, rows, n, seed)


def _check(posterior: Any, n: int) -> None:
    if not hasattr(posterior, "observations"):
        raise Unsupported(
            f"Running calls need an exact Gaussian process, got {type(posterior).__name__}."
        )
    if n < 1:
        raise InvalidData(f"At least 1 fantasy is needed, got {n}.")


def _fantasies(draw: Callable, posterior: Any, rows: Any, n: int, seed: int) -> Fantasies:
    _check(posterior, n)
    rows = as_rows(rows, "rows", columns=posterior.query_columns, minimum=0)
    k, p = posterior.n, len(rows)
    size = max(bucket(k + p), posterior.query_rows)
    incumbent = draw is _draw_incumbent_jit
    x = pad_rows(np.concatenate([posterior.data().x, rows]), size)
    mask, known = row_mask(k + p, size), row_mask(k, size)
    z = np.zeros((size, n))
    z[k : k + p] = base_samples(n, p, seed).T if p else 0.0
    draws = (_noise_draws(posterior.query_rows, n, seed),) if incumbent else ()
    with blas_threads_for(size):
        found = jax.block_until_ready(draw(posterior, x, mask, known, z, *draws))
    factor, weights, outcomes, centers = found
    require_factor(
        factor, "covariance matrix of data and running calls", "calls at the same point", k + p
    )
    drawn = mask if incumbent else mask - known
    return Fantasies(posterior, x, mask, factor, weights, outcomes, drawn, centers, seed, incumbent)


@lru_cache(maxsize=16)
def _noise_draws(rows: int, n: int, seed: int) -> np.ndarray:
    """Standard normal draws (2, rows, n): of the function, and of the noise."""
    return np.random.default_rng(seed).normal(size=(2, rows, n))


@partial(quick_jit, once=True)
def _draw_jit(posterior, x, mask, known, z):
    told = posterior.observations()
    k = told.x.shape[0]
    # The calls see no noise.
    noise = jnp.zeros_like(mask).at[:k].set(told.variance)
    residual = jnp.zeros_like(mask).at[:k].set(told.residual)
    factor = _factor(posterior.gp, x, mask, noise)
    # Rows after the data are all zero here, and replaced by draws.
    whitened = (known * solve_lower(factor, residual[:, None])[:, 0])[:, None] + z
    return _finish(posterior, x, mask, factor, whitened)


@partial(quick_jit, once=True)
def _draw_incumbent_jit(posterior, x, mask, known, z, draws):
    """Draw the function at the data by Matheron's rule, which needs no factor but the two at hand.

    With f' = L z' a draw of the prior and y' = f' + noise, f = m + f' + K (K + D)^-1 (y - m - y'),
    and whitened by L the last part is L^T (K + D)^-1 (y - m - y').
    """
    told = posterior.observations()
    k = told.x.shape[0]
    factor = _factor(posterior.gp, x, mask, jnp.zeros_like(mask))
    draws = told.mask[:, None] * draws
    seen = factor[:k, :k] @ draws[0] + jnp.sqrt(told.variance)[:, None] * draws[1]
    missing = posterior.solve(told.residual[:, None] - seen)
    whitened = z.at[:k].add(draws[0] + factor[:k, :k].T @ (told.mask[:, None] * missing))
    return _finish(posterior, x, mask, factor, whitened)


def _factor(gp, x, mask, noise):
    prior = gp.kernel(x, x) * mask[:, None] * mask[None, :]
    return cholesky(prior + jnp.diag(noise + (1.0 - mask)), mask, jnp.diagonal(prior))


def _finish(posterior, x, mask, factor, whitened):
    weights = jax.scipy.linalg.solve_triangular(factor, whitened, lower=True, trans=1)
    values = posterior.gp.mean(x)[:, None] + factor @ whitened
    centers = posterior.marginal_moments(x)[0]
    return factor, mask[:, None] * weights, values.T, centers
