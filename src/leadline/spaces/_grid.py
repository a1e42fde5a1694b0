"""Numbers at equal steps, each as it is written: 0.3, and not 0.1 + 0.1 + 0.1.

Ends and steps are taken as the decimals that they are written as, and a number of the grid is the
float nearest to its exact value. Where the steps miss the upper end by a rounding error, either may
be meant, and it is the one that makes simpler numbers: a third, written as a float, leads from 0 to
1 in three steps, and three tenths that were computed as 0.30000000000000004 are 0.3.

Notation: `k` counts steps, from 0 at `low` to `last` at `high`; number `k` is exactly
`(start + k stride) / below`, all three of which are whole.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData

# Up to so many steps a number survives the way to the unit interval and back.
_MOST = 10**12
# What is nearer to the grid than this, in steps, is on it but for rounding.
_ROUNDING = 1e-6
# Whole numbers up to here are exact as floats, and so are their sums.
_EXACT = 2**52


class Grid:
    """The numbers from `low` to `high` at equal steps.

    Attributes:
        low: the first number.
        high: the last number.
        step: from one number to the next.
        last: how many steps there are.
    """

    def __init__(self, low: float, high: float, step: Fraction, kind: str):
        start, stop = exact(low), exact(high)
        count = (stop - start) / step
        if count > _MOST or step < Fraction(math.ulp(max(abs(low), abs(high)))):
            raise InvalidData(
                f"{kind} from {low} to {high} has steps of {float(step)}, too fine for floats."
            )
        self.low, self.last = low, round(count)
        if not self.last or abs(count - self.last) > _ROUNDING:
            below, above = (float(start + k * step) for k in (int(count), int(count) + 1))
            raise InvalidData(
                f"high of {kind} must be a whole number of steps of {float(step)} from low={low}; "
                f"the nearest are {below} and {above}, got {high}."
            )
        reached = start + self.last * step
        if exact(float(reached)) == reached:
            stop = min(stop, reached, key=lambda end: _below(start, (end - start) / self.last))
        step = (stop - start) / self.last
        self.high, self.step = float(stop), float(step)
        self._below = _below(start, step)
        self._start, self._stride = int(start * self._below), int(step * self._below)
        largest = max(abs(self._start), abs(int(stop * self._below)), self._below)
        self._whole: Any = np.float64 if largest < _EXACT else object

    def numbers(self, k: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The numbers after so many steps."""
        k = k if self._whole is np.float64 else k.astype(np.int64).astype(object)
        return ((self._start + k * self._stride) / self._below).astype(np.float64)

    def steps(self, numbers: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """How many steps lead nearest to each number."""
        return np.clip(np.rint((numbers - self.low) / self.step), 0, self.last)

    def find(self, number: float) -> float | None:
        """The number of the grid that this one is, but for rounding; None if there is none."""
        for near in self._around(number):
            if abs(number - near) <= _ROUNDING * self.step:
                return near
        return None

    def around(self, number: float) -> str:
        """The numbers on both sides of one between the ends, in words."""
        return " and ".join(map(repr, self._around(number)))

    def _around(self, number: float) -> list[float]:
        # In this order it holds for NaN too.
        k = min(self.last, max(0.0, (number - self.low) / self.step))
        sides = sorted({math.floor(k), math.ceil(k)})
        return [(self._start + side * self._stride) / self._below for side in sides]


def rounded(end: float, decimals: int, name: str) -> float:
    """An end of a range as it is with so many decimals, or an error that names the nearest ones."""
    scaled = exact(end) * 10**decimals
    if abs(scaled - round(scaled)) > _ROUNDING:
        sides = math.floor(scaled), math.ceil(scaled)
        below, above = (float(Fraction(side, 10**decimals)) for side in sides)
        raise InvalidData(
            f"{name} must be a number with decimals={decimals}; the nearest are {below} and "
            f"{above}, got {end}."
        )
    return float(Fraction(round(scaled), 10**decimals))


def _below(start: Fraction, step: Fraction) -> int:
    """The common denominator of the numbers that steps lead to."""
    return math.lcm(start.denominator, step.denominator)


def are_aligned(one: float, other: float, step: float) -> bool:
    """Whether a whole number of steps leads from one number to another."""
    count = (exact(other) - exact(one)) / exact(step)
    return abs(count - round(count)) <= _ROUNDING


def exact(number: float) -> Fraction:
    """A number as the decimal that it is written as."""
    return Fraction(Decimal(repr(number)))
