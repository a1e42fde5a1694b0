"""What a constraint says of a point: yes or no, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from leadline.boundary import InvalidData, shorten


def is_allowed(constraint: Callable[[Any], Any], point: Any) -> bool:
    """Whether a constraint allows a point; an error if its answer can mean anything else."""
    try:
        answer = constraint(point)
    except Exception as error:
        error.add_note(f"The constraint was asked about {point!r}.")
        raise
    if isinstance(answer, bool):
        return answer
    known = _known(answer)
    if known is None:
        raise InvalidData(
            f"A constraint must return True where a point is allowed, and False elsewhere; at "
            f"{point!r} it returned {shorten(answer)}."
        )
    return known


def _known(answer: Any) -> bool | None:
    """A bool of NumPy or JAX, or 0 or 1; None for anything else."""
    try:
        found = np.asarray(answer)
    except (TypeError, ValueError):
        return None
    # Other numbers may say with their sign what Python would take for True.
    one = found.size == 1 and found.dtype.kind in "biu" and found.item() in (0, 1)
    return bool(found.item()) if one else None
