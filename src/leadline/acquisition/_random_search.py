"""Random search: the best of many random sets."""

from __future__ import annotations

import numpy as np

from leadline.acquisition._maximum import Valued
from leadline.acquisition._task import Task
from leadline.numerics import generator


def random_search(task: Task) -> list[Valued]:
    """Evaluate random sets until the budget is spent."""
    sets = task.own_sets()
    count = int(task.evaluations.left) - len(sets)
    rows = task.space.sample(generator(task.key), count * task.q)
    sets = np.concatenate([sets, rows.reshape(count, task.q, -1)])
    return [(sets, task.evaluations.values(sets))]
