"""Where an acquisition function is highest in a space, for one point or several together.

Candidates spread over the space, and some close to the best calls so far, are all evaluated, and a
search goes on from the best of them (`_climb`, `_adam`, `_cmaes`, `_evolution`). Small finite
spaces are tried out. Several points are chosen one after the other, or moved together.

Notation: rows `(q, d)` of the unit cube (see `leadline.spaces`); larger is better.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, as_choice, as_rows
from leadline.numerics import generator, numbered_key
from leadline.search._acquisition import Acquisition
from leadline.search._adam import adam
from leadline.search._climb import climb
from leadline.search._cmaes import cmaes
from leadline.search._evaluations import Evaluations
from leadline.search._evolution import evolution
from leadline.search._greedy import choose_greedily
from leadline.search._listed import best_listed
from leadline.search._maximum import Maximum, Valued, best_of, is_among
from leadline.search._nearby import nearby
from leadline.search._random_search import random_search
from leadline.search._task import ENUMERABLE, Task
from leadline.spaces import Pool, Space

__all__ = ["Maximum", "is_among", "maximize"]

_SEARCHES: dict[str, Callable[[Task], list[Valued]]] = {
    "gradient": climb,
    "adam": adam,
    "cmaes": cmaes,
    "evolution": evolution,
    "nearby": nearby,
    "random": random_search,
}
_WITH_GRADIENTS = ("gradient", "adam")
_BUDGET = 2**12
# A search with fewer evaluations, for each row of a set or at all, is a random one.
_LEAST_EACH, _LEAST = 16, 64
# From a large space whose good rows are all used up, the best of so many random sets is taken.
_ANYTHING = 448


def maximize(
    acquisition: Acquisition,
    space: Space,
    key: Array,
    *,
    q: int = 1,
    batch: str = "greedy",
    search: str = "gradient",
    budget: int | None = None,
    close_to: Float[np.ndarray, "k d"] | None = None,
    avoid: Float[np.ndarray, "n d"] | None = None,
    start: Float[np.ndarray, "q d"] | None = None,
) -> Maximum | None:
    """The rows of the highest acquisition value that repeat no call; None if all do.

    Chosen greedily, each row is the best beside those before it, so the rows for a smaller `q` are
    the first of those for a larger one, if each round has the same budget. If the acquisition is
    `submodular`, they are worth at least 1 - 1/e of the best `q` rows (Wilson 2023, theorem 2.12),
    up to the error of each search. Moved together, rows are worth more where that bound is not
    reached, and the search is harder: it has `q` times as many variables.

    Args:
        acquisition: what rows are worth. Greedy choice needs its ability `after`; otherwise it must
            value sets of `q` rows.
        space: where to look; its constraint holds at the answer.
        key: of all that is random.
        q: how many rows. Of a finite space with fewer new ones, greedy choice gives those.
        batch: "greedy", one row after the other; or "joint", all together.
        search: "gradient", local searches with steps along discrete parameters; "adam", stochastic
            gradients, also for averages over draws; "cmaes", "evolution", "nearby" (draws around
            `close_to`) and "random" need values only, so they also serve acquisitions that are not
            traceable.
        budget: the largest number of evaluations of sets; greedy choice splits it evenly over its
            rounds. If None it is 4096, and the gradient search stops when it has converged.
        close_to: rows worth looking close to, usually the best calls so far; they may be between
            the steps of a number.
        avoid: rows that are not to be found again.
        start: rows that the answer of a joint search is not to be worth less than, such as those of
            a greedy choice.
    """
    as_choice(batch, ("greedy", "joint"), "batch")
    as_choice(search, tuple(_SEARCHES), "search")
    _check(acquisition, search, q, batch, budget, start)
    close_to, avoid = (
        np.zeros((0, space.columns)) if rows is None else rows for rows in (close_to, avoid)
    )
    if not space.continuous.all():
        # Data may be between two steps, and what is looked at may not.
        close_to = np.where(space.continuous, close_to, space.snap(close_to))
    if budget is None and search != "gradient":
        budget = _BUDGET
    if batch == "joint":
        start = None if start is None else as_rows(start, "start", columns=space.columns)
        if space.count <= ENUMERABLE and len(space.every()) < q:
            return None
        task = Task(Evaluations(acquisition, budget), space, key, q, close_to, start)
        return _best_set(task, search, avoid)
    each = None if budget is None else budget // q

    def best_row(now: Acquisition, i: int, avoid: np.ndarray) -> Maximum | None:
        own = numbered_key(key, i + 1) if i else key
        return _best_set(Task(Evaluations(now, each), space, own, 1, close_to), search, avoid)

    return choose_greedily(acquisition, q, avoid, best_row)


def _check(acquisition, search, q, batch, budget, start) -> None:
    if q < 1:
        raise InvalidData(f"q must be at least 1, got {q}.")
    if search in _WITH_GRADIENTS and not type(acquisition).traceable:
        others = ", ".join(repr(name) for name in _SEARCHES if name not in _WITH_GRADIENTS)
        raise Unsupported(
            f"{type(acquisition).__name__} is no JAX program, so it has no gradients, which search "
            f"{search!r} needs. Use one of {others}, or `maximize_pool`."
        )
    least = q if batch == "greedy" else 1 + (start is not None)
    if budget is not None and budget < least:
        raise InvalidData(f"budget must be at least {least} evaluation(s), got {budget}.")
    if start is not None and batch != "joint":
        raise InvalidData("start is for batch='joint': greedy choice has no set to begin with.")
    if start is not None and len(start) != q:
        raise InvalidData(f"start must have q = {q} rows, got {len(start)}.")


def _best_set(task: Task, search: str, avoid: np.ndarray) -> Maximum | None:
    """The best set of `task.q` rows that repeats no call."""
    evaluations, space, q = task.evaluations, task.space, task.q
    if q == 1 and isinstance(space, Pool) and search != "nearby":
        return best_listed(evaluations, space.left(avoid))
    if q == 1 and space.count <= min(ENUMERABLE, evaluations.left):
        rows = space.every()[:, None, :]
        return best_of([(rows, evaluations.values(rows))], avoid, len(rows)) if len(rows) else None
    # Draws need no more than one evaluation.
    if search != "nearby" and evaluations.left < max(_LEAST, _LEAST_EACH * q):
        search = "random"
    tiers = _SEARCHES[search](task)
    found = best_of(tiers, avoid, evaluations.spent)
    return _anything_new(task, avoid) if found is None else found


def _anything_new(task: Task, avoid: np.ndarray) -> Maximum | None:
    """The best of some random sets."""
    count = int(min(_ANYTHING, task.evaluations.left))
    if count < 1:
        return None
    rows = task.space.sample(generator(numbered_key(task.key, 1)), count * task.q)
    sets = rows.reshape(count, task.q, -1)
    values = task.evaluations.values(sets)
    return best_of([(sets, values)], avoid, task.evaluations.spent)
