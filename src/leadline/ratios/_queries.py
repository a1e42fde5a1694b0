"""Queries of a classifier: checked, and answered piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from leadline.boundary import as_rows
from leadline.numerics import in_pieces

_PIECE = 16384


def answer(program: Callable[[np.ndarray], Any], x: Any, columns: int) -> Float[np.ndarray, " n"]:
    """Apply `program`, which maps padded rows (m, d) to numbers (m,), to any number of rows."""
    x = as_rows(x, columns=columns, minimum=0)
    return np.asarray(in_pieces(program, x, _PIECE), np.float64)
