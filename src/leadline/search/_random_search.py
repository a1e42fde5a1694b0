"""Random search: the best of many random sets."""

from __future__ import annotations

import numpy as np

from leadline.numerics import generator
from leadline.search._maximum import Valued
from leadline.search._task import Task


def random_search(task: Task) -> list[Valued]:
    """Evaluate random sets until the budget is spent."""
    sets = task.own_sets()
    count = int(task.evaluations.left) - len(sets)
    rows = task.space.sample(generator(task.key), count * task.q)
    sets = np.concatenate([sets, rows.reshape(count, task.q, -1)])
    return [(sets, task.evaluations.values(sets))]
