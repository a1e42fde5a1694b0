"""Values of an acquisition function at many sets of points, and how many were asked for."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from leadline.numerics import blas_threads_for, bucket, in_pieces, quick_jit
from leadline.search._acquisition import Acquisition

# More sets than this are evaluated in pieces, so that memory does not grow with their number.
PIECE = 2048


class Evaluations:
    """An acquisition function that counts how many sets it has evaluated.

    Attributes:
        acquisition: the function.
        spent: how many sets were evaluated.
    """

    def __init__(self, acquisition: Acquisition, budget: int | None = None):
        self.acquisition = acquisition
        self.spent = 0
        self._budget = math.inf if budget is None else budget

    @property
    def left(self) -> int | float:
        """How many more the budget allows; infinity if there is none."""
        return self._budget - self.spent

    def spend(self, count: int) -> None:
        """Count evaluations that were made elsewhere."""
        self.spent += count

    def values(
        self, sets: Float[np.ndarray, "m q d"], *, padded: bool = True
    ) -> Float[np.ndarray, " m"]:
        """The values of sets, which are counted; see `set_values`."""
        self.spend(len(sets))
        return set_values(self.acquisition, sets, padded=padded)


def set_values(
    acquisition: Acquisition, sets: Float[np.ndarray, "m q d"], *, padded: bool = True
) -> Float[np.ndarray, " m"]:
    """The value of each set, a bounded number of sets at a time.

    Sets are padded to a few sizes, since every number of them is a program of its own. Where it is
    always the same number they need not be. A host acquisition gets them as they are.
    """
    m = len(sets)
    if m == 0:
        return np.zeros(0)
    if not type(acquisition).traceable:
        # User's code: our limit on threads is not for it.
        return in_pieces(
            lambda p: np.asarray(acquisition.values(p), np.float64),
            sets,
            PIECE,
            pad=lambda rows: rows,
        )
    # All pieces are of one size, so that they are one program.
    size = min(bucket(m) if padded else m, PIECE)
    with blas_threads_for(1):
        return in_pieces(lambda p: _values_jit(acquisition, p), sets, size, pad=lambda _: size)


@quick_jit
def _values_jit(acquisition: Acquisition, sets: Any) -> Array:
    return acquisition.values(sets)
