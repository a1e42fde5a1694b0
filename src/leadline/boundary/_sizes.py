"""How large and how small numbers may be whose squares are taken.

Variances are squares of values, and distances have squares of inputs in them. A double is between
1e-308 and 1e308; what models multiply squares by, and divide them by, needs some of that room.
"""

from __future__ import annotations

import numpy as np

from leadline.boundary._errors import InvalidData

LARGEST, SMALLEST = 1e140, 1e-140
LARGEST_VARIANCE, SMALLEST_VARIANCE = 1e295, 1e-295
_FURTHEST = 300


def require_size(a: np.ndarray, name: str) -> None:
    """Refuse values that are too large to be squared."""
    size = float(np.max(np.abs(a), initial=0.0))
    if size > LARGEST:
        raise InvalidData(
            f"{name} must be at most {LARGEST:g} in size, because models square it, got values of "
            f"{size:.3g}. Multiply {name} by {_factor(size)}."
        )


def require_spread(a: np.ndarray, name: str) -> None:
    """Refuse values whose differences are too small to be squared; constants are none."""
    spread = float(np.ptp(a)) if a.size else 0.0
    if 0.0 < spread < SMALLEST:
        raise InvalidData(
            f"{name} must differ by at least {SMALLEST:g}, because models square differences, or "
            f"be constant, got a spread of {spread:.3g}. Multiply {name} by {_factor(spread)}."
        )


def _factor(size: float) -> str:
    """The power of ten that brings a size near 1, if it is a number itself."""
    exponent = -int(np.floor(np.log10(size)))
    return f"1e{max(-_FURTHEST, min(exponent, _FURTHEST))}"
