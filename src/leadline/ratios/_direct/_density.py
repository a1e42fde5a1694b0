"""The ratio of two kernel density estimates: the baseline that fails.

Notation: rows x_i (n, d) of one law, bandwidth h_k in column k,

    p(x) = 1/n sum_i prod_k N(x_k; x_ik, h_k^2),    h_k = s_k (4 / ((d + 2) n))^(1 / (d + 4)),

the normal reference rule with standard deviations s_k (Silverman 1986, eq. 4.14), 1.06 s n^(-1/5)
for d = 1. Each density is smoothed by itself. One with several modes is smoothed too much, and a
ratio shows it more than a density does: its mode moves to where the denominator is small (Tiao
2023, section 2.3.2).
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from leadline.boundary import is_traced
from leadline.numerics import bucket, pad_rows, squared_distance
from leadline.ratios._classifier import Classifier, FittedClassifier
from leadline.ratios._queries import answer
from leadline.ratios._two_samples import two_samples


class Density(eqx.Module):
    """A kernel density estimate: padded rows in units of the bandwidth, and log weights."""

    rows: Float[Any, "n d"]
    log_weight: Float[Any, " n"]
    bandwidth: Float[Any, " d"]

    def log_density(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The logarithm of the estimate at rows."""
        s = squared_distance(x / self.bandwidth, jnp.asarray(self.rows))
        log_sum = logsumexp(self.log_weight - 0.5 * s, axis=1)
        unit = jnp.sqrt(2.0 * jnp.pi) * self.bandwidth
        return log_sum - jnp.sum(jnp.log(unit))


class FittedKernelDensity(FittedClassifier):
    """Two density estimates, and the log odds of their labels.

    Attributes:
        numerator: the density of label 1.
        denominator: the density of label 0.
        log_prior_odds: of label 1.
    """

    numerator: Density
    denominator: Density
    log_prior_odds: Float[Any, ""]

    def logits(self, x: Any) -> Float[Array | np.ndarray, " n"]:
        """The log odds of the label 1."""
        if is_traced(self, x):
            return _logits(self, x)
        columns = self.numerator.bandwidth.shape[0]
        return answer(lambda rows: _logits_jit(self, rows), x, columns)


@dataclasses.dataclass(frozen=True)
class KernelDensity(Classifier):
    """Two Gaussian kernel density estimates with normal reference bandwidths.

    It is here for comparison. Estimators of the ratio itself are better.
    """

    name: ClassVar[str] = "kde"

    def fit(self, x, z, weight=None, *, key, state=None) -> FittedKernelDensity:
        """Learn from labeled rows: those of label 1 are the numerator's."""
        s = two_samples(x, z, weight)
        numerator = _estimate(s.numerator, s.numerator_weight)
        denominator = _estimate(s.denominator, s.denominator_weight)
        return FittedKernelDensity(numerator, denominator, np.float64(s.log_prior_odds))


def _estimate(x: np.ndarray, weight: np.ndarray) -> Density:
    # Weighted rows are worth as many as would estimate a mean as well.
    n, d = 1.0 / np.sum(weight**2), x.shape[1]
    variance = weight @ (x - weight @ x) ** 2
    spread = np.sqrt(variance * n / max(n - 1.0, 1.0))
    # A column that does not vary says nothing about its unit.
    spread = np.where(spread > 0, spread, 1.0)
    h = spread * (4.0 / ((d + 2.0) * n)) ** (1.0 / (d + 4.0))
    size = bucket(len(x))
    log_weight = np.full(size, -np.inf)
    log_weight[: len(x)] = np.log(weight)
    return Density(pad_rows(x / h, size), log_weight, h)


def _logits(fitted: FittedKernelDensity, x: Any) -> Array:
    log_ratio = fitted.numerator.log_density(x) - fitted.denominator.log_density(x)
    return log_ratio + fitted.log_prior_odds


_logits_jit = eqx.filter_jit(_logits)
