"""Search of a list: the best of all its rows.

Where an acquisition function has ceilings, those of all rows are computed, then the values of the
rows with the highest ones, and so on as long as a ceiling is above the best value. The answer is
that of brute force.

Notation: rows `(n, d)`; larger is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from leadline.numerics import blas_threads_for, in_pieces, pad_rows, quick_jit
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
    some = np.argpartition(-ceilings, _FIRST)[:_FIRST]
    best, reached = _best_of_some(evaluations, rows, some)
    ceilings[some] = -np.inf
    left = np.flatnonzero(_may_be_above(ceilings, reached))
    left = left[np.argsort(-ceilings[left], kind="stable")]
    size = _FIRST
    while len(left) and _may_be_above(ceilings[left[0]], reached):
        some, left = left[:size], left[size:]
        other, value = _best_of_some(evaluations, rows, some, size)
        if value > reached or (value == reached and other < best):
            best, reached = other, value
        size = PIECE
    return Maximum(rows[best][None], reached, len(rows))


def _may_be_above(ceilings: Any, reached: float) -> Any:
    return ceilings > reached - _ROUNDING * (1.0 + abs(reached))


def _best_of_some(
    evaluations: Evaluations, rows: np.ndarray, some: np.ndarray, size: int = _FIRST
) -> tuple[int, float]:
    """The number of the best of some rows, the first of equally good ones, and its value.

    There are always as many sets, since each number of them is a program of its own.
    """
    some = np.sort(some)
    values = evaluations.values(pad_rows(rows[some], size)[:, None, :])[: len(some)]
    best = int(np.argmax(values))
    return int(some[best]), float(values[best])


def _ceilings(acquisition: Acquisition, rows: np.ndarray) -> np.ndarray:
    with blas_threads_for(1):
        return in_pieces(
            lambda piece: _ceilings_jit(acquisition, piece), rows, PIECE, pad=lambda _: PIECE
        )


@quick_jit
def _ceilings_jit(acquisition: Any, rows: Any) -> Array:
    return acquisition.ceilings(rows[:, None, :])
