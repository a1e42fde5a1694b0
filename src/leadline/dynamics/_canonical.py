"""Gaussian posteriors in one form: a prior, and what data say through the kernel at centers.

Notation: centers `c (k, d)`, weights `w (k,)`, root `R (k, r)`;

    mean(x)   = m(x) + k(x, c) . w
    cov(x, y) = k(x, y) - k(x, c) R R^T k(c, y)

Exact posteriors have their data as centers, w = (K + D)^-1 (y - m) and R R^T = (K + D)^-1; Titsias
posteriors their inducing points, w = K_uu^-1 (mu_u - m) and
R R^T = K_uu^-1 - K_uu^-1 Sigma_u K_uu^-1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported
from leadline.kernels import Kernel
from leadline.means import Mean
from leadline.models import ExactPosterior, TitsiasPosterior
from leadline.paths import Inferred, Observed


class Canonical(eqx.Module):
    """The mean and the covariance of a Gaussian process given data."""

    mean: Mean
    kernel: Kernel
    centers: Float[Any, "k d"]
    weights: Float[Array, " k"]
    root: Float[Array, "k r"]

    def mean_at(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The posterior mean."""
        return self.mean(x) + self.kernel(x, self.centers) @ self.weights

    def explained(self, x: Float[Array, "m d"]) -> Float[Array, "m r"]:
        """E with cov(x, y) = k(x, y) - E(x) E(y)^T."""
        return self.kernel(x, self.centers) @ self.root


def canonical(post: ExactPosterior | TitsiasPosterior) -> Canonical:
    """The canonical form of a posterior; traces."""
    gp = post.gp
    if isinstance(post, ExactPosterior):
        mask = jnp.asarray(post.rows.mask)
        root = Observed(post.factor, mask).root()
        return Canonical(gp.mean, gp.kernel, post.rows.x, mask * post.weights, root)
    weights = jax.scipy.linalg.solve_triangular(
        post.factor, post.whitened_mean, lower=True, trans=1
    )
    root = Inferred(post.factor, post.precision_factor).root()
    return Canonical(gp.mean, gp.kernel, post.inducing_points, weights, root)


def as_posteriors(posteriors: Any) -> tuple[ExactPosterior | TitsiasPosterior, ...]:
    """Posteriors that have a canonical form, over the same input columns."""
    if not isinstance(posteriors, Sequence) or not posteriors:
        raise InvalidData(
            f"posteriors must be a list with one for each output, got {posteriors!r}."
        )
    for post in posteriors:
        if not isinstance(post, ExactPosterior | TitsiasPosterior):
            raise Unsupported(
                f"{type(post).__name__} cannot be used here: exact and Titsias posteriors can."
            )
    columns = sorted({post.query_columns for post in posteriors})
    if len(columns) > 1:
        raise InvalidData(f"All posteriors must have the same input columns, got {columns}.")
    return tuple(posteriors)
