"""The best rows of a finite pool."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from leadline.boundary import as_rows
from leadline.search._acquisition import Acquisition
from leadline.search._evaluations import Evaluations
from leadline.search._greedy import choose_greedily
from leadline.search._maximum import Maximum, best_of


def maximize_pool(
    acquisition: Acquisition,
    pool: Float[np.ndarray, "n d"],
    *,
    q: int = 1,
    avoid: Float[np.ndarray, "m d"] | None = None,
) -> Maximum | None:
    """The rows of a pool with the highest acquisition values; every row is evaluated.

    More than one are chosen greedily. If the acquisition is `submodular`, they are worth at least
    1 - 1/e of the best `q` rows of the pool (Wilson 2023, theorem 2.12).

    Args:
        acquisition: what rows are worth.
        pool: the rows to choose from.
        q: how many to choose. Fewer are, if the pool has no more; no row is chosen twice.
        avoid: rows that are not to be chosen.
    """
    pool = as_rows(pool, "pool", minimum=0)
    avoid = np.zeros((0, pool.shape[1])) if avoid is None else avoid

    def best_row(now: Acquisition, _: int, avoid: np.ndarray) -> Maximum | None:
        evaluations = Evaluations(now)
        return best_of([(pool[:, None, :], evaluations.values(pool[:, None, :]))], avoid, len(pool))

    return choose_greedily(acquisition, q, avoid, best_row)
