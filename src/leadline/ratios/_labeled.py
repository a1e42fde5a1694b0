"""Labeled rows at the boundary of a classifier: checked once, and padded to a few sizes.

Notation: rows `x (n, d)`, labels `z (n,)` 0 or 1, weights `w (n,)`, 0 in padded rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData, as_labels, as_rows, as_weights
from leadline.numerics import bucket, pad_rows, row_mask


class Labeled(NamedTuple):
    """Rows, labels and weights."""

    x: Float[np.ndarray, "n d"]
    z: Float[np.ndarray, " n"]
    weight: Float[np.ndarray, " n"]

    def counted(self) -> Labeled:
        """The rows that count: those of positive weight."""
        counts = self.weight > 0
        return self if counts.all() else Labeled(*(a[counts] for a in self))

    def padded(self, dtype: Any = np.float64) -> Labeled:
        """The rows of a bucket; those that are not real have weight 0."""
        n = self.x.shape[0]
        size = bucket(n)
        # What single precision cannot hold becomes infinite, and training says so.
        with np.errstate(over="ignore"):
            x, z, weight = (pad_rows(a.astype(dtype), size) for a in self)
        return Labeled(x, z, weight * row_mask(n, size).astype(dtype))


def as_labeled(x: Any, z: Any, weight: Any = None) -> Labeled:
    """Data of a classifier, or an error that says what is wrong with them."""
    x = as_rows(x)
    z, weight = as_labels(z, x.shape[0]), as_weights(weight, x.shape[0])
    if not np.any(weight > 0):
        raise InvalidData("weight must be positive for at least one row, but all are 0.")
    return Labeled(x, z, weight)
