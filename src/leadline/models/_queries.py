"""Query rows, padded and cut in NumPy and answered piece by piece.

A program is compiled for a few numbers of query rows only, and the memory that a long query needs
does not grow with its length.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from leadline.boundary import as_rows
from leadline.numerics import blas_threads_for, bucket, pad_rows

_PIECE = 2048


def answer_queries(
    program: Callable[[np.ndarray], Any], xs: Any, columns: int, rows: int
) -> tuple[np.ndarray, ...]:
    """Apply `program`, which maps query rows (m, d) to arrays (..., m), to any number of rows.

    Args:
        program: a compiled function of padded query rows.
        xs: the query, checked here.
        columns: how many columns it must have.
        rows: the size of the model's matrices, which decides on BLAS threads.
    """
    xs = as_rows(xs, "xs", columns=columns, minimum=0)
    # An empty query still runs once, so that its answer has the right shape.
    starts = range(0, max(xs.shape[0], 1), _PIECE)
    pieces = []
    with blas_threads_for(rows):
        for start in starts:
            piece = xs[start : start + _PIECE]
            m = piece.shape[0]
            answers = jax.device_get(program(pad_rows(piece, bucket(m))))
            pieces.append([a[..., :m] for a in answers])
    return tuple(np.concatenate(parts, axis=-1) for parts in zip(*pieces, strict=True))
