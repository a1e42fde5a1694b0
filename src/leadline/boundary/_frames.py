"""Columns of frames, known by their names.

What has learned from a frame remembers the names of its columns, and puts those of later frames in
the same order. Arrays, and frames whose columns are only numbered, are taken as they are.
"""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

import equinox as eqx

from leadline.boundary._errors import InvalidData

_Known = TypeVar("_Known", bound="KnowsColumns")


class KnowsColumns(eqx.Module):
    """Something with inputs, that may know the names of their columns.

    The names are part of its structure, so they survive whatever is done to its arrays. Compiled
    programs are given what is `named(None)`: they would be compiled again for every set of names.

    Attributes:
        input_names: of the input columns; None if they have none.
    """

    input_names: tuple[str, ...] | None = eqx.field(
        static=True, kw_only=True, default=None, repr=False
    )

    def named(self: _Known, names: tuple[str, ...] | None) -> _Known:
        """The same with other names."""
        return self if names == self.input_names else dataclasses.replace(self, input_names=names)

    def ordered(self, x: Any, name: str) -> Any:
        """A frame with its columns in the order of the names; what has no names as it is."""
        return in_order(x, name, self.input_names)


def column_names(x: Any) -> tuple[str, ...] | None:
    """The names of a frame's columns; None where there are none, or not only text."""
    columns: Any = getattr(x, "columns", ())
    names = tuple(columns)
    return names if names and all(isinstance(n, str) for n in names) else None


def in_order(x: Any, name: str, names: tuple[str, ...] | None) -> Any:
    """A frame with its columns in the order of `names`; what has no names as it is."""
    given = column_names(x)
    if names is None or given is None or given == names:
        return x
    missing = ", ".join(repr(n) for n in names if n not in given)
    unknown = ", ".join(repr(n) for n in given if n not in names)
    if missing or unknown:
        found = [f"{missing} missing"] * bool(missing) + [f"{unknown} unknown"] * bool(unknown)
        raise InvalidData(
            f"{name} must have the columns that the data had, {', '.join(names)}, but has "
            f"{' and '.join(found)}."
        )
    if len(given) != len(names) or len(set(names)) != len(names):
        raise InvalidData(f"{name} has columns of the same name: {', '.join(given)}.")
    return x[list(names)]
