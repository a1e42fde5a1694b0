"""Labeled rows as two weighted samples, for estimators that look at the ratio directly.

Notation: numerator rows `(n, d)` have label 1, denominator rows `(m, d)` label 0; the weights of
each sum to 1. With the effective prior `beta` of label 1, a ratio r and log odds are one thing:

    logits = log r + log(beta / (1 - beta)).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData
from leadline.ratios._labeled import as_labeled


class TwoSamples(NamedTuple):
    """Rows of both laws that count, their weights, and the log odds of their total weights."""

    numerator: Float[np.ndarray, "n d"]
    denominator: Float[np.ndarray, "m d"]
    numerator_weight: Float[np.ndarray, " n"]
    denominator_weight: Float[np.ndarray, " m"]
    log_prior_odds: float


def two_samples(x: Any, z: Any, weight: Any = None) -> TwoSamples:
    """The rows of each label, without those of weight zero."""
    x, z, weight = as_labeled(x, z, weight)
    top, bottom = (z == 1) & (weight > 0), (z == 0) & (weight > 0)
    for label, rows in ((1, top), (0, bottom)):
        if not rows.any():
            raise InvalidData(f"A ratio needs rows of both labels; none of label {label} counts.")
    w, w_ = weight[top], weight[bottom]
    odds = float(np.log(w.sum()) - np.log(w_.sum()))
    return TwoSamples(x[top], x[bottom], w / w.sum(), w_ / w_.sum(), odds)
