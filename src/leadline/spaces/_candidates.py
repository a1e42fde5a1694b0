"""Candidates as people have them, read column by column: an array, a frame or a list of dicts.

Notation: `n` candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from leadline.boundary import InvalidData, as_rows, shorten


class Column(NamedTuple):
    """What the candidates have under one name: numbers, truth values or texts."""

    name: str
    values: np.ndarray

    @property
    def numeric(self) -> bool:
        """Whether they are numbers; truth values are 0 and 1."""
        return self.values.dtype.kind in "biuf"

    def value(self, i: int) -> Any:
        """That of one candidate, as a Python scalar."""
        value = self.values[i]
        return value.item() if isinstance(value, np.generic) else value


def read_candidates(candidates: Any, names: Any) -> tuple[list[Column], bool]:
    """The columns, and whether candidates are dictionaries (or arrays).

    Args:
        candidates: as they were given.
        names: of the columns of an array; None for `x0`, `x1`, ...
    """
    if isinstance(candidates, str):
        raise InvalidData(f"{_WANTED}, got {shorten(candidates)}.")
    named = _is_frame(candidates) or _holds_dicts(candidates)
    if named and names is not None:
        raise InvalidData("names is for an array of candidates; these have names already.")
    if not named:
        return _of_array(candidates, names), False
    columns = _of_frame(candidates) if _is_frame(candidates) else _of_dicts(candidates)
    return [_checked(name, values) for name, values in columns], True


_WANTED = "The candidates of a pool must be an array (n, d), a frame or a list of dictionaries"


def _is_frame(candidates: Any) -> bool:
    return hasattr(candidates, "columns") and hasattr(candidates, "to_dict")


def _holds_dicts(candidates: Any) -> bool:
    several = isinstance(candidates, Sequence) and len(candidates) > 0
    return several and isinstance(candidates[0], Mapping)


def _of_array(candidates: Any, names: Any) -> list[Column]:
    try:
        a = as_rows(candidates, "candidates")
    except InvalidData as error:
        raise InvalidData(f"{_WANTED}: {error}") from error
    if names is None:
        names = [f"x{j}" for j in range(a.shape[1])]
    several = not isinstance(names, str) and all(isinstance(name, str) for name in names)
    if not several or len(set(names)) != a.shape[1] or len(names) != a.shape[1]:
        raise InvalidData(
            f"names must be {a.shape[1]} different texts, one for each column, got "
            f"{shorten(names)}."
        )
    return [Column(name, a[:, j]) for j, name in enumerate(names)]


def _of_frame(frame: Any) -> list[tuple[str, Any]]:
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise InvalidData(f"The columns of the frame must have different names, got {names}.")
    _require_some(len(frame), len(names))
    return [(str(name), np.asarray(frame[name])) for name in frame.columns]


def _of_dicts(candidates: Sequence[Any]) -> list[tuple[str, Any]]:
    names = list(candidates[0])
    _require_some(len(candidates), len(names))
    for i, candidate in enumerate(candidates):
        if not isinstance(candidate, Mapping) or candidate.keys() != candidates[0].keys():
            raise InvalidData(
                f"Every candidate must have the same names, {', '.join(map(repr, names))}; "
                f"candidates[{i}] is {shorten(candidate)}."
            )
    return [(str(name), [candidate[name] for candidate in candidates]) for name in names]


def _require_some(candidates: int, columns: int) -> None:
    if not candidates or not columns:
        raise InvalidData(
            f"A pool needs candidates with at least one column, got {candidates} with {columns}."
        )


def _checked(name: str, values: Any) -> Column:
    """A column of numbers or of texts, without gaps."""
    a = np.asarray(values)
    if a.shape != (len(values),):
        raise InvalidData(f"Column {name!r} must hold numbers or texts, got {shorten(values[0])}.")
    if a.dtype.kind not in "biuf":
        objects = np.asarray(values, dtype=object)
        # A number among texts would become a text, a gap a number.
        a = objects if all(isinstance(value, str) for value in objects) else _numbers(name, objects)
    gaps = np.flatnonzero(~np.isfinite(a)) if a.dtype.kind == "f" else []
    if len(gaps):
        raise InvalidData(
            f"Column {name!r} must be finite, but {len(gaps)} of its {len(a)} values are not: the "
            f"first is {a[gaps[0]]} at candidate {gaps[0]}."
        )
    return Column(name, a)


def _numbers(name: str, values: np.ndarray) -> np.ndarray:
    for i, value in enumerate(values):
        if not isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
            kind = "texts" if isinstance(values[0], str) else "numbers"
            raise InvalidData(
                f"Column {name!r} must hold numbers alone or texts alone; it begins with {kind}, "
                f"and candidate {i} has {shorten(value)}."
            )
    return np.asarray(values.tolist())
