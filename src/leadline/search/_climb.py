"""The gradient search: many local searches at once, and steps along discrete parameters.

From the best of the first sets that are not near one another local searches move the real
parameters of all rows, all at once in one program. Numbers with steps, ordinals and choices are
searched in their own terms: the rows that differ in one of them are compared, for each row of a set
in turn, and the search moves where that helps.

Notation: sets `(m, q, d)` of `q` rows each, `r` searches; larger is better.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from leadline.numerics import blas_threads_for, minimize_together, pad_rows, quick_jit, spread_best
from leadline.search._acquisition import Acquisition
from leadline.search._maximum import Valued
from leadline.search._task import Task, first_sets
from leadline.spaces import Space

SEARCHES = 10
# Evaluations of one search: of a single row, and of a set, which has more to move.
_EVALUATIONS, _SET_EVALUATIONS = 100, 200
# With a budget, there are only as many searches as can have so many evaluations each.
_LEAST = 20
_TOLERANCE = 1e-4  # nats of a logarithmic acquisition, a part of the highest value of others
_WALKS = 4


def climb(task: Task) -> list[Valued]:
    """Sets at the end of local searches, then those that the searches began with."""
    rows = task.candidates()
    chosen, worth = first_sets(task, rows)
    sets = rows[chosen]
    starts, (own, value) = starting_sets(task, sets, worth)
    found, values = _climb(task, starts)
    if not task.space.continuous.all():
        found, values = _walk(task, found, values)
    return [(np.concatenate([found, own]), np.concatenate([values, value])), (sets, worth)]


def starting_sets(
    task: Task, sets: Float[np.ndarray, "m q d"], worth: Float[np.ndarray, " m"]
) -> tuple[Float[np.ndarray, "r q d"], Valued]:
    """The best sets that are not near one another, after the task's own start if it has one.

    The second part is that start, as one or no set, and its value.
    """
    own = task.own_sets()
    valued = own, task.evaluations.values(own)
    count = int(max(1, min(SEARCHES, task.evaluations.left / _LEAST)))
    flat = sets.reshape(len(sets), -1)
    starts = spread_best(flat, -worth[None], count)[0].reshape(count, *sets.shape[1:])
    return np.concatenate([own, starts])[:count], valued


def free_columns(space: Space, sets: Float[np.ndarray, "m q d"]) -> Bool[np.ndarray, "m q d"]:
    """The columns that belong to real parameters that exist."""
    active = space.active(sets.reshape(-1, sets.shape[2])).reshape(sets.shape)
    return space.continuous & active


def pull_back(
    space: Space, inside: Float[np.ndarray, "m q d"], ends: Float[np.ndarray, "m q d"]
) -> tuple[Float[np.ndarray, "m q d"], Bool[np.ndarray, " m"]]:
    """Sets whose rows are all allowed, and which of them that has changed.

    A row that is not is replaced by the last allowed one on the way from where it began, by
    bisection.
    """
    if space.constraint is None:
        return ends, np.zeros(len(ends), bool)
    rows, first = ends.reshape(-1, ends.shape[2]), inside.reshape(-1, ends.shape[2])
    broken = ~space.allowed(rows)
    if broken.any():
        rows = rows.copy()
        rows[broken] = _last_allowed(space, first[broken], rows[broken])
    return rows.reshape(ends.shape), np.any(broken.reshape(ends.shape[:2]), axis=1)


def _climb(task: Task, starts: np.ndarray) -> Valued:
    """Local maxima over the real parameters, and their values."""
    space, evaluations, n = task.space, task.evaluations, len(starts)
    if not space.continuous.any():
        return starts, evaluations.values(starts)
    limit = _EVALUATIONS if task.q == 1 else _SET_EVALUATIONS
    # Steps along discrete parameters need evaluations too, and so does a set that is pulled back.
    share = evaluations.left if space.continuous.all() else evaluations.left / 2
    limit = int(min(limit, share / n - 1))
    # Always as many lanes: a program for each number of them would be compiled.
    lanes = pad_rows(starts, SEARCHES)
    free = free_columns(space, lanes).astype(np.float64)
    with blas_threads_for(1):
        found = jax.device_get(_climb_jit(evaluations.acquisition, lanes, free, np.asarray(limit)))
    sets, values, counts = (part[:n] for part in found)
    evaluations.spend(int(counts.sum()))
    sets, broken = pull_back(space, starts, sets)
    if broken.any():
        values = values.copy()
        values[broken] = evaluations.values(sets[broken])
    return sets, values


def _last_allowed(space: Space, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The last allowed row on the way from each allowed row to one that is not, by bisection."""
    low, high = np.zeros(len(inside)), np.ones(len(inside))
    for _ in range(20):
        middle = 0.5 * (low + high)
        ok = space.allowed(inside + middle[:, None] * (outside - inside))
        low, high = np.where(ok, middle, low), np.where(ok, high, middle)
    return inside + low[:, None] * (outside - inside)


def _walk(task: Task, sets: np.ndarray, values: np.ndarray) -> Valued:
    """Move along the discrete parameters for as long as that helps; every set on the way."""
    all_sets, all_values = sets, values
    for _ in range(_WALKS):
        moved = np.zeros(len(sets), bool)
        for j in range(task.q):
            sets, values, better = _step(task, sets, values, j)
            moved |= better
        if not moved.any():
            break
        sets, values = sets[moved], values[moved]
        if task.evaluations.left >= _LEAST * len(sets):
            sets, values = _climb(task, sets)
        all_sets, all_values = np.concatenate([all_sets, sets]), np.append(all_values, values)
    return all_sets, all_values


def _step(task: Task, sets: np.ndarray, values: np.ndarray, j: int):
    """Replace row `j` of each set by its best neighbor, where one is better; and where that is."""
    moves = []
    for rows in sets:
        neighbors = task.space.neighbors(rows[j])
        moves.append(np.repeat(rows[None], len(neighbors), axis=0))
        moves[-1][:, j] = neighbors
    together = np.concatenate(moves)
    better = np.zeros(len(sets), bool)
    if len(together) > task.evaluations.left:
        return sets, values, better
    worth = task.evaluations.values(together)
    ends = np.cumsum([len(m) for m in moves])
    sets, values = sets.copy(), values.copy()
    for i, (move, gain) in enumerate(zip(moves, np.split(worth, ends[:-1]), strict=True)):
        if len(move) and gain.max() > values[i]:
            best = np.argmax(gain)
            sets[i], values[i], better[i] = move[best], gain[best], True
    return sets, values, better


@quick_jit
def _climb_jit(
    acquisition: Acquisition, starts: Any, free: Any, limit: Any
) -> tuple[Array, Array, Array]:
    """Climb from each start along its free columns."""
    r, shape = starts.shape[0], starts.shape

    def loss(u, args):
        acquisition, scale = args
        return -acquisition.values(u.reshape(shape)) / scale

    if type(acquisition).logarithmic:
        scale = jnp.asarray(1.0)
    else:
        scale = jnp.maximum(jnp.max(jnp.abs(acquisition.values(starts))), 1e-300)
    found = minimize_together(
        loss,
        (acquisition, scale),
        starts.reshape(r, -1),
        jnp.where(free > 0, 0.0, starts).reshape(r, -1),
        jnp.where(free > 0, 1.0, starts).reshape(r, -1),
        tolerance=_TOLERANCE,
        max_evaluations=limit,
    )
    return found.u.reshape(shape), -found.value * scale, found.evaluations
