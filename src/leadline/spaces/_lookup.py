"""Rows by their content: which of many rows another one is, and which are nearest to it.

A row's number is found by a hash of its bits, so that to find one does not mean to look at all.

Notation: `n` rows of `d` columns; `m` queries.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt64

_ROUNDS = 8


class Lookup:
    """Finds rows among given ones.

    Attributes:
        rows: the rows.
        twins: two rows that are the same, by their numbers; None if all differ.
    """

    def __init__(self, rows: Float[np.ndarray, "n d"]):
        self.rows = rows
        self.twins: tuple[int, int] | None = None
        for self._seed in range(_ROUNDS):
            found = _hashes(rows, self._seed)
            self._order = np.argsort(found, kind="stable")
            self._hashes = found[self._order]
            same = np.flatnonzero(self._hashes[1:] == self._hashes[:-1])
            one, other = self._order[same], self._order[same + 1]
            equal = np.flatnonzero(np.all(rows[one] == rows[other], axis=1))
            if len(equal):
                first = np.lexsort((one[equal], other[equal]))[0]
                self.twins = int(one[equal][first]), int(other[equal][first])
            if self.twins is not None or not len(same):
                return

    def find(self, queries: Float[np.ndarray, "m d"]) -> Int[np.ndarray, " m"]:
        """The number of each query among the rows; -1 if it is none of them."""
        places = np.searchsorted(self._hashes, _hashes(queries, self._seed))
        numbers = self._order[np.minimum(places, len(self._order) - 1)]
        there = np.all(self.rows[numbers] == queries, axis=1)
        return np.where(there, numbers, -1)

    def nearest(self, queries: Float[np.ndarray, "m d"]) -> Int[np.ndarray, " m"]:
        """The number of the row nearest to each query; of equally near ones any."""
        numbers = self.find(queries)
        missing = numbers < 0
        if missing.any():
            numbers[missing] = self._tree.query(queries[missing])[1]
        return numbers

    def around(self, query: Float[np.ndarray, " d"], k: int) -> Int[np.ndarray, " k"]:
        """The numbers of the `k` rows nearest to a query, the nearest first."""
        return np.atleast_1d(self._tree.query(query, k=k)[1])

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import KDTree

        return KDTree(self.rows)


def _hashes(rows: np.ndarray, seed: int) -> UInt64[np.ndarray, " n"]:
    # Zero has two signs, and adding it makes one of them.
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)
    odd = np.random.default_rng(seed).integers(2**63, size=bits.shape[1], dtype=np.uint64) | 1
    # High bits of a product depend on all bits of its factors, low ones on low bits only.
    mixed = (bits ^ (bits >> np.uint64(29))) * odd
    mixed ^= mixed >> np.uint64(32)
    return (mixed * odd[::-1]).sum(axis=1, dtype=np.uint64)
