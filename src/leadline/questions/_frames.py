"""Points and values from frames: what people keep of experiments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leadline.boundary import InvalidData

if TYPE_CHECKING:
    from leadline.questions._question import Question


def is_frame(value: Any) -> bool:
    """Whether this is a frame, of pandas or like one."""
    return hasattr(value, "columns") and hasattr(value, "to_dict")


def points_of(domain: Any, points: Any) -> Any:
    """The points of a frame, whose other columns do not matter; what is no frame stays."""
    if not is_frame(points):
        return points
    # A box takes a frame for an array, unless it has the names of its columns.
    if not getattr(domain, "named", True) and not set(domain.names) <= set(points.columns):
        return points
    _require_columns(points, domain.names)
    return [domain.from_dict({name: row[name] for name in domain.names}) for row in _rows(points)]


def read_frame(question: Question, frame: Any) -> list[tuple[Any, Any, Any]]:
    """The label, the point and the value of each row of a frame that has a value.

    Columns are those of `to_frame`; only points and what the function returned are read.
    """
    _require_columns(frame, [*question.space.names, *question.outputs])
    found = []
    for label, row in zip(frame.index, _rows(frame), strict=True):
        results = tuple(row[name] for name in question.outputs)
        if row.get("failed") is True or all(map(_is_empty, results)):
            continue
        point = question.space.from_dict({name: row[name] for name in question.space.names})
        found.append((label, point, question.returned(results)))
    return found


def _rows(frame: Any) -> Sequence[dict[str, Any]]:
    return frame.to_dict("records")


def _require_columns(frame: Any, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise InvalidData(
            f"The frame lacks the columns {', '.join(map(repr, missing))}; it has "
            f"{', '.join(map(repr, map(str, frame.columns)))}."
        )


def _is_empty(cell: Any) -> bool:
    """Whether nothing is in a cell: None or NaN."""
    return cell is None or (isinstance(cell, float) and cell != cell)
