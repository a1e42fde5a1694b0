"""Search where good rows are dense: the best of draws from their density.

A classifier knows little outside of what it has seen, and its log odds may rise without end towards
some wall of the space. A search that climbs them is stuck there in some runs, and asks for nearly
the same row again and again (docs/classification.md measures it). Here only rows compete that are
drawn around rows that have proved good, as widely as those lie apart (`_parzen`).
"""

from __future__ import annotations

import numpy as np

from leadline.numerics import generator
from leadline.search._maximum import Valued
from leadline.search._parzen import parzen
from leadline.search._task import Task


def nearby(task: Task) -> list[Valued]:
    """Sets of rows drawn around those that the task is close to, the oldest first."""
    rng, own = generator(task.key), task.own_sets()
    count = int(task.evaluations.left) - len(own)
    rows = parzen(task.space, task.close_to).draw(rng, count * task.q)
    refused = ~task.space.allowed(rows)
    rows[refused] = task.space.sample(rng, int(refused.sum()))
    sets = np.concatenate([own, rows.reshape(count, task.q, -1)])
    return [(sets, task.evaluations.values(sets))]
