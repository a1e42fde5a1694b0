"""Folds of rows, for what is learned without the rows that it is judged by."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int


def folds_of(rows: int, folds: int, rng: np.random.Generator) -> Int[np.ndarray, " n"]:
    """The fold of each row; folds are of equal size, or differ by a row."""
    return rng.permutation(np.arange(rows) % folds)
