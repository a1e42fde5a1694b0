"""Values of parameters are JSON scalars: str, int, float, bool and None, and nothing else.

NumPy and JAX scalars become plain ones, so that what comes back can be written to JSON.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from typing import Any

from leadline.boundary import InvalidData

Scalar = str | int | float | bool | None


def plain(value: Any, name: str) -> Scalar:
    """A JSON scalar; arrays without dimensions are unwrapped."""
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidData(f"{name} must be finite, got {value}.")
    if value is None or isinstance(value, str | int | float):
        return value
    raise InvalidData(f"{name} must be a string, a number, a bool or None, got {value!r}.")


def as_number(value: Any, name: str) -> int | float:
    """A finite number that is not a bool."""
    number = plain(value, name)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InvalidData(f"{name} must be a number, got {value!r}.")
    if abs(number) > sys.float_info.max:
        raise InvalidData(f"{name} is larger than any float: it has {len(str(number))} digits.")
    return number


def as_whole(value: Any, name: str) -> int:
    """A whole number, given as an int or as a float such as 3.0."""
    number = as_number(value, name)
    if number != int(number):
        raise InvalidData(f"{name} must be a whole number, got {value!r}.")
    return int(number)


def distinct(values: Iterable[Any], name: str) -> tuple[Scalar, ...]:
    """JSON scalars that differ from each other as Python compares them (1, 1.0 and True do not)."""
    scalars: dict[Scalar, None] = {}
    for value in values:
        scalar = plain(value, f"each of the {name}")
        if scalar in scalars:
            raise InvalidData(f"The {name} must differ from each other, got {value!r} twice.")
        scalars[scalar] = None
    return tuple(scalars)
