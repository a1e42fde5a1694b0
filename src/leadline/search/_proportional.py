"""Starts of searches for batches: points drawn in proportion to what each is worth alone.

A point adds no more to a set than it is worth alone, where the acquisition is submodular, so points
that are worth nothing are no start. A batch is drawn without replacement, with probabilities in
proportion to the values (Wilson 2023, section 2.5): adding independent Gumbel noise to the
logarithms of the values and taking the largest sums does just that (Yellott 1977, Vieira 2014).

Notation: `n` points with values `v`; larger is better.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Array, Float, Int

from leadline.boundary import InvalidData
from leadline.numerics import generator

# Gumbel noise differs by less: a point that is this far behind in nats is never drawn first.
_HOPELESS = 1e3


def proportional_starts(
    values: Float[np.ndarray, " n"], count: int, key: Array, *, logarithmic: bool = False
) -> Int[np.ndarray, " count"]:
    """Draw `count` of `n` points without replacement, in proportion to their values.

    Points that are worth 0 are drawn, evenly, only after all others. If some values are negative,
    what a point is worth is how much its value exceeds the least one.

    Args:
        values: what each point is worth alone.
        count: how many to draw.
        key: of the draw.
        logarithmic: whether `values` are logarithms.
    """
    return proportional_sets(values, count, 1, key, logarithmic=logarithmic)[0]


def proportional_sets(
    values: Float[np.ndarray, " n"],
    count: int,
    sets: int,
    key: Array,
    *,
    logarithmic: bool = False,
) -> Int[np.ndarray, "sets count"]:
    """Many draws as `proportional_starts` makes them, independent of one another."""
    n = len(values)
    if not 0 < count <= n:
        raise InvalidData(f"count must be from 1 to {n}, the number of values, got {count}.")
    logs = _logarithms(values, logarithmic)
    noise = generator(key).gumbel(size=(sets, n))
    return np.argsort(-(logs + noise), axis=1, kind="stable")[:, :count]


def _logarithms(values: np.ndarray, logarithmic: bool) -> np.ndarray:
    """Finite logarithms; a value of 0 has one that is far below all others."""
    if not logarithmic:
        least = np.min(values, initial=0.0, where=np.isfinite(values))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = np.log(values - least)
    finite = np.isfinite(values)
    least = np.min(values, initial=np.inf, where=finite)
    return np.where(finite, values, least - _HOPELESS if finite.any() else 0.0)
