"""Rows where a search first looks: spread over the space, and close to rows worth looking at.

Notation: rows `(m, d)` of the unit cube (see `leadline.spaces`).
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Array, Float

from leadline.numerics import generator, shifted_sobol
from leadline.spaces import Space

# Where some parameters have no gradient to follow, more candidates take its place.
_CANDIDATES, _MIXED_CANDIDATES, _CLOSE = 448, 1984, 64
_CLOSE_STEPS = (0.1, 0.03, 0.01, 0.003)  # of the cube's side


def candidates(
    space: Space, key: Array, close_to: Float[np.ndarray, "k d"], limit: int | float = math.inf
) -> Float[np.ndarray, "m d"]:
    """Rows that fill the space, then rows close to known ones; always the same number.

    Args:
        space: which rows there are; its constraint holds at all of them.
        key: of the rows.
        close_to: the known rows.
        limit: the largest number of rows.
    """
    rng = generator(key)
    n, near = _CANDIDATES if space.continuous.all() else _MIXED_CANDIDATES, _CLOSE
    if limit < n + near:
        near = int(limit) // 8
        n = int(limit) - near
    rows = space.spread(shifted_sobol(rng, n, space.dim))
    if len(close_to):
        steps = np.resize(_CLOSE_STEPS, near)[:, None] * rng.normal(size=(near, space.columns))
        centers = close_to[np.arange(near) // len(_CLOSE_STEPS) % len(close_to)]
        moved = space.continuous & space.active(centers)
        close = np.clip(centers + steps * moved, 0.0, 1.0)
    else:
        close = space.sample(rng, near)
    rows = np.concatenate([rows, close])
    refused = ~space.allowed(rows)
    rows[refused] = space.sample(rng, int(refused.sum()))
    return rows
