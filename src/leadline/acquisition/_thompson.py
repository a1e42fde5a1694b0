"""Thompson sampling: call where a draw of the function is highest (Thompson 1933).

A point is then called as often as it is believed to be the best one, and calls that are running
need no special care: each has a draw of its own. Three ways to draw (Wilson 2023, section 3.6.1):

| draws | made of | fails |
|---|---|---|
| decoupled | features for the prior, the kernel at the data: `posterior.paths` | - |
| unified | features for both: Bayesian linear regression | when data are as many as features |
| location-scale | a joint normal vector at given rows | where rows are too few to fill the space |

Notation: `n` draws, `m` rows; larger is better.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from leadline.boundary import InvalidData, Unsupported
from leadline.models import GP, Posterior
from leadline.numerics import blas_threads_for
from leadline.paths import Features, FunctionDraws, ScalarPaths, prior_features
from leadline.search import Acquisition


class DrawnFunction(Acquisition):
    """One draw of the function: how much it is above `level`.

    Args:
        paths: a single draw.
        level: what is taken off. Near the best value seen it lets a search tell values apart that
            are large and almost the same.
    """

    paths: ScalarPaths
    level: Float[Any, ""] = eqx.field(default=0.0, converter=np.asarray)

    def __check_init__(self):
        if self.paths.n != 1:
            raise InvalidData(f"DrawnFunction takes one draw, got {self.paths.n}: paths[0], say.")

    def values(self, x):
        if x.shape[1] != 1:
            raise InvalidData(
                f"A draw is worth its value at one point, got sets of {x.shape[1]}. Several points "
                "take a draw each."
            )
        return self.paths(x[:, 0, :])[0] - self.level


def unified_draws(
    posterior: Posterior, key: Array, n: int, features: int | Features = 1024
) -> FunctionDraws:
    """Draws whose features alone carry prior and data (Wilson 2023, eq. 3.28).

    The law is that of `leadline.paths.weight_space_update`. Here the data are padded, so that a
    growing set of them compiles few programs. A baseline: with many data the draws run out of
    variance, see `posterior.paths` for better ones.

    Args:
        posterior: an exact posterior, for its data and its process.
        key: a random key.
        n: how many draws.
        features: what stands for the kernel: features, or how many to choose.
    """
    if not hasattr(posterior, "data"):
        raise Unsupported(
            f"Unified draws need the data, which a {type(posterior).__name__} does not hold. They "
            "are an ability of exact posteriors."
        )
    choose, draw = jax.random.split(key)
    gp = posterior.gp
    if not isinstance(features, Features):
        features = prior_features(gp.kernel, features, posterior.query_columns, choose)
    # With the covariance of the features for a kernel the update stays in their span.
    process = GP(features.kernel(), mean=gp.mean, noise=gp.noise)
    draws = process.condition(*posterior.data()).paths(draw, n, features)
    with blas_threads_for(posterior.query_rows):
        return jax.block_until_ready(_in_features_jit(draws))


@eqx.filter_jit
def _in_features_jit(draws: FunctionDraws) -> FunctionDraws:
    """The same functions without centers: k(x, c) v = phi(x) R (phi(c) R)^T v."""
    features, n, dim = draws.features, draws.n, draws.dim
    pull = draws.coefficients @ features.standardized(draws.centers)
    return eqx.tree_at(
        lambda p: (p.weights, p.centers, p.coefficients, p.mask, p.information),
        draws,
        (
            draws.weights + features.correlate(pull),
            jnp.zeros((0, dim)),
            jnp.zeros((n, 0)),
            jnp.zeros(0),
            None,
        ),
        is_leaf=lambda leaf: leaf is None,
    )


def location_scale_choice(
    posterior: Posterior, candidates: Float[Any, "m d"], key: Array, n: int
) -> Int[np.ndarray, " n"]:
    """For each of `n` joint draws at the candidates, which of them is highest.

    O(m^3), and exact: the frequencies are the beliefs that a candidate is the best of them.
    """
    return np.argmax(np.asarray(posterior.sample(key, candidates, n)), axis=1)


def promising(
    posterior: Posterior, rows: Float[np.ndarray, "m d"], key: Array, n: int
) -> Float[np.ndarray, "k d"]:
    """The `n` rows where independent draws of the function's value are highest; all if fewer.

    A joint draw costs the cube of its rows. This is how a large set is cut down to what a joint
    draw can take (Wilson 2023, section 3.6.1).
    """
    if len(rows) <= n:
        return rows
    drawn = np.asarray(posterior.predict(rows).sample(key, 1))[0]
    return rows[np.argpartition(-drawn, n - 1)[:n]]
