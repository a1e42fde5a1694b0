"""Ratios that are sums of Gaussian bumps, and the ascent of such sums.

Notation: centers `c_j (b, d)`, coefficients `theta_j`, one bandwidth sigma,

    r_gamma(x) = sum_j theta_j exp(-|x - c_j|^2 / (2 sigma^2)),

an estimate of the gamma-relative ratio, at least 0 and less than 1 / gamma. The ordinary ratio is
r_0 = (1 - gamma) r_gamma / (1 - gamma r_gamma).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from leadline.boundary import as_rows, is_traced
from leadline.numerics import bucket, pad_rows, squared_distance
from leadline.ratios._classifier import FittedClassifier
from leadline.ratios._queries import answer

# Estimates may exceed the bound 1 / gamma. From this share of it on, the log odds go on as a
# straight line in log r_gamma: they stay finite, and never level off.
_SHARE = 0.99
# An expansion with negative coefficients may itself be negative: less than this is as little.
_LEAST = 1e-6


class SignedExpansion(FittedClassifier):
    """A sum of bumps with coefficients of any sign, taken as a relative ratio.

    Attributes:
        centers: where the bumps are.
        coefficients: their heights.
        bandwidth: their width sigma.
        gamma: of the relative ratio that the sum estimates, from 0 to below 1.
        log_prior_odds: what log odds have and log ratios do not.
    """

    centers: Float[Any, "b d"]
    coefficients: Float[Any, " b"]
    bandwidth: Float[Any, ""]
    gamma: Float[Any, ""]
    log_prior_odds: Float[Any, ""]

    def logits(self, x: Any) -> Float[Array | np.ndarray, " n"]:
        """The log odds of the label 1."""
        if is_traced(self, x):
            return _logits(self, x)
        return answer(lambda rows: _logits_jit(self, rows), x, self.centers.shape[1])


class Expansion(SignedExpansion):
    """A sum of bumps with coefficients that are not negative: positive everywhere.

    Its logarithm is computed as such, so it has a gradient however far from the centers.
    """

    def mean_shift(self, x: Any, steps: int = 1) -> Float[Array | np.ndarray, "n d"]:
        """Move rows uphill by fixed-point steps, none of which can lower the ratio.

        A step takes a row to the mean of the centers, each weighted by its bump's share at the row
        (Comaniciu and Meer 2002). Rows end up in the convex hull of the centers.
        """
        if is_traced(self, x):
            return _shifted(self, x, steps)
        x = as_rows(x, columns=self.centers.shape[1], minimum=0)
        padded = pad_rows(x, bucket(x.shape[0]))
        return np.asarray(_shifted_jit(self, padded, np.int64(steps)))[: x.shape[0]]


def _exponents(fitted: SignedExpansion, x: Array) -> Array:
    return -0.5 * squared_distance(x, jnp.asarray(fitted.centers)) / fitted.bandwidth**2


def _logits(fitted: SignedExpansion, x: Any) -> Array:
    exponents = _exponents(fitted, x)
    if isinstance(fitted, Expansion):
        log_r = logsumexp(exponents, axis=1, b=fitted.coefficients)
    else:
        log_r = jnp.log(jnp.maximum(jnp.exp(exponents) @ fitted.coefficients, _LEAST))
    # gamma r_gamma, which is the probability of label 1 where the prior is gamma.
    share = fitted.gamma * jnp.exp(log_r)
    inside = jnp.minimum(share, _SHARE)
    excess = jnp.log(jnp.maximum(share, _SHARE) / _SHARE)
    slope = _SHARE / (1.0 - _SHARE)
    log_r0 = log_r + jnp.log1p(-fitted.gamma) - jnp.log1p(-inside) + slope * excess
    return log_r0 + fitted.log_prior_odds


def _shifted(fitted: Expansion, x: Any, steps: Any) -> Array:
    log_heights = jnp.log(fitted.coefficients)

    def step(_: Any, rows: Array) -> Array:
        return jax.nn.softmax(_exponents(fitted, rows) + log_heights, axis=1) @ fitted.centers

    return jax.lax.fori_loop(0, steps, step, x)


_logits_jit = eqx.filter_jit(_logits)
_shifted_jit = eqx.filter_jit(_shifted)
