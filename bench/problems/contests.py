"""Problems for methods that classify: the same in every environment.

A point is a row of numbers: of a box its coordinates in the unit cube, of a table option numbers.
Only NumPy is imported here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from bench.problems.functions import FUNCTIONS, LOWEST, rosenbrock
from bench.problems.tables import table


@dataclasses.dataclass(frozen=True)
class Contest:
    """How many inputs there are, how many calls, and how many of them begin at random.

    `function` is of rows of the unit cube; a table has none.
    """

    name: str
    dim: int
    initial: int
    budget: int
    function: Callable[[np.ndarray], np.ndarray] | None = None
    lowest: float = 0.0

    def regret(self, point) -> float:
        """How much above the lowest value a point is."""
        if self.function is None:
            values = table(self.name)
            return values(tuple(point)) - values.lowest
        return float(self.function(np.asarray(point, dtype=np.float64)[None])[0]) - self.lowest


CONTESTS = {
    contest.name: contest
    for contest in (
        Contest("branin", 2, 10, 60, FUNCTIONS["branin"][0], LOWEST["branin"]),
        Contest("hartmann6", 6, 20, 100, FUNCTIONS["hartmann6"][0], LOWEST["hartmann6"]),
        Contest("architecture", 6, 10, 100),
        Contest("network", 7, 10, 100),
        Contest("rosenbrock12", 12, 20, 100, rosenbrock),
    )
}
