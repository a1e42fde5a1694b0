"""A chart made of characters.

A column of the chart is filled up to its value, in eighths of a character.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_EIGHTHS = " ▁▂▃▄▅▆▇█"
# Positive values that differ by more than this factor are told apart on a log scale only.
_WIDE = 1e2


def text_chart(values: Sequence[float], width: int, height: int) -> list[str]:
    """The lines of a chart, with the highest and the lowest value beside it.

    Args:
        values: one for each step; NaN leaves a gap.
        width: how many columns at most; of several steps in a column the last is shown.
        height: how many lines.
    """
    columns = min(width, len(values))
    ends = [math.ceil(len(values) * (k + 1) / columns) - 1 for k in range(columns)]
    shown = np.array([values[k] for k in ends], dtype=np.float64)
    low, high = np.nanmin(shown), np.nanmax(shown)
    wide = bool(low > 0.0 and high > _WIDE * low)
    # The lowest value is a line too, not nothing.
    filled = 1 + np.rint((8 * height - 1) * _position(shown, low, high, wide))
    labels = [f"{high:.4g}", *[""] * (height - 2), f"{low:.4g}"]
    margin = max(map(len, labels))
    lines = []
    for k, label in enumerate(labels):
        below = 8 * (height - 1 - k)
        eighths = np.clip(np.nan_to_num(filled) - below, 0, 8).astype(int)
        lines.append(f"{label:>{margin}} ┤" + "".join(_EIGHTHS[e] for e in eighths))
    return lines


def _position(values: np.ndarray, low: float, high: float, logarithmic: bool) -> np.ndarray:
    """Where values are between the lowest (0) and the highest (1)."""
    if low == high:
        return np.where(np.isnan(values), np.nan, 0.0)
    if logarithmic:
        values, low, high = np.log(values), np.log(low), np.log(high)
    return (values - low) / (high - low)
