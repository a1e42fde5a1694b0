"""Data with several outputs as rows of a process whose last input column is the output.

Notation: `x (n, d)`, `y (n, p)`, `mask (n, p)` True where an output was observed.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from leadline.boundary import InvalidData, as_inputs, require_size


def checked_outputs(
    x: Any,
    y: Any,
    mask: Any,
    p: int,
    columns: int | None = None,
    names: tuple[str, ...] | None = None,
):
    """Data checked: inputs, targets, and which of them were observed."""
    x = as_inputs(x, columns=columns, names=names)
    y = np.asarray(y, dtype=float)
    if y.shape != (x.shape[0], p):
        raise InvalidData(f"y must have shape ({x.shape[0]}, {p}), got {y.shape}.")
    mask = np.ones(y.shape, bool) if mask is None else np.asarray(mask, dtype=bool)
    if mask.shape != y.shape:
        raise InvalidData(f"mask must have the shape of y, {y.shape}, got {mask.shape}.")
    if not mask.any():
        raise InvalidData("mask leaves no observed value.")
    if not np.isfinite(y[mask]).all():
        raise InvalidData(
            "y must be finite where it was observed; pass mask=~np.isnan(y) for missing values."
        )
    require_size(y[mask], "y")
    return x, y, mask


def observed_rows(x: np.ndarray, y: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One row per observed value, with the number of its output in the last column."""
    row, output = np.nonzero(mask)
    return np.concatenate([x[row], output[:, None].astype(float)], axis=1), y[mask]


def query_rows(xs: Any, outputs: int) -> Any:
    """Each query row of `xs (..., m, d)` once for every output: `(..., m * outputs, d + 1)`."""
    np_ = np if isinstance(xs, np.ndarray) else jnp
    index = np.tile(np.arange(float(outputs)), xs.shape[-2])[:, None]
    index = np_.broadcast_to(index, (*xs.shape[:-2], *index.shape))
    return np_.concatenate([np_.repeat(xs, outputs, axis=-2), index], axis=-1)
