"""Expected improvement that looks two calls ahead.

The call after the next one is chosen when the outcome y of the next one is known. For outcomes at
the nodes y_s of Gauss and Hermite's rule, with weights w_s (Wilson 2023, eq. 2.12):

    U_2(x) = sum_s w_s { r_s + max_x' EI(x' | D + (x, y_s), r_s) },    r_s = max(best, y_s)

With the outcome y_s = mean(x) + L t_s of the standard normal node t_s, the mean at a candidate is
a + B t_s and its variance is k_D(x', x') - B^2, where a + B t are the lines of the knowledge
gradient: no data are conditioned on again.

Notation: `b` points x, `c` candidates x', nodes t_s; larger is better.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.acquisition._improvement import expected_excess, log_expected_excess
from leadline.acquisition._knowledge_gradient import (
    Known,
    as_candidates,
    known_at,
    lines,
    observe,
    require_exact,
)
from leadline.boundary import InvalidData
from leadline.models import Posterior
from leadline.search import Acquisition, single_points

# A variance is at least this part of the prior's: its root has no derivative at 0.
_LEAST_VARIANCE = 1e-20


class TwoStepImprovement(Acquisition):
    """The improvement on `best` that is expected of a call and of the best call after it.

    The outcome of the first call is an observation, noise included; the second call is worth its
    `ExpectedImprovement`.

    Args:
        posterior: of an exact Gaussian process.
        best: the highest value so far.
        candidates: the rows `(c, d)` at one of which the second call is made.
        nodes: how many outcomes of the first call.
    """

    posterior: Posterior
    known: Known
    best: Float[Any, ""]
    nodes: int = eqx.field(static=True)

    def __init__(self, posterior: Any, best: Any, candidates: Any, nodes: int = 32):
        require_exact(posterior, type(self).__name__)
        if nodes < 1:
            raise InvalidData(f"nodes must be at least 1, got {nodes}.")
        self.posterior = posterior
        self.known = known_at(posterior, as_candidates(candidates, posterior))
        self.best = best
        self.nodes = nodes

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The improvement that two calls are expected to make, the first at each of `b` points."""
        single_points(self, x)
        nodes, weights = np.polynomial.hermite_e.hermegauss(self.nodes)
        observed = observe(self.posterior, x)
        a, slopes = lines(self.posterior, self.known, observed, own=False)
        slopes = slopes[:, :, 0]
        least = _LEAST_VARIANCE * self.posterior.gp.kernel.diag(self.known.rows)
        std = jnp.sqrt(jnp.maximum(self.known.var - slopes**2, least))
        outcomes = observed.mean + observed.factor[:, :, 0] * nodes  # (b, s)
        reached = jnp.maximum(outcomes, self.best)
        fixed = jax.lax.stop_gradient((a, slopes, std))

        def second(node):
            t, threshold = node
            a, slopes, std = fixed
            return jnp.argmax(log_expected_excess(a + slopes * t, std, threshold[:, None]), axis=1)

        # One outcome after the other, and gradients only of the second calls that are chosen.
        at = jax.lax.map(second, (jnp.asarray(nodes), jax.lax.stop_gradient(reached).T)).T
        a, slopes, std = (jnp.take_along_axis(part, at, axis=1) for part in (a, slopes, std))
        gain = expected_excess(a + slopes * nodes, std, reached)
        return (reached - self.best + gain) @ (weights / np.sum(weights))
