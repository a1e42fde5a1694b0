"""How wrong the covariance of function draws is: the error itself, bounds, and contraction.

Notation: prior covariance k, features with covariance k~; weight function xi(x) (k,), a row of `Xi`
(`leadline.models.AffineUpdate`). An update turns any prior covariance c into M c (+ what the data's
noise adds, the same for all c),

    (M c)(x, y) = c(x, y) - c(x, X) xi(y) - xi(x)^T c(X, y) + xi(x)^T c(X, X) xi(y)

(Wilson 2023, eq. 3.47), so the error of the draws is M (k~ - k). With |.| the largest entry and
Lambda = sup_x |xi(x)|_1, the Lebesgue constant of interpolation,

    |M (k~ - k)| <= (1 + Lambda)^2 |k~ - k|  <=  n (1 + |K^-1| |k|)^2 |k~ - k|

The last bound is the one of Wilson (2023, proposition 3.19), C_2 |k~ - k|. Its norm of K^-1 (from
l_inf to l_1) is hard to compute; here it is bounded by the sum of the absolute entries. Its factor
n is not needed, since |xi^T C xi| <= |xi|_1^2 |C|.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import as_rows, is_traced
from leadline.diagnostics._requirements import require_update
from leadline.kernels import Kernel
from leadline.models import Posterior
from leadline.numerics import blas_threads_for, bucket, pad_rows
from leadline.paths import Features


class CovarianceError(NamedTuple):
    """Largest entries of covariance errors, and bounds of them.

    Attributes:
        prior: |k~ - k| at the queries and the centers.
        posterior: |M (k~ - k)| at the queries: the error of the draws' covariance.
        lebesgue: the Lebesgue constant Lambda, over the queries.
        bound: (1 + Lambda)^2 times `prior`; never less than `posterior`.
        loose_bound: C_2 times `prior`, after Wilson (2023); never less than `bound`.
    """

    prior: Float[Any, ""]
    posterior: Float[Any, ""]
    lebesgue: Float[Any, ""]
    bound: Float[Any, ""]
    loose_bound: Float[Any, ""]


class Contraction(NamedTuple):
    """The largest variances over the queries.

    Attributes:
        exact: of the posterior.
        decoupled: of the draws.
        ratio: the second in units of the first.
    """

    exact: Float[Any, ""]
    decoupled: Float[Any, ""]
    ratio: Float[Any, ""]


def weight_function(posterior: Posterior, xs: Any) -> Float[Any, "m k"]:
    """How much each center's value counts at each query: xi(x)^T in the rows.

    The centers are the data of an exact posterior, and the inducing points of a Titsias one.
    """
    xi, mask = _at(_xi_jit, posterior, xs)
    if is_traced(xi):
        return xi
    return xi[: len(xs), np.asarray(mask) > 0]


def lebesgue_constant(posterior: Posterior, xs: Any) -> Float[Any, ""]:
    """The most that an update amplifies an error at the centers: max |xi(x)|_1 over rows of `xs`.

    Let the rows cover the region of interest.
    """
    return _at(_lebesgue_jit, posterior, xs)


def covariance_operator(
    posterior: Posterior, covariance: Kernel | Features, xs: Any
) -> Float[Any, "m m"]:
    """(M c)(xs, xs): what the update leaves of a prior covariance c.

    Of the posterior's own kernel it leaves the posterior covariance, and of the covariance of
    features that of the draws; both without what the noise of the data adds.

    Args:
        posterior: an exact or a Titsias posterior.
        covariance: c, a kernel or features.
        xs: inputs (m, d).
    """
    require_update(posterior, covariance if isinstance(covariance, Features) else None)
    c = covariance.kernel() if isinstance(covariance, Features) else covariance
    return _at(_operator_jit, posterior, xs, c)[: len(xs), : len(xs)]


def covariance_error_bound(posterior: Posterior, features: Features, xs: Any) -> CovarianceError:
    """The error of the draws' covariance over the rows of `xs (m, d)`, and two bounds of it.

    The bounds need nothing of the features but their error in the prior, so they hold before
    features are drawn; but they grow with the data while the error itself does not.

    Args:
        posterior: an exact or a Titsias posterior.
        features: what stands for the prior.
        xs: inputs (m, d).
    """
    require_update(posterior, features)
    return _at(_error_jit, posterior, xs, features)


def contraction(posterior: Posterior, features: Features, xs: Any) -> Contraction:
    """Whether the draws become as sure as the posterior where data accumulate.

    For features in the space of the kernel (all of Karhunen-Loeve, Fourier features of Matern
    kernels on a bounded region) the ratio is bounded, whatever the data (Wilson 2023, proposition
    3.20): without noise, |phi(x) - xi(x)^T phi(X)| is at most the norm of phi times the posterior
    deviation at x, which is the power function of interpolation.

    Args:
        posterior: an exact or a Titsias posterior.
        features: what stands for the prior.
        xs: inputs (m, d).
    """
    require_update(posterior, features)
    return _at(_contraction_jit, posterior, xs, features)


def _at(program: Any, posterior: Any, xs: Any, *more: Any) -> Any:
    """The program's answer for `xs` with padded rows, which repeat one: no maximum changes."""
    require_update(posterior)
    if is_traced(posterior, xs, more):
        return program(posterior, jnp.asarray(xs), *more)
    xs = as_rows(posterior.ordered(xs, "xs"), "xs", columns=posterior.query_columns)
    padded = pad_rows(xs, bucket(xs.shape[0]))
    with blas_threads_for(max(padded.shape[0], posterior.query_rows)):
        return jax.device_get(program(posterior.named(None), padded, *more))


