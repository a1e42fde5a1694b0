"""Batches chosen greedily: one row after the other, each the best beside those before it.

Notation: rows `(q, d)`; larger is better.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData
from leadline.search._acquisition import Acquisition
from leadline.search._maximum import Maximum

# The best row of an acquisition in round i that is none of some rows.
BestRow = Callable[[Acquisition, int, np.ndarray], Maximum | None]


def choose_greedily(
    acquisition: Acquisition, q: int, avoid: Float[np.ndarray, "n d"], best_row: BestRow
) -> Maximum | None:
    """The rows of `q` rounds, fewer if there are no more, None if there is not one.

    Their value is the sum of what each adds to those before it (Wilson 2023, eq. 2.50), and their
    evaluations are those of the rounds that found a row.
    """
    if q < 1:
        raise InvalidData(f"q must be at least 1, got {q}.")
    if q == 1:
        return best_row(acquisition, 0, avoid)
    _ = acquisition.after  # An acquisition without it says so before the first search.
    rows = np.zeros((0, avoid.shape[1]))
    gains, evaluations = [], 0
    for i in range(q):
        now = acquisition.after(rows) if i else acquisition
        found = best_row(now, i, np.concatenate([avoid, rows]) if i else avoid)
        if found is None:
            break
        rows = np.concatenate([rows, found.rows])
        gains.append(found.value)
        evaluations += found.evaluations
    if not gains:
        return None
    total = np.logaddexp.reduce(gains) if type(acquisition).logarithmic else np.sum(gains)
    return Maximum(rows, float(total), evaluations)
