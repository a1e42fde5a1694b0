"""What a call may return: a number, and with constraints a pair of it and their values."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from leadline.boundary import InvalidData, shorten

_ARRAYS = (np.ndarray, jax.Array)


def as_value(value: Any, constraints: int) -> float | list[float]:
    """A finite number, as a float; with constraints a list of it and of their values."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    if not constraints:
        if pair:
            raise InvalidData(
                f"A value must be one finite number, got {shorten(value)}. If the second part "
                "holds constraint values, constraints= is missing: it says how many."
            )
        return _finite(value, "A value")
    if not pair:
        raise InvalidData(
            f"With constraints={constraints} a value must be a pair, a number and then its "
            f"constraint values, got {shorten(value)}."
        )
    return [_finite(value[0], "A value"), *_constraint_values(value[1], constraints)]


def as_count(constraints: Any) -> int:
    """How many constraint values a call returns."""
    whole = isinstance(constraints, int | np.integer) and not isinstance(constraints, bool)
    if not whole or constraints < 0:
        raise InvalidData(
            "constraints must be how many constraint values a call returns, a whole number, got "
            f"{shorten(constraints)}."
        )
    return int(constraints)


def _constraint_values(values: Any, constraints: int) -> list[float]:
    try:
        several = list(values) if np.ndim(values) else [values]
    except ValueError as error:
        raise InvalidData(
            f"Constraint values must be finite numbers, got {shorten(values)}."
        ) from error
    if len(several) != constraints:
        raise InvalidData(
            f"constraints={constraints}, so there must be as many constraint values, got "
            f"{len(several)}: {shorten(values)}."
        )
    for one in several:
        # True would be 1, which is not allowed: the opposite of what it seems to say.
        if isinstance(_element(one), bool | np.bool_):
            raise InvalidData(
                f"A constraint value must be a number, at most 0 where allowed, got {one}."
            )
    return [_finite(one, "A constraint value") for one in several]


def _finite(value: Any, what: str) -> float:
    """A finite number, as a float; `what` it is, for errors."""
    try:
        number = _element(value)
        if isinstance(number, str | bytes) or np.ndim(number) != 0 or np.ma.is_masked(value):
            raise TypeError
        number = float(number)
    except OverflowError:
        number = np.inf
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{what} must be one finite number, got {shorten(value)}.") from error
    if not np.isfinite(number):
        raise InvalidData(f"{what} must be finite, got {number}.")
    return number


def _element(value: Any) -> Any:
    """What an array of one element holds: a function that computes with arrays returns those."""
    return value.item() if isinstance(value, _ARRAYS) and value.size == 1 else value
