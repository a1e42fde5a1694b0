"""The first points of a question: they fill its space.

They are Sobol points, shifted by the seed, of which those are left out that a constraint refuses or
that were asked before.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, shorten
from leadline.numerics import shifted_sobol
from leadline.search import is_among, unseen
from leadline.spaces import Space

# Points are looked for among so many at first, and then four times as many.
_SIZE, _LONGEST = 64, 4096


def design_size(space: Space, initial: int | None) -> int:
    """How many points fill the space first."""
    return min(max(5, 2 * space.dim), 20) if initial is None else initial


def check_design(initial: Any) -> None:
    """Refuse a design that no method can learn from."""
    whole = isinstance(initial, int | np.integer)
    if initial is not None and not (whole and initial >= 2):
        raise InvalidData(f"initial must be at least 2, a whole number, got {shorten(initial)}.")


def design_row(
    space: Space, gone: Float[np.ndarray, "n columns"], seed: int, key: Array
) -> Float[np.ndarray, " columns"] | None:
    """The first point of the design that is allowed and new; None if the space has no new point.

    Args:
        space: to fill.
        gone: rows that were asked.
        seed: of the design.
        key: of a random point, where the design has none that is new.
    """
    size = _SIZE
    while size <= _LONGEST:
        rows = space.spread(_points(size, space.dim, seed))
        for row in rows[space.allowed(rows)]:
            if not is_among(row, gone):
                return row
        size *= 4
    return unseen(space, gone, key)


@lru_cache(maxsize=8)
def _points(n: int, dim: int, seed: int) -> np.ndarray:
    return shifted_sobol(np.random.default_rng(seed), n, dim)
