"""The law of function draws, given their features: in closed form, without drawing any.

Notation: features with covariance k~ = phi phi^T stand for the prior k; centers `c`, weight
function `Xi (m, k)` and root `Q` are an update at `xs` (`leadline.models.AffineUpdate`). A prior
draw phi w becomes phi(xs) w + Xi (t - phi(c) w), so that

    mean = m(xs) + Xi E(t - m(c)),      cov = R R^T + Q Q^T,      R = phi(xs) - Xi phi(c)

(Wilson 2023, section 3.3.5; Tiao 2023, appendix A.2).

| draws | Xi | mean | covariance |
|---|---|---|---|
| decoupled | of k | the posterior's, with any features | the posterior's, where k~ = k |
| weight space | of k~ | the posterior's, where k~ = k | the posterior's, where k~ = k |
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import Unsupported, as_rows, is_traced
from leadline.diagnostics._requirements import require_update
from leadline.models import MultivariateNormal, Posterior
from leadline.numerics import (
    blas_threads_for,
    bucket,
    cholesky,
    pad_rows,
    require_factor,
    solve_factored,
)
from leadline.paths import Features

_CAUSE = "more data than features, without noise"


def decoupled_moments(posterior: Posterior, features: Features, xs: Any) -> MultivariateNormal:
    """The joint law of the draws `posterior.paths(key, n, features)` at the rows of `xs (m, d)`.

    Compare it with `posterior.joint(xs)`, by `wasserstein2` or `gaussian_kl`, to see what the
    features cost.

    Args:
        posterior: an exact or a Titsias posterior.
        features: what stands for the prior.
        xs: inputs (m, d).
    """
    require_update(posterior, features)
    return _law(_decoupled_jit, posterior, features, xs)


def weight_space_moments(posterior: Posterior, features: Features, xs: Any) -> MultivariateNormal:
    """The joint law of draws whose features alone carry prior and data, at the rows of `xs`.

    Bayesian linear regression with the data of `posterior`. It is the baseline that runs out of
    variance as data grow (Wilson 2023, eq. 3.28, with noise).

    Args:
        posterior: an exact posterior, for its data, its noise and its mean function.
        features: what stands for the prior.
        xs: inputs (m, d).
    """
    require_update(posterior, features)
    if not hasattr(posterior, "observations"):
        raise Unsupported(
            f"Draws in weight space need the data, which a {type(posterior).__name__} does not "
            "hold. They are known for exact posteriors."
        )
    law = _law(_weight_space_jit, posterior, features, xs)
    if not is_traced(law):
        # A factor of NaN leaves nothing but NaN in the covariance.
        require_factor(law.cov, "covariance of the data under the features", _CAUSE, posterior.n)
    return law


def _law(program: Any, posterior: Any, features: Features, xs: Any) -> MultivariateNormal:
    if is_traced(posterior, features, xs):
        return MultivariateNormal(*program(posterior, features, xs))
    xs = as_rows(posterior.ordered(xs, "xs"), "xs", columns=posterior.query_columns)
    m = xs.shape[0]
    with blas_threads_for(max(m, posterior.query_rows)):
        mean, cov = jax.device_get(
            program(posterior.named(None), features, pad_rows(xs, bucket(m)))
        )
    return MultivariateNormal(mean[:m], cov[:m, :m])


def _decoupled(
    posterior: Any, features: Features, xs: Array
) -> tuple[Float[Array, " m"], Float[Array, "m m"]]:
    centers, _, xi, root = posterior.affine_update(xs)
    rest = features.standardized(xs) - xi @ features.standardized(centers)
    mean, _ = posterior.marginal_moments(xs)
    return mean, rest @ rest.T + root @ root.T


def _weight_space(
    posterior: Posterior, features: Features, xs: Array
) -> tuple[Float[Array, " m"], Float[Array, "m m"]]:
    x, residual, noise, mask = posterior.observations()
    at_data = jnp.asarray(mask)[:, None] * features.standardized(x)
    at_queries = features.standardized(xs)
    factor = cholesky(at_data @ at_data.T + jnp.diag(noise + (1.0 - mask)), mask)
    xi = solve_factored(factor, at_data @ at_queries.T).T
    rest = at_queries - xi @ at_data
    mean = posterior.gp.mean(xs) + xi @ residual
    return mean, rest @ rest.T + (xi * noise) @ xi.T


_decoupled_jit = eqx.filter_jit(_decoupled)
_weight_space_jit = eqx.filter_jit(_weight_space)
