"""What a posterior adds to a prior draw: an affine map of the draw's values at centers.

Notation: centers `c (k, d)`, queries `xs (m, d)`, weight function `Xi (m, k)`, targets t (k,):

    f(xs) + Xi (t - f(c)),      Xi = k(xs, c) (k(c, c) + D)^-1

(Wilson 2023, eqs. 3.29, 3.31 and 3.39). Data: c are the inputs, t = y - eps, and D = Cov(eps) the
noise variances. Inducing points: c are the points, t = u ~ q(u), and D = 0. `Q (m, r)` is a root of
Cov(Xi t). Columns of padded centers are zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported
from leadline.models import ExactPosterior, TitsiasPosterior
from leadline.numerics import solve_factored, solve_lower
from leadline.paths import Features


class AffineUpdate(NamedTuple):
    """The map at given queries."""

    centers: Float[Any, "k d"]
    xi: Float[Array, "m k"]
    root: Float[Array, "m r"]


def update_at(posterior: Any, xs: Float[Any, "m d"]) -> AffineUpdate:
    """The update that turns prior draws into those of the posterior, at the rows of `xs`."""
    kernel = posterior.gp.kernel
    if isinstance(posterior, TitsiasPosterior):
        points = posterior.inducing_points
        whitened = solve_lower(posterior.factor, kernel(points, xs))
        xi = jax.scipy.linalg.solve_triangular(posterior.factor, whitened, lower=True, trans=1)
        return AffineUpdate(points, xi.T, solve_lower(posterior.precision_factor, whitened).T)
    rows = posterior.rows
    cross = rows.mask[:, None] * kernel(rows.x, xs)
    xi = solve_factored(posterior.factor, cross).T
    noise = rows.mask * (posterior.gp.row_noise(rows.x) + rows.var)
    return AffineUpdate(rows.x, xi, xi * jnp.sqrt(noise))


def centers_of(posterior: Any) -> tuple[Float[Any, "k d"], Float[Any, " k"]]:
    """Where the update looks at a draw, and which of these rows are real."""
    if isinstance(posterior, TitsiasPosterior):
        return posterior.inducing_points, jnp.ones(posterior.inducing_points.shape[0])
    return posterior.rows.x, posterior.rows.mask


def require_update(posterior: Any, features: Features | None = None) -> None:
    """Raise unless the posterior has an affine update, of inputs that the features take."""
    if not isinstance(posterior, ExactPosterior | TitsiasPosterior):
        raise Unsupported(
            f"Moments of draws are known for exact and Titsias posteriors, not for "
            f"{type(posterior).__name__}."
        )
    if features is not None and features.dim != posterior.query_columns:
        raise InvalidData(
            f"The features are of {features.dim} input columns, the posterior of "
            f"{posterior.query_columns}."
        )
