"""A campaign as a CSV table."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import numpy as np

from leadline.boundary import InvalidData
from leadline.cli._states import states
from leadline.questions import Question

# What there is in a table beside the columns of the question.
_MORE = ("traceback", "state")
# Of files, and of pipes too, whatever a terminal shows. Reasons may hold what is no text.
_ENCODING: Any = {"encoding": "utf-8", "errors": "backslashreplace"}


def write_table(question: Question, journal: str, file: str) -> None:
    """Write a row for each trial to a file, or to standard output if it is called `-`."""
    known = states(journal)
    if file == "-":
        if sys.stdout is None:
            raise InvalidData("There is no standard output to write the table to.")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(**_ENCODING)
        _write(question, known, sys.stdout)
        return
    try:
        with open(file, "w", newline="", **_ENCODING) as to:
            _write(question, known, to)
    except OSError as error:
        raise InvalidData(f"The table {file} cannot be written: {error.strerror}.") from error


def _write(question: Question, known: Mapping[int, Mapping[str, Any]], to: TextIO) -> None:
    table = csv.writer(to, lineterminator="\n")
    table.writerow([*question.columns, *(_beside(question.columns, name) for name in _MORE)])
    for trial in question.trials:
        record = question.record(trial)
        cells = [record.get(name) for name in question.columns]
        more = [trial.traceback or None, known.get(trial.id, {})]
        table.writerow([_written(cell) for cell in cells + more])


def _beside(columns: Sequence[str], name: str) -> str:
    """What a column is called beside others, which may be parameters of its name."""
    return _beside(columns, f"trial.{name}") if name in columns else name


def _written(cell: Any) -> Any:
    """A cell as CSV takes it: arrays as lists, in full, and what has names as JSON."""
    if isinstance(cell, np.ndarray):
        return json.dumps(cell.tolist())
    if isinstance(cell, Mapping):
        return json.dumps(cell, default=_plain) if cell else None
    return cell


def _plain(value: Any) -> Any:
    """What JSON does not know: arrays as lists, anything else as text."""
    return value.tolist() if isinstance(value, np.ndarray) else str(value)
