"""What a call may return: a number, and with constraints a pair of it and their values."""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.boundary import InvalidData, shorten
from leadline.questions._numbers import as_finite, element


def as_value(value: Any, constraints: int) -> float | list[float]:
    """A finite number, as a float; with constraints a list of it and of their values."""
    pair = isinstance(value, tuple | list) and len(value) == 2
    if not constraints:
        if pair:
            raise InvalidData(
                f"A value must be one finite number, got {shorten(value)}. If the second part "
                "holds constraint values, constraints= is missing: it says how many."
            )
        return as_finite(value, "A value")
    if not pair:
        raise InvalidData(
            f"With constraints={constraints} a value must be a pair, a number and then its "
            f"constraint values, got {shorten(value)}."
        )
    return [as_finite(value[0], "A value"), *_constraint_values(value[1], constraints)]


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
        if isinstance(element(one), bool | np.bool_):
            raise InvalidData(
                f"A constraint value must be a number, at most 0 where allowed, got {one}."
            )
    return [as_finite(one, "A constraint value") for one in several]
