"""CMA-ES: a normal law of points that learns where the good ones are (Hansen 2016).

It needs values only, so it also serves acquisitions that are no JAX program. The strategy itself is
that of the package `cmaes`.
"""

from __future__ import annotations

import numpy as np

from leadline.numerics import generator
from leadline.search._cube import Cube
from leadline.search._maximum import Valued
from leadline.search._task import Task

_SPREAD = 0.2  # of the first law, in sides of the cube


def cmaes(task: Task) -> list[Valued]:
    """Every set of every generation; runs begin at the best of the first sets, one after the other.

    A run that has converged is followed by another, until the budget has no generation left.
    """
    from cmaes import CMA

    cube = Cube(task)
    starts = cube.starts()
    rng = generator(task.key)
    bounds = np.tile([0.0, 1.0], (cube.dim, 1))
    for i in range(len(starts)):
        run = CMA(starts[i], _SPREAD, bounds=bounds, seed=int(rng.integers(2**31)))
        while task.evaluations.left >= run.population_size and not run.should_stop():
            u = np.stack([run.ask() for _ in range(run.population_size)])
            losses = -cube.values(u)
            run.tell(list(zip(u, losses.tolist(), strict=True)))
        if task.evaluations.left < run.population_size:
            break
    return cube.seen()
