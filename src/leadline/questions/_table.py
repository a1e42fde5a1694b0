"""Trials as a table: what frames, files and reports show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from leadline.questions._question import Question
    from leadline.questions._trial import Trial


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
