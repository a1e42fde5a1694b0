"""A random row that was not called before."""

from __future__ import annotations

import numpy as np
from jaxtyping import Array, Float

from leadline.numerics import generator
from leadline.search._maximum import is_among
from leadline.spaces import Pool, Space

# A space with so many points for each one that is gone hardly ever needs a third draw.
_ROOMY, _DRAWS = 8, 64


def unseen(
    space: Space, rows: Float[np.ndarray, "n d"], key: Array
) -> Float[np.ndarray, " d"] | None:
    """A random row that is none of `rows`; None if there is no other."""
    rng = generator(key)
    if isinstance(space, Pool):
        left = space.left(rows)
        return left[rng.integers(len(left))] if len(left) else None
    if space.count > _ROOMY * len(rows):
        for _ in range(_DRAWS):
            row = space.sample(rng, 1)[0]
            if not is_among(row, rows):
                return row
    if not np.isfinite(space.count):
        return None
    left = [row for row in space.every() if not is_among(row, rows)]
    return left[rng.integers(len(left))] if left else None
