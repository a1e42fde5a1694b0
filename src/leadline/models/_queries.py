"""Queries of a posterior: checked, and answered piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leadline.boundary import as_inputs
from leadline.numerics import blas_threads_for, in_pieces

_PIECE = 2048


def answer_queries(
    program: Callable[[np.ndarray], Any],
    xs: Any,
    columns: int,
    rows: int,
    names: tuple[str, ...] | None = None,
) -> tuple[np.ndarray, ...]:
    """Apply `program`, which maps query rows (m, d) to arrays (..., m), to any number of rows.

    Args:
        program: a compiled function of padded query rows.
        xs: the query, checked here.
        columns: how many columns it must have.
        rows: the size of the model's matrices, which decides on BLAS threads.
        names: of the columns, if they have names.
    """
    xs = as_inputs(xs, "xs", columns=columns, minimum=0, names=names)
    with blas_threads_for(rows):
        return in_pieces(program, xs, _PIECE, axis=-1)
