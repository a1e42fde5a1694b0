"""Gaussian bumps for ratios: where they sit, and how wide they may be.

Bumps are needed where the ratio is large, which is where the numerator has rows.
"""

from __future__ import annotations

import numpy as np
import scipy
from jaxtyping import Float

from leadline.boundary import InvalidData
from leadline.ratios._two_samples import TwoSamples

# Widths to choose from, in units of the median distance. In one dimension with two modes the best
# one is about a fifth of it, in six dimensions about one.
_FACTORS = (0.1, 0.2, 0.35, 0.6, 1.0, 1.5)


def check_basis(centers: int, bandwidths: tuple[float, ...] | None, folds: int) -> None:
    """Settings that `RuLSIF` and `KLIEP` share."""
    if centers < 1:
        raise InvalidData(f"centers must be at least 1, got {centers}.")
    if bandwidths is not None and (len(bandwidths) == 0 or min(bandwidths) <= 0):
        raise InvalidData(f"bandwidths must be positive, got {bandwidths}.")
    if folds < 2:
        raise InvalidData(f"folds must be at least 2, got {folds}.")


def choose_centers(
    samples: TwoSamples, most: int, rng: np.random.Generator
) -> Float[np.ndarray, "b d"]:
    """All rows of the numerator, or `most` of them, rows that count more with more probability."""
    rows = samples.numerator
    if len(rows) <= most:
        return rows
    return rows[rng.choice(len(rows), most, replace=False, p=samples.numerator_weight)]


def squared_distances(
    x: Float[np.ndarray, "n d"], y: Float[np.ndarray, "m d"]
) -> Float[np.ndarray, "n m"]:
    """All squared distances between rows."""
    return scipy.spatial.distance.cdist(x, y, "sqeuclidean")


def median_distance(*squared: Float[np.ndarray, "_ _"]) -> float:
    """The middle one of the distances that are not zero; 1 if all are."""
    together = np.concatenate([s.ravel() for s in squared])
    positive = together[together > 0]
    return float(np.sqrt(np.median(positive))) if positive.size else 1.0


def default_bandwidths(*squared: Float[np.ndarray, "_ _"]) -> tuple[float, ...]:
    """Widths to choose from, given squared distances of rows from centers."""
    unit = median_distance(*squared)
    return tuple(factor * unit for factor in _FACTORS)
