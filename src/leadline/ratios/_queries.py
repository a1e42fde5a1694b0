"""Query rows, padded in NumPy and answered piece by piece: few programs, and bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from leadline.boundary import as_rows
from leadline.numerics import bucket, pad_rows

_PIECE = 16384


def answer(program: Callable[[np.ndarray], Any], x: Any, columns: int) -> Float[np.ndarray, " n"]:
    """Apply `program`, which maps padded rows (m, d) to numbers (m,), to any number of rows."""
    x = as_rows(x, columns=columns, minimum=0)
    found = np.empty(x.shape[0])
    for start in range(0, x.shape[0], _PIECE):
        piece = x[start : start + _PIECE]
        padded = pad_rows(piece, bucket(piece.shape[0]))
        found[start : start + _PIECE] = np.asarray(program(padded))[: piece.shape[0]]
    return found
