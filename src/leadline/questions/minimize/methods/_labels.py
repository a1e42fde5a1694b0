"""Which calls are good ones: the best part of them, by rank.

Labels by rank have as many good calls as they should whatever the values are, and at most one of
them changes when a call is added (Tiao 2023, section 5.3).

Notation: `y (n,)` values, larger is better; `gamma` the part of good calls.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from leadline.boundary import InvalidData, shorten

Part = float | tuple[float, float]
# Rounding must not make one call more a good one.
_ROUNDING = 1e-9


def as_part(gamma: Any) -> Part:
    """A part between 0 and 1, or a pair of them, the first of which is not the smaller."""
    pair = isinstance(gamma, tuple | list) and len(gamma) == 2
    values: tuple[Any, ...] = tuple(gamma) if pair else (gamma,)
    fine = all(isinstance(g, float | int) and 0.0 < g < 1.0 for g in values)
    if not fine or values[0] < values[-1]:
        raise InvalidData(
            "gamma must be a part between 0 and 1, or a pair of them, the larger first, got "
            f"{shorten(gamma)}."
        )
    return (float(values[0]), float(values[1])) if pair else float(values[0])


def plain_part(gamma: Part) -> float | list[float]:
    """A part, or a pair of them, as a JSON value."""
    return list(gamma) if isinstance(gamma, tuple) else gamma


def part_after(gamma: Part, n: int, design: int) -> float:
    """The part of good calls among `n`.

    Of a pair it is the first after the design, and then as many calls stay good, until they are the
    second.
    """
    if not isinstance(gamma, tuple):
        return gamma
    first, last = gamma
    return min(first, max(last, first * design / max(n, 1)))


def good_calls(n: int, gamma: float) -> int:
    """How many of `n` calls are good ones: at least one, and not all."""
    return max(1, min(n - 1, math.ceil(gamma * n - _ROUNDING)))


def among_best(y: Float[np.ndarray, " n"], count: int) -> Bool[np.ndarray, " n"]:
    """Which `count` values are the best; of equal values the earlier is the better one.

    Nothing is sorted: with ten thousand values that would take as long as training a network.
    """
    n = len(y)
    if count >= n:
        return np.ones(n, bool)
    last = np.partition(y, n - count)[n - count]
    best = y > last
    best[np.flatnonzero(y == last)[: count - np.count_nonzero(best)]] = True
    return best


def labels(y: Float[np.ndarray, " n"], gamma: float) -> Float[np.ndarray, " n"]:
    """1 for good calls, 0 for others."""
    return among_best(y, good_calls(len(y), gamma)).astype(np.float64)


def new_or_flipped(
    y: Float[np.ndarray, " n"], gamma: float, known: Bool[np.ndarray, " n"]
) -> Bool[np.ndarray, " n"]:
    """Which labels are not what they were when only the `known` values were there."""
    changed = np.ones(len(y), bool)
    if np.count_nonzero(known) >= 2:
        changed[known] = labels(y, gamma)[known] != labels(y[known], gamma)
    return changed
