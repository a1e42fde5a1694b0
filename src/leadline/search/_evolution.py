"""Differential evolution (Storn and Price 1997), by SciPy.

It needs values only, so it also serves acquisitions that are no JAX program.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.numerics import generator
from leadline.search._cube import Cube
from leadline.search._maximum import Valued
from leadline.search._task import Task

# The population has so many members for each coordinate, if there are so many generations.
_MEMBERS, _GENERATIONS = 15, 16
_FEWEST = 5  # that SciPy accepts


def evolution(task: Task) -> list[Valued]:
    """Every set of every generation; half of the first one are the best of the first sets."""
    from scipy.optimize import differential_evolution

    cube = Cube(task)
    starts = cube.starts()
    left = int(task.evaluations.left)
    members = max(_FEWEST, min(_MEMBERS * cube.dim, left // _GENERATIONS))
    rng = generator(task.key)
    starts = starts[: members // 2]
    others = rng.random((members - len(starts), cube.dim))
    first: Any = np.concatenate([starts, others])
    differential_evolution(
        lambda u: -cube.values(np.ascontiguousarray(u.T)),
        [(0.0, 1.0)] * cube.dim,
        init=first,
        # The first generation is none of these.
        maxiter=left // members - 1,
        rng=rng,
        vectorized=True,
        updating="deferred",
        polish=False,
        tol=0.0,
    )
    return cube.seen()
