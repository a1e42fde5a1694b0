"""Numbers that functions return."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from leadline.boundary import InvalidData, shorten

_ARRAYS = (np.ndarray, jax.Array)


def as_finite(value: Any, what: str, *, nothing: bool = False) -> float:
    """A finite number, as a float.

    Args:
        value: what was returned.
        what: it is, for errors.
        nothing: whether minus infinity, the logarithm of nothing, is a number too.
    """
    try:
        number = element(value)
        if isinstance(number, str | bytes) or np.ndim(number) != 0 or np.ma.is_masked(value):
            raise TypeError
        number = float(number)
    except OverflowError:
        number = np.inf
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{what} must be one finite number, got {shorten(value)}.") from error
    if not (np.isfinite(number) or (nothing and number == -np.inf)):
        raise InvalidData(f"{what} must be finite, got {number}.")
    return number


def element(value: Any) -> Any:
    """What an array of one element holds: a function that computes with arrays returns those."""
    return value.item() if isinstance(value, _ARRAYS) and value.size == 1 else value
