"""How much an observation is expected to tell about the maximum of a function and where it is.

Given that the maximum is m at x' (Hvarfner et al. 2022; Tu et al. 2022), the function passes
through m at x', and at x it is at most m:

    I(x) = H[y] - mean over (x', m) of H[y | f(x') = m, f(x) <= m]

Notation: `b` points x, `s` draws of (x', m); c = cov(f(x), f(x')) given the data. Given f(x') = m,
f(x) is normal with

    mean' = mean + c (m - mean(x')) / var(x'),    var' = var - c^2 / var(x')

and its part below m gives as much information as in `MaxValueEntropy`. Both papers replace the
entropy of a truncated normal plus noise by that of a normal of the same variance, which is larger;
ours is the entropy itself.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.acquisition._max_value_entropy import (
    predictive,
    require_process,
    truncation_information,
)
from leadline.boundary import as_rows, as_targets, is_traced
from leadline.models import Posterior
from leadline.search import Acquisition, single_points

# Parts of a variance: what is left of it by rounding, and where its root still has a derivative.
_LEAST, _LEAST_LEFT = 1e-12, 1e-20


class JointEntropy(Acquisition):
    """What an observation tells about the maximum and its place, in nats (Hvarfner et al. 2022).

    Attributes:
        posterior: of a Gaussian process.
        points, maxima: draws of where the maximum is, and of its value; see `sample_maxima`.
    """

    posterior: Posterior
    points: Float[Any, "s d"]
    maxima: Float[Any, " s"]

    def __check_init__(self):
        require_process(self)
        if not is_traced(self.points, self.maxima):
            points = as_rows(self.points, "points", columns=self.posterior.query_columns)
            as_targets(self.maxima, len(points), "maxima")

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The information of an observation at each of `b` points."""
        rows, points = jnp.asarray(single_points(self, x)), jnp.asarray(self.points)
        maxima = jnp.asarray(self.maxima)
        mean, var, noise = (a[:, None] for a in predictive(self.posterior, rows))
        there = self.posterior.predict(points)
        # Data without noise are known; what is left of their variance is rounding error.
        var_there = jnp.maximum(there.var, _LEAST * self.posterior.gp.kernel.diag(points))
        cross = self.posterior.cross_covariance(rows, points)
        mean_given = mean + cross * (maxima - there.mean) / var_there
        var_given = jnp.maximum(var - cross**2 / var_there, _LEAST_LEFT * var)
        passing = 0.5 * jnp.log((var + noise) / (var_given + noise))
        below = truncation_information(maxima, mean_given, var_given, noise)
        return jnp.mean(passing + below, axis=1)
