"""What a search is given, and the sets of rows that every search begins with.

Notation: sets `(m, q, d)` of `q` rows each; larger is better.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Float, Int

from leadline.numerics import numbered_key
from leadline.search._candidates import candidates
from leadline.search._evaluations import Evaluations
from leadline.search._proportional import proportional_sets
from leadline.spaces import Space

# Spaces of up to so many points are tried out.
ENUMERABLE = 2048
# A budget is spent on the first sets up to this part; the rest is for the search.
_FIRST_PART = 4
# So many batches are drawn to begin with.
_BATCHES = 64


class Task(NamedTuple):
    """A search for the set of `q` rows that is worth most.

    Attributes:
        evaluations: the acquisition function with its budget.
        space: where to look.
        key: of all that is random.
        q: how many rows a set has.
        close_to: rows worth looking close to.
        start: a set that the answer must not be worse than; None if there is none.
    """

    evaluations: Evaluations
    space: Space
    key: Array
    q: int
    close_to: Float[np.ndarray, "k d"]
    start: Float[np.ndarray, "q d"] | None = None

    @property
    def first_rows(self) -> int | float:
        """How many single rows the budget allows to begin with."""
        return self.evaluations.left / (_FIRST_PART if self.q == 1 else 2 * _FIRST_PART)

    def own_sets(self) -> Float[np.ndarray, "m q d"]:
        """The start as one set, or none."""
        if self.start is None:
            return np.zeros((0, self.q, self.space.columns))
        return self.start[None]

    def candidates(self) -> Float[np.ndarray, "m d"]:
        """Rows to begin with; of a small space, all."""
        if self.space.count <= min(ENUMERABLE, self.first_rows):
            return self.space.every()
        return candidates(self.space, self.key, self.close_to, self.first_rows)


def first_sets(
    task: Task, rows: Float[np.ndarray, "n d"]
) -> tuple[Int[np.ndarray, "m q"], Float[np.ndarray, " m"]]:
    """Sets of candidate rows, as indices, and their values.

    With one row in a set they are the rows themselves. Otherwise sets are drawn in proportion to
    what rows are worth alone, above the one that is worth least.
    """
    evaluations = task.evaluations
    # Judged before the rows take their part.
    batches = min(_BATCHES, evaluations.left / (2 * _FIRST_PART))
    worth = evaluations.values(rows[:, None, :])
    if task.q == 1:
        return np.arange(len(rows))[:, None], worth
    logarithmic = type(evaluations.acquisition).logarithmic
    if not logarithmic:
        worth = worth - np.min(worth, initial=math.inf, where=np.isfinite(worth))
    key = numbered_key(task.key, 1)
    chosen = proportional_sets(worth, task.q, int(batches), key, logarithmic=logarithmic)
    return chosen, evaluations.values(rows[chosen])
