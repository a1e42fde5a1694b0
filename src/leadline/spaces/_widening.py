"""Whether one space has all the points of another, and differs from it in nothing but bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from leadline.spaces._grid import are_aligned

# What may differ between two parameters, and in which direction.
_BOUNDS = {"low": -1.0, "high": 1.0}


def is_wider(description: Any, than: Any) -> bool:
    """Whether a described space is another one with some wider bounds, the rest being the same."""
    if not (_has_parameters(description) and _has_parameters(than)):
        return False
    rest, other = ({k: v for k, v in d.items() if k != "parameters"} for d in (description, than))
    tables, others = description["parameters"], than["parameters"]
    if repr(rest) != repr(other) or list(tables) != list(others):
        return False
    pairs = list(zip(tables.values(), others.values(), strict=True))
    return all(_holds(*pair) for pair in pairs) and any(repr(a) != repr(b) for a, b in pairs)


def _has_parameters(description: Any) -> bool:
    return isinstance(description, Mapping) and isinstance(description.get("parameters"), Mapping)


def _holds(table: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a parameter has all values of another that is like it but for its bounds."""
    if list(table) != list(other):
        return False
    rest, others = ({k: v for k, v in t.items() if k not in _BOUNDS} for t in (table, other))
    if "step" in table and not are_aligned(table["low"], other["low"], table["step"]):
        return False
    return repr(rest) == repr(others) and all(
        0 <= sign * (table[end] - other[end]) < math.inf
        for end, sign in _BOUNDS.items()
        if end in table
    )
