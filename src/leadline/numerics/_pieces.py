"""Many rows answered piece by piece, each padded and cut in NumPy.

A program is compiled for a few numbers of rows only, and the memory that it needs does not grow
with their number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from leadline.numerics._padding import bucket, pad_rows


def in_pieces(
    program: Callable[[np.ndarray], Any],
    rows: np.ndarray,
    most: int,
    *,
    axis: int = 0,
    pad: Callable[[int], int] = bucket,
) -> Any:
    """Apply `program`, which maps rows to arrays with an entry for each, to any number of rows.

    Args:
        program: a function of padded rows, whose answer is an array or a tuple of arrays.
        rows: `(m, ...)`. None at all still run once, so that the answer has the right shape.
        most: how many rows a piece has at most, padded ones included.
        axis: where the rows are in the arrays of the answer.
        pad: the padded number of rows of a piece, given how many it has.
    """
    m = rows.shape[0]
    answer: Any = None
    for start in range(0, max(m, 1), most):
        piece = rows[start : start + most]
        n = piece.shape[0]
        found = jax.device_get(program(pad_rows(piece, min(most, pad(n)))))
        if answer is None:
            answer = jax.tree.map(lambda a: _room(a, axis, m), found)
        for whole, part in zip(jax.tree.leaves(answer), jax.tree.leaves(found), strict=True):
            cut = np.moveaxis(part, axis, 0)[:n]
            if cut.shape[0] != n:  # one answer would be taken for all
                raise ValueError(f"{n} rows got {cut.shape[0]} answers.")
            np.moveaxis(whole, axis, 0)[start : start + n] = cut
    return answer


def _room(a: np.ndarray, axis: int, rows: int) -> np.ndarray:
    shape = list(a.shape)
    shape[axis] = rows
    return np.empty(shape, a.dtype)
