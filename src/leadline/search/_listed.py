"""Search of a list: the best of all its rows.

Notation: rows `(n, d)`; larger is better.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from leadline.search._evaluations import Evaluations
from leadline.search._maximum import Maximum


def best_listed(evaluations: Evaluations, rows: Float[np.ndarray, "n d"]) -> Maximum | None:
    """The row of the highest value; None if there is no row.

    Every row is evaluated, whatever the budget: it is for searches that guess.
    """
    if not len(rows):
        return None
    values = evaluations.values(rows[:, None, :])
    best = int(np.argmax(values))
    return Maximum(rows[best][None], float(values[best]), len(rows))
