"""Rows padded to a few sizes, so that growing data compile a handful of programs.

XLA compiles for every shape. Data that grow by one row per call are padded to 64, 128, 256 and
then multiples of 256 rows; a mask says which rows are real. Padding and cutting happen in NumPy:
an eager `jnp` operation on an unpadded array would itself compile for every size. `jnp.asarray` is
one of them, `jax.device_put` is not.
"""

from __future__ import annotations

import numpy as np

_SMALL = (64, 128, 256)
_STEP = 256


def bucket(n: int) -> int:
    """The padded number of rows for `n` real ones."""
    for size in _SMALL:
        if n <= size:
            return size
    return -(-n // _STEP) * _STEP


def power_of_two(m: int) -> int:
    """The padded number of `m` rows that arrive together: few, and seldom the same number."""
    return 1 << (m - 1).bit_length()


def pad_rows(a: np.ndarray, rows: int) -> np.ndarray:
    """`a` with its first row (or zeros, if it has none) repeated up to `rows` rows.

    Repeating a real row keeps padded inputs inside the data: no kernel meets a value that the
    user's data do not have.
    """
    missing = rows - a.shape[0]
    if missing == 0:
        return a
    if a.shape[0] == 0:
        return np.zeros((rows, *a.shape[1:]), a.dtype)
    return np.concatenate([a, np.broadcast_to(a[:1], (missing, *a.shape[1:]))])


def row_mask(n: int, rows: int) -> np.ndarray:
    """1 for the `n` real rows, 0 for the padded ones."""
    return (np.arange(rows) < n).astype(np.float64)
