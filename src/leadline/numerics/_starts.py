"""Starts for local searches: good candidates that are not near one another."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

_NEAR = 0.1  # of the unit cube's diagonal


def spread_best(
    points: Float[Any, "m d"], values: Float[Any, "n m"], count: int
) -> Float[Any, "n s d"]:
    """For each row of `values`, the points of its `count` lowest that are not near one another.

    `points` lie in the unit cube. Works on NumPy arrays and in traces.
    """
    xp = np if isinstance(values, np.ndarray) else jnp
    radius = _NEAR * points.shape[1] ** 0.5
    norms = xp.sum(points**2, axis=1)
    chosen = []
    for _ in range(count):
        best = xp.argmin(values, axis=1)
        pick = points[best]
        chosen.append(pick)
        away = norms[best][:, None] + norms - 2.0 * pick @ points.T
        values = xp.where(away < radius**2, xp.inf, values)
    return xp.stack(chosen, axis=1)