def _xi(posterior: Any, xs: Array) -> tuple[Array, Array]:
    update = posterior.affine_update(xs)
    return update.xi, update.mask


def _lebesgue(posterior: Any, xs: Array) -> Array:
    return jnp.max(jnp.sum(jnp.abs(_xi(posterior, xs)[0]), axis=1))


def _operator(posterior: Any, xs: Array, c: Kernel) -> Array:
    centers, _, xi, _ = posterior.affine_update(xs)
    cross = xi @ c(centers, xs)
    return c(xs, xs) - cross - cross.T + xi @ c(centers, centers) @ xi.T


def _error(posterior: Any, xs: Array, features: Features) -> CovarianceError:
    kernel = posterior.gp.kernel
    centers, mask, xi, _ = posterior.affine_update(xs)
    m = xs.shape[0]
    together = jnp.concatenate([xs, centers])
    real = jnp.concatenate([jnp.ones(m), mask])
    phi = features.standardized(together)
    # Padded centers count for nothing: they have no column in xi, and their errors are masked.
    errors = (phi @ phi.T - kernel(together, together)) * (real[:, None] * real)
    update = jnp.concatenate([jnp.eye(m), -xi], axis=1)
    prior = jnp.max(jnp.abs(errors))
    lebesgue = jnp.max(jnp.sum(jnp.abs(xi), axis=1))
    inverse = posterior.solve(jnp.eye(mask.shape[0])) * (mask[:, None] * mask)
    largest = jnp.max(kernel.diag(together) * real)
    return CovarianceError(
        prior=prior,
        posterior=jnp.max(jnp.abs(update @ errors @ update.T)),
        lebesgue=lebesgue,
        bound=(1.0 + lebesgue) ** 2 * prior,
        loose_bound=jnp.sum(mask) * (1.0 + jnp.sum(jnp.abs(inverse)) * largest) ** 2 * prior,
    )


def _contraction(posterior: Any, xs: Array, features: Features) -> Contraction:
    centers, _, xi, root = posterior.affine_update(xs)
    rest = features.standardized(xs) - xi @ features.standardized(centers)
    decoupled = jnp.max(jnp.sum(rest**2, axis=1) + jnp.sum(root**2, axis=1))
    exact = jnp.max(posterior.marginal_moments(xs)[1])
    return Contraction(exact, decoupled, decoupled / exact)


_xi_jit = eqx.filter_jit(_xi)
_lebesgue_jit = eqx.filter_jit(_lebesgue)
_operator_jit = eqx.filter_jit(_operator)
_error_jit = eqx.filter_jit(_error)
_contraction_jit = eqx.filter_jit(_contraction)
