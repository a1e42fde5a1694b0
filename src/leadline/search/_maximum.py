"""The answer of a search, and which of the sets that a search has seen it is.

Notation: sets `(m, q, d)` of `q` rows each; larger is better.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData

# Rows that differ less than this in every column are the same call.
_SAME = 1e-7

# Sets (m, q, d) and their values (m,).
Valued = tuple[np.ndarray, np.ndarray]


class Maximum(NamedTuple):
    """The best rows found, what they are worth together, and how many sets were evaluated."""

    rows: Float[np.ndarray, "q d"]
    value: float
    evaluations: int

    @property
    def row(self) -> Float[np.ndarray, " d"]:
        """The row of an answer that has one."""
        if len(self.rows) != 1:
            raise InvalidData(f"The answer has {len(self.rows)} rows: see `rows`.")
        return self.rows[0]


def best_of(
    tiers: Iterable[Valued], avoid: Float[np.ndarray, "n d"], evaluations: int
) -> Maximum | None:
    """The set of the highest value that repeats no call; None if all do.

    A set of a later tier is only taken if all before it repeat a call.
    """
    for sets, values in tiers:
        for i in np.argsort(-values, kind="stable"):
            if _is_new(sets[i], avoid):
                return Maximum(sets[i], float(values[i]), evaluations)
    return None


def is_among(row: Float[np.ndarray, " d"], rows: Float[np.ndarray, "n d"]) -> bool:
    """Whether a call at `row` would repeat one of `rows`."""
    return bool(len(rows)) and bool(np.any(np.all(np.abs(rows - row) < _SAME, axis=1)))


def _is_new(rows: np.ndarray, avoid: np.ndarray) -> bool:
    """Whether calls at `rows` repeat neither one another nor one of `avoid`."""
    return not any(is_among(row, avoid) or is_among(row, rows[:i]) for i, row in enumerate(rows))
