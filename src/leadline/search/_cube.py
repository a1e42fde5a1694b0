"""Sets of rows as points of a cube, for searches that know numbers only.

A point has one coordinate for each parameter of each row of a set. Values of a parameter take equal
slices of its coordinate (`Space.spread`), so every point is a set of legal rows: nothing is rounded
after a search, which would repeat calls.

Notation: points `u (m, q p)` for `p` parameters, sets `(m, q, d)`; larger is better.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData
from leadline.numerics import generator, shifted_sobol
from leadline.search._maximum import Valued
from leadline.search._task import Task, first_sets

_CANDIDATES = 512
# A candidate that the constraint refuses is replaced so many times at most.
_TRIES = 1000


class Cube:
    """A search's task on the cube, which remembers what was evaluated.

    Attributes:
        task: the search.
        dim: how many coordinates there are.
    """

    def __init__(self, task: Task):
        self.task = task
        self.dim = task.q * task.space.dim
        own = task.own_sets()
        self._seen: list[Valued] = [(own, task.evaluations.values(own))]

    def values(self, u: Float[np.ndarray, "m c"]) -> Float[np.ndarray, " m"]:
        """The values of points; -inf where a row is not allowed, or a value is not a number.

        There must always be as many points: each number of them is a program of its own.
        """
        space = self.task.space
        rows = space.spread(u.reshape(-1, space.dim))
        sets = rows.reshape(len(u), self.task.q, -1)
        allowed = space.allowed(rows).reshape(len(u), -1).all(axis=1)
        values = self.task.evaluations.values(sets, padded=False)
        self._seen.append((sets[allowed], values[allowed]))
        return np.where(allowed & ~np.isnan(values), values, -np.inf)

    def seen(self) -> list[Valued]:
        """The allowed sets that were evaluated, and their values."""
        sets, values = zip(*self._seen, strict=True)
        return [(np.concatenate(sets), np.concatenate(values))]

    def starts(self) -> Float[np.ndarray, "m c"]:
        """Points to begin with, the best first; before them the task's own start, if it is one."""
        task, space = self.task, self.task.space
        u = self._candidates(int(min(_CANDIDATES, task.first_rows)))
        rows = space.spread(u)
        chosen, worth = first_sets(task, rows)
        self._seen.append((rows[chosen], worth))
        points = u[chosen].reshape(len(chosen), -1)[np.argsort(-worth, kind="stable")]
        if task.start is None or not (space.dim == space.columns and space.continuous.all()):
            return points
        # Rows and coordinates of real numbers are the same.
        return np.concatenate([task.start.reshape(1, -1), points])

    def _candidates(self, n: int) -> np.ndarray:
        """Points `(n, p)` of single rows that are allowed."""
        space, rng = self.task.space, generator(self.task.key)
        u = shifted_sobol(rng, n, space.dim)
        refused = np.flatnonzero(~space.allowed(space.spread(u)))
        for _ in range(_TRIES):
            if not len(refused):
                return u
            u[refused] = rng.random((len(refused), space.dim))
            refused = refused[~space.allowed(space.spread(u[refused]))]
        u = np.delete(u, refused, axis=0)
        if len(u) < self.task.q:
            raise InvalidData(
                f"The constraint leaves hardly any point: {len(u)} of {n * _TRIES} random points "
                f"satisfy it."
            )
        return u
