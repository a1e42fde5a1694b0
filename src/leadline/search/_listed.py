"""Search of a list: the best of all its rows.

Where an acquisition function has ceilings, those of all rows are computed, then the values of the
rows with the highest ones, and then of those that may still be better. The answer is the same.

Notation: rows `(n, d)`; larger is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from leadline.numerics import blas_threads_for, in_pieces, quick_jit
from leadline.search._acquisition import Acquisition
from leadline.search._evaluations import PIECE, Evaluations
from leadline.search._maximum import Maximum

# So many rows are evaluated first.
_FIRST = 512
# By so much of their size ceilings may be wrong: they come from another program than values.
_ROUNDING = 1e-6


def best_listed(evaluations: Evaluations, rows: Float[np.ndarray, "n d"]) -> Maximum | None:
    """The row of the highest value; None if there is no row.

    No row is left out, whatever the budget: it is for searches that guess.
    """
    if not len(rows):
        return None
    if len(rows) <= PIECE or not hasattr(evaluations.acquisition, "ceilings"):
        values = evaluations.values(rows[:, None, :])
        best = int(np.argmax(values))
        return Maximum(rows[best][None], float(values[best]), len(rows))
    ceilings = _ceilings(evaluations.acquisition, rows)
    first = np.sort(np.argpartition(-ceilings, _FIRST)[:_FIRST])
    values = evaluations.values(rows[first][:, None, :])
    reached = np.max(values)
    still = ceilings > reached - _ROUNDING * (1.0 + abs(reached))
    still[first] = False
    others = np.flatnonzero(still)
    values = np.append(values, evaluations.values(rows[others][:, None, :]))
    best = int(np.argmax(values))
    row = rows[np.append(first, others)[best]]
    return Maximum(row[None], float(values[best]), len(rows))


def _ceilings(acquisition: Acquisition, rows: np.ndarray) -> np.ndarray:
    with blas_threads_for(1):
        return in_pieces(
            lambda piece: _ceilings_jit(acquisition, piece), rows, PIECE, pad=lambda _: PIECE
        )


@quick_jit
def _ceilings_jit(acquisition: Any, rows: Any) -> Array:
    return acquisition.ceilings(rows[:, None, :])
