"""What data add to prior draws: one rule, and the ways to solve for it.

Notation: prior draws `f (n, .)`, centers `c (k, d)`, kernel matrix K = k(c, c), n draws of targets
`t (n, k)`, D the diagonal of noise variances, eps ~ N(0, D):

    f(x) + k(x, c) v,     (K + D) v = t - f(c) - eps

(Matheron's rule; Wilson 2023, eq. 3.17).

| update | centers | targets | D | Wilson 2023 |
|---|---|---|---|---|
| exact | data | y | 0 | eq. 3.16 |
| Gaussian | data | y | noise | eq. 3.29 |
| sparse | inducing points | u ~ q(u) | 0 | eq. 3.31 |
| pseudo-data | inducing points | pseudo-targets | their variances | eq. 3.34 |
| weight space | none: the features carry the data too | y | noise | eq. 3.28 |

The draw of the noise, eps, is part of the rule: without it draws lack the variance D of the data.
Equation 3.32 prints Lambda where its inverse belongs: the covariance of u given pseudo-data is
(K^-1 + Lambda^-1)^-1, which eqs. 3.33 and 3.34 do imply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_choice, as_rows, as_targets, is_traced
from leadline.kernels import Kernel
from leadline.numerics import (
    ConjugateGradientsInfo,
    cholesky,
    conjugate_gradients,
    pivoted_cholesky,
    require_factor,
    solve_factored,
    solve_lower,
    woodbury_preconditioner,
)
from leadline.paths._draws import FunctionDraws, Inferred, Observed

_LARGEST = 10**8


def exact_update(prior: FunctionDraws, x: Any, y: Any) -> FunctionDraws:
    """Draws that pass through observations without noise."""
    x, y = _data(prior, x, y)
    return _conditioned(prior, x, y, jnp.zeros(x.shape[0]), 0.0)


def gaussian_update(
    prior: FunctionDraws, x: Any, y: Any, noise: Any, *, key: Array
) -> FunctionDraws:
    """Draws given observations with Gaussian noise.

    Args:
        prior: draws before data.
        x: inputs (k, d).
        y: targets (k,).
        noise: the noise variance, one number or one for each row.
        key: draws the noise.
    """
    x, y = _data(prior, x, y)
    variance = jnp.broadcast_to(jnp.asarray(noise, jnp.float64), (x.shape[0],))
    return _conditioned(prior, x, y, variance, _noise(key, prior.n, variance))


def pseudo_data_update(
    prior: FunctionDraws,
    points: Any,
    targets: Any,
    variances: Any,
    *,
    key: Array,
) -> FunctionDraws:
    """Draws given pseudo-observations at inducing points, each with a variance of its own.

    A sparse approximation with O(k) parameters whose system is well conditioned; with the data as
    pseudo-data it is `gaussian_update`. The law of the values at the points is normal with mean
    K (K + D)^-1 targets and covariance (K^-1 + D^-1)^-1.
    """
    return gaussian_update(prior, points, targets, variances, key=key)


def sparse_update(
    prior: FunctionDraws, points: Any, values: Any, *, extra: Any = None
) -> FunctionDraws:
    """Draws that take given values at inducing points.

    Any law q(u) of the values will do, such as one fitted to data with a likelihood that is not
    Gaussian: `values` holds a draw of it for each draw of the function.

    Args:
        prior: draws before data.
        points: inducing points (k, d).
        values: draws (n, k) of the function's values there.
        extra: more centers (a, d), at which the draws take values from the process given u. The
            law stays the same if the prior is exact, and an approximate prior is corrected at more
            places (Wilson 2023, section 3.5.3); `prior.key` draws them.
    """
    points, values = jnp.asarray(points), jnp.asarray(values)
    if values.shape != (prior.n, points.shape[0]):
        raise InvalidData(
            f"values must have shape ({prior.n}, {points.shape[0]}): for each draw one value at "
            f"each inducing point; got {values.shape}."
        )
    if extra is None:
        draws = _conditioned(prior, points, values, jnp.zeros(points.shape[0]), 0.0)
    else:
        draws = _required(_augmented(prior, points, values, jnp.asarray(extra)))
    # The values stand for a belief that is not known here.
    return eqx.tree_at(lambda p: p.information, draws, None)


@eqx.filter_jit
def _augmented(prior, points, values, extra):
    both = jnp.concatenate([points, extra])
    factor = cholesky(prior.kernel(both, both))
    k = points.shape[0]
    whitened = solve_lower(factor[:k, :k], (values - prior.mean(points)).T)
    fresh = jax.random.normal(prior.key, (extra.shape[0], prior.n))
    more = (factor @ jnp.concatenate([whitened, fresh])).T + prior.mean(both)
    return _solved(prior, both, more, 0.0, factor)


class IterativeUpdate(NamedTuple):
    """Draws, and how the conjugate gradients went."""

    draws: FunctionDraws
    info: ConjugateGradientsInfo


def iterative_update(
    prior: FunctionDraws,
    x: Any,
    y: Any,
    noise: Any,
    *,
    key: Array,
    rank: int = 50,
    tol: float = 1e-6,
    max_iter: int = 1000,
    solve: str = "draws",
) -> IterativeUpdate:
    """The Gaussian update without a factorization: preconditioned conjugate gradients.

    The preconditioner is a pivoted Cholesky factor of low rank plus the noise (Wilson 2023,
    section 3.4, after Gardner et al. 2018). All draws share the products with the matrix.

    Args:
        prior: draws before data.
        x: inputs (k, d).
        y: targets (k,).
        noise: the noise variance, positive; one number or one for each row.
        key: draws the noise.
        rank: of the preconditioner; 0 for none.
        tol: where to stop, relative to each right-hand side.
        max_iter: the most products with the matrix.
        solve: "draws" solves for the draws at hand; "inverse" for the inverse matrix, which serves
            any number of draws but carries more rounding error.
    """
    as_choice(solve, ("draws", "inverse"), "solve")
    x, y = _data(prior, x, y)
    variance = jnp.broadcast_to(jnp.asarray(noise, jnp.float64), (x.shape[0],))
    return IterativeUpdate(*_iterated(prior, x, y, variance, key, rank, tol, max_iter, solve))


@eqx.filter_jit
def _iterated(prior, x, y, variance, key, rank, tol, max_iter, solve):
    k = x.shape[0]
    targets = _targets(prior, x, y, _noise(key, prior.n, variance))
    product = _product_with(prior.kernel, x)
    precondition = None
    if rank:
        low_rank = pivoted_cholesky(
            prior.kernel.diag(x), lambda i: prior.kernel(x[i][None], x)[0], min(rank, k)
        )
        precondition = woodbury_preconditioner(low_rank, variance).solve
    right = targets.T if solve == "draws" else jnp.eye(k)
    found, info = conjugate_gradients(
        lambda v: product(v) + variance[:, None] * v,
        right,
        preconditioner=precondition,
        tol=tol,
        max_iter=max_iter,
    )
    coefficients = found.T if solve == "draws" else targets @ found
    return _with_centers(prior, x, coefficients, None), info


def weight_space_update(
    prior: FunctionDraws, x: Any, y: Any, noise: Any, *, key: Array
) -> FunctionDraws:
    """Draws whose features alone carry prior and data: Bayesian linear regression.

    Here as the baseline that starves: with many data the few features left to extrapolate with run
    out of variance (Wilson 2023, section 3.3.5). Prefer `gaussian_update`.
    """
    x, y = _data(prior, x, y)
    variance = jnp.broadcast_to(jnp.asarray(noise, jnp.float64), (x.shape[0],))
    return _in_weight_space(prior, x, y, variance, key)


@eqx.filter_jit
def _in_weight_space(prior, x, y, variance, key):
    phi = prior.features.standardized(x)
    factor = cholesky(phi @ phi.T + jnp.diag(variance))
    targets = _targets(prior, x, y, _noise(key, prior.n, variance))
    change = prior.features.correlate(solve_factored(factor, targets.T).T @ phi)
    return eqx.tree_at(lambda p: p.weights, prior, prior.weights + change)


def matheron(
    a: Float[Any, "n p"],
    b: Float[Any, "n q"],
    cov_ab: Float[Any, "p q"],
    cov_bb: Float[Any, "q q"],
    beta: Float[Any, " q"],
) -> Float[Array, "n p"]:
    """Draws of a given b = beta, from joint draws of two Gaussian vectors (Wilson 2023, eq. 3.4).

    The rule that all updates are: a + Cov(a, b) Cov(b, b)^-1 (beta - b), whatever the means.
    """
    factor = _factor(cov_bb)
    return (
        jnp.asarray(a) + solve_factored(factor, (beta - jnp.asarray(b)).T).T @ jnp.asarray(cov_ab).T
    )


def inducing_draws(
    mean: Float[Any, " k"], covariance: Float[Any, "k k"], key: Array, n: int
) -> Float[Array, "n k"]:
    """`n` draws of a normal belief q(u), for `sparse_update`."""
    root = _factor(covariance)
    return mean + jax.random.normal(key, (n, root.shape[0])) @ root.T


def observed_draws(
    prior: FunctionDraws, centers: Any, y: Any, variance: Any, factor: Array, mask: Any, key: Array
) -> FunctionDraws:
    """The Gaussian update with the factor of K + D at hand, of padded rows (`mask` 0) too."""
    eps = _noise(key, prior.n, mask * variance)
    targets = mask * _targets(prior, centers, y, eps)
    coefficients = solve_factored(factor, targets.T).T
    draws = _with_centers(prior, centers, coefficients, Observed(factor, mask))
    return eqx.tree_at(lambda p: p.mask, draws, mask)


def inferred_draws(
    prior: FunctionDraws,
    points: Any,
    factor: Array,
    mean: Array,
    precision_factor: Array,
    key: Array,
) -> FunctionDraws:
    """The sparse update in whitened form, for u = m(z) + L (mean + L_B^-T e) with K = L L^T.

    One triangular solve less than for values of u, and better conditioned.
    """
    e = jax.random.normal(key, (points.shape[0], prior.n))
    solve = jax.scipy.linalg.solve_triangular
    whitened = mean[:, None] + solve(precision_factor, e, lower=True, trans=1)
    prior_part = solve_lower(factor, (prior.values(points) - prior.mean(points)).T)
    coefficients = solve(factor, whitened - prior_part, lower=True, trans=1)
    return _with_centers(prior, points, coefficients.T, Inferred(factor, precision_factor))


def _data(prior: FunctionDraws, x: Any, y: Any) -> tuple[Array, Array]:
    if is_traced(prior, x, y):
        return jnp.asarray(x), jnp.asarray(y)
    x = as_rows(x, columns=prior.dim)
    return jax.device_put((x, as_targets(y, x.shape[0])))


def _product_with(kernel: Kernel, x: Array) -> Callable[[Array], Array]:
    """v -> k(x, x) v; the matrix is kept if it is not too large, else made again in pieces."""
    k = x.shape[0]
    if k * k <= _LARGEST:
        matrix = kernel(x, x)
        return lambda v: matrix @ v
    return lambda v: jax.lax.map(lambda row: kernel(row[None], x)[0] @ v, x, batch_size=256)


def _conditioned(prior, x, targets, variance, eps) -> FunctionDraws:
    return _required(_conditioned_jit(prior, x, targets, variance, eps))


@eqx.filter_jit
def _conditioned_jit(prior, x, targets, variance, eps) -> FunctionDraws:
    factor = cholesky(prior.kernel(x, x) + jnp.diag(variance))
    return _solved(prior, x, targets, eps, factor)


def _solved(prior, x, targets, eps, factor) -> FunctionDraws:
    coefficients = solve_factored(factor, _targets(prior, x, targets, eps).T).T
    return _with_centers(prior, x, coefficients, Observed(factor, jnp.ones(x.shape[0])))


def _targets(prior, x, y, eps) -> Array:
    if prior.centers.shape[0]:
        raise InvalidData(
            "This update takes draws before data. To condition draws on more, use draws.update."
        )
    return jnp.asarray(y) - prior.values(jnp.asarray(x)) - eps


def _noise(key, n, variance) -> Array:
    return jnp.sqrt(variance) * jax.random.normal(key, (n, variance.shape[0]))


def _with_centers(prior, centers, coefficients, information) -> FunctionDraws:
    return eqx.tree_at(
        lambda p: (p.centers, p.coefficients, p.mask, p.information),
        prior,
        (centers, coefficients, jnp.ones(centers.shape[0]), information),
        is_leaf=lambda v: v is None,
    )


def _required(draws: FunctionDraws) -> FunctionDraws:
    """The draws, if the matrix of their centers could be factorized."""
    known = draws.information
    if isinstance(known, Observed) and not is_traced(known.factor):
        require_factor(known.factor, "covariance matrix of the centers", "points that coincide")
    return draws


def _factor(covariance: Any) -> Array:
    factor = cholesky(jnp.asarray(covariance))
    if not is_traced(factor):
        require_factor(factor, "covariance matrix", "a matrix that is no covariance")
    return factor
