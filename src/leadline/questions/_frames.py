"""Points and values from frames: what people keep of experiments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from leadline.boundary import InvalidData

if TYPE_CHECKING:
    from leadline.questions._question import Question


def is_frame(value: Any) -> bool:
    """Whether this is a frame, of pandas or like one."""
    return hasattr(value, "columns") and hasattr(value, "to_dict")


def points_of(question: Question, points: Any) -> Any:
    """The points of a frame, whose other columns do not matter; what is no frame stays."""
    if not is_frame(points):
        return points
    named = any(isinstance(name, str) for name in points.columns)
    if not named and not getattr(question.space, "named", True):
        # Columns without names are those of an array.
        return points
    # Where nothing but points is read, their parts may have their own names as well.
    columns = {
        name: column if column in points.columns else name
        for name, column in question.point_columns.items()
    }
    _require_columns(points, columns)
    return [_point(question, columns, row) for row in _rows(points)]


def read_frame(question: Question, frame: Any) -> list[tuple[Any, Any, Any]]:
    """The label, the point and the value of each row of a frame that has a value.

    Columns are those of `to_frame`; only points and what the function returned are read.
    """
    columns = question.point_columns
    _require_columns(frame, columns, question.outputs)
    found = []
    for label, row in zip(frame.index, _rows(frame), strict=True):
        results = tuple(row[name] for name in question.outputs)
        if row.get("failed") is True or all(map(_is_empty, results)):
            continue
        found.append((label, _point(question, columns, row), question.returned(results)))
    return found


def _point(question: Question, columns: Mapping[str, str], row: Mapping[str, Any]) -> Any:
    cells = {name: row[column] for name, column in columns.items()}
    # An empty cell is None, which may be an option, whatever pandas makes of it.
    return question.space.from_dict({k: None if _is_empty(v) else v for k, v in cells.items()})


def _rows(frame: Any) -> Sequence[dict[str, Any]]:
    return frame.to_dict("records")


def _require_columns(frame: Any, columns: Mapping[str, str], others: Sequence[str] = ()) -> None:
    """Refuse a frame that lacks a column of the parts of points, or one of the others."""
    there = list(frame.columns)
    needed = [*columns.values(), *others]
    if missing := [name for name in needed if name not in there]:
        has = f"it has {', '.join(map(repr, map(str, there)))}" if there else "it has none"
        hint = "".join(
            f" {column!r} is the parameter {name!r}, whose name is that of another column."
            for name, column in columns.items()
            if column in missing and column != name
        )
        raise InvalidData(
            f"The frame lacks the columns {', '.join(map(repr, missing))}; {has}.{hint}"
        )
    if twice := [name for name in needed if there.count(name) > 1]:
        raise InvalidData(f"The frame has several columns {twice[0]!r}.")


def _is_empty(cell: Any) -> bool:
    """Whether nothing is in a cell: None or NaN."""
    return cell is None or (isinstance(cell, float) and cell != cell)
