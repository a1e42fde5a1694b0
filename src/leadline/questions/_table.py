"""Trials as a table: what frames, files and reports show.

A part of a point has the column of its name. Where that is the name of another column, as with a
parameter called `value` or `seconds`, its own is called `x.value` or `x.seconds`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from leadline.questions._question import Question
    from leadline.questions._trial import Trial


def columns_of_parts(parts: Sequence[str], others: Iterable[str]) -> dict[str, str]:
    """What the column of each part of a point is called, beside `others`; no two are the same."""
    others = set(others)
    taken = others.union(parts)
    columns = {}
    for part in parts:
        column = part
        if part in others:
            while column in taken:
                column = f"x.{column}"
            taken.add(column)
        columns[part] = column
    return columns


def frame_of(question: Question, trials: Sequence[Trial]) -> Any:
    """A pandas frame with the question's columns and a row for each trial."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("to_frame needs pandas: pip install 'leadline[pandas]'.") from error
    records = [question.record(trial) for trial in trials]
    series = {}
    for name in question.columns:
        cells = [record.get(name) for record in records]
        numbers = name in question.outputs and all(
            cell is None or isinstance(cell, float) for cell in cells
        )
        if numbers:
            cells = np.array([np.nan if cell is None else cell for cell in cells], np.float64)
        elif any(isinstance(cell, list | tuple | np.ndarray) for cell in cells):
            cells = pd.Series(cells, dtype=object)
        series[name] = cells
    return pd.DataFrame(series, columns=list(question.columns))
