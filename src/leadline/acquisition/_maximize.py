"""Where an acquisition function is highest in a space.

Candidates spread over the space, and some close to the best calls so far, are all evaluated; from
the best that are not near one another local searches move the real parameters, all at once in one
program. Integers, ordinals and choices are searched in their own terms: the rows that differ in one
of them are compared, and the search moves where that helps. Small finite spaces are tried out.

Notation: rows `(m, d)` of the unit cube (see `leadline.spaces`), `r` searches; larger is better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.acquisition._acquisition import Acquisition
from leadline.numerics import (
    blas_threads_for,
    bucket,
    generator,
    minimize_together,
    pad_rows,
    quick_jit,
    shifted_sobol,
    spread_best,
)
from leadline.spaces import Space

# Where some parameters have no gradient to follow, more candidates take its place.
_CANDIDATES, _MIXED_CANDIDATES, _CLOSE = 448, 1984, 64
_CLOSE_STEPS = (0.1, 0.03, 0.01, 0.003)  # of the cube's side
_SEARCHES, _EVALUATIONS = 10, 100
_TOLERANCE = 1e-4  # nats of a logarithmic acquisition, a part of the highest value of others
_ENUMERABLE = 2048
_WALKS = 4
# Rows that differ less than this in every column are the same call.
_SAME = 1e-7


class Maximum(NamedTuple):
    """The best row found and its value."""

    row: Float[np.ndarray, " d"]
    value: float


def maximize(
    acquisition: Acquisition,
    space: Space,
    key: Array,
    *,
    close_to: Float[np.ndarray, "k d"],
    avoid: Float[np.ndarray, "n d"],
) -> Maximum | None:
    """The row of the highest acquisition value that is none of `avoid`; None if all are.

    Args:
        acquisition: of one point.
        space: where to look; its constraint holds at the answer.
        key: of the candidates.
        close_to: rows worth looking close to, usually the best calls so far.
        avoid: rows that are not to be found again.
    """
    if space.count <= _ENUMERABLE:
        rows = space.every()
        return _best(rows, _values(acquisition, rows), avoid) if len(rows) else None
    pool = _candidates(space, key, close_to)
    worth = _values(acquisition, pool)
    starts = spread_best(pool, -worth[None], _SEARCHES)[0]
    rows, values = _climb(acquisition, space, starts)
    if not space.continuous.all():
        rows, values = _walk(acquisition, space, rows, values)
    found = _best(rows, values, avoid)
    found = _best(pool, worth, avoid) if found is None else found
    return _anything_new(acquisition, space, key, avoid) if found is None else found


def _candidates(space: Space, key: Array, close_to: np.ndarray) -> np.ndarray:
    """Rows that fill the space, then rows close to known ones; always the same number."""
    rng = generator(key)
    n = _CANDIDATES if space.continuous.all() else _MIXED_CANDIDATES
    rows = space.spread(shifted_sobol(rng, n, space.dim))
    if len(close_to):
        steps = np.resize(_CLOSE_STEPS, _CLOSE)[:, None] * rng.normal(size=(_CLOSE, space.columns))
        centers = close_to[np.arange(_CLOSE) // len(_CLOSE_STEPS) % len(close_to)]
        moved = space.continuous & space.active(centers)
        close = np.clip(centers + steps * moved, 0.0, 1.0)
    else:
        close = space.sample(rng, _CLOSE)
    rows = np.concatenate([rows, close])
    refused = ~space.allowed(rows)
    rows[refused] = space.sample(rng, int(refused.sum()))
    return rows


def _climb(
    acquisition: Acquisition, space: Space, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Local maxima over the real parameters, and their values."""
    if not space.continuous.any():
        return starts, _values(acquisition, starts)
    # Always as many lanes: a program for each number of them would be compiled.
    lanes = pad_rows(starts, _SEARCHES)
    free = space.continuous & space.active(lanes)
    with blas_threads_for(1):
        rows, values = jax.device_get(_climb_jit(acquisition, lanes, free.astype(np.float64)))
    rows, values = rows[: len(starts)], values[: len(starts)]
    broken = ~space.allowed(rows)
    if broken.any():
        rows, values = rows.copy(), values.copy()
        rows[broken] = _pulled_back(space, starts[broken], rows[broken])
        values[broken] = _values(acquisition, rows[broken])
    return rows, values


def _pulled_back(space: Space, inside: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """The last allowed row on the way from each allowed row to one that is not, by bisection."""
    low, high = np.zeros(len(inside)), np.ones(len(inside))
    for _ in range(20):
        middle = 0.5 * (low + high)
        ok = space.allowed(inside + middle[:, None] * (outside - inside))
        low, high = np.where(ok, middle, low), np.where(ok, high, middle)
    return inside + low[:, None] * (outside - inside)


def _walk(
    acquisition: Acquisition, space: Space, rows: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Move along the discrete parameters for as long as that helps; every row on the way."""
    all_rows, all_values = rows, values
    for _ in range(_WALKS):
        moves = [space.neighbors(row) for row in rows]
        worth = _values(acquisition, np.concatenate(moves))
        ends = np.cumsum([len(m) for m in moves])
        better = []
        for move, gain, value in zip(moves, np.split(worth, ends[:-1]), values, strict=True):
            if len(move) and gain.max() > value:
                better.append(move[np.argmax(gain)])
        if not better:
            break
        rows, values = _climb(acquisition, space, np.stack(better))
        all_rows, all_values = np.concatenate([all_rows, rows]), np.append(all_values, values)
    return all_rows, all_values


def _best(rows: np.ndarray, values: np.ndarray, avoid: np.ndarray) -> Maximum | None:
    for i in np.argsort(-values, kind="stable"):
        if not is_among(rows[i], avoid):
            return Maximum(rows[i], float(values[i]))
    return None


def is_among(row: np.ndarray, rows: np.ndarray) -> bool:
    """Whether a call at `row` would repeat one of `rows`."""
    return bool(len(rows)) and bool(np.any(np.all(np.abs(rows - row) < _SAME, axis=1)))


def _anything_new(acquisition: Acquisition, space: Space, key: Array, avoid: np.ndarray):
    """The best of some random rows, from a large space whose good rows are all used up."""
    rows = space.sample(generator(jax.random.fold_in(key, 1)), _CANDIDATES)
    return _best(rows, _values(acquisition, rows), avoid)


def _values(acquisition: Acquisition, rows: np.ndarray) -> np.ndarray:
    m = len(rows)
    padded = pad_rows(rows, bucket(m))
    with blas_threads_for(1):
        return np.asarray(jax.device_get(_values_jit(acquisition, padded)))[:m]


@quick_jit
def _values_jit(acquisition: Acquisition, rows: Any) -> Array:
    return acquisition.values(rows[:, None, :])


@quick_jit
def _climb_jit(acquisition: Acquisition, starts: Any, free: Any) -> tuple[Array, Array]:
    """Climb from each start along its free columns."""

    def loss(rows, args):
        acquisition, scale = args
        return -acquisition.values(rows[:, None, :]) / scale

    if type(acquisition).logarithmic:
        scale = jnp.asarray(1.0)
    else:
        scale = jnp.maximum(jnp.max(jnp.abs(acquisition.values(starts[:, None, :]))), 1e-300)
    found = minimize_together(
        loss,
        (acquisition, scale),
        starts,
        jnp.where(free > 0, 0.0, starts),
        jnp.where(free > 0, 1.0, starts),
        tolerance=_TOLERANCE,
        max_evaluations=_EVALUATIONS,
    )
    return found.u, -found.value * scale
