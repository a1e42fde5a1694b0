"""Data of a regression: checked once, padded, and what a posterior tells of them.

Notation: `x (n, d)`, `y (n,)`, `var (n,)` known variances of the rows, `mask (n,)` 1 for real rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import as_inputs, as_targets, as_variances, require_size
from leadline.numerics import bucket, pad_rows, row_mask


class Rows(NamedTuple):
    """Padded data: inputs, targets, known variances, and which rows are real."""

    x: Float[Any, "n d"]
    y: Float[Any, " n"]
    var: Float[Any, " n"]
    mask: Float[Any, " n"]

    def real(self) -> Data:
        """The data without padding."""
        n = int(np.sum(self.mask))
        return Data(*(np.asarray(part)[:n] for part in self[:3]))


class Data(NamedTuple):
    """Data as they were given: inputs, targets, and known variances beside the learned noise."""

    x: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, " n"]
    var: Float[np.ndarray, " n"]


class Observations(NamedTuple):
    """What a process was told, in padded rows.

    Attributes:
        x: inputs.
        residual: targets minus the mean function; zero in padded rows.
        variance: of the noise, learned and known; zero in padded rows.
        mask: which rows are real.
    """

    x: Float[Any, "n d"]
    residual: Float[Array, " n"]
    variance: Float[Array, " n"]
    mask: Float[Any, " n"]


def as_padded_rows(
    x: Any,
    y: Any,
    var: Any = None,
    *,
    columns: int | None = None,
    names: tuple[str, ...] | None = None,
    size: Callable[[int], int] = bucket,
) -> Rows:
    """Check data and pad them, n rows to `size(n)`."""
    x = as_inputs(x, columns=columns, names=names)
    n = x.shape[0]
    y = as_targets(y, n)
    require_size(y, "y")
    return padded_rows(x, y, as_variances(var, n), size(n))


def padded_rows(x: np.ndarray, y: np.ndarray, var: np.ndarray, size: int) -> Rows:
    """Pad data that have been checked to `size` rows."""
    mask = row_mask(x.shape[0], size)
    return Rows(pad_rows(x, size), pad_rows(y, size), pad_rows(var, size), mask)
