"""Values as models see them.

Values are bent before they are modeled. Of an objective the better half stays as it is, and of the
worse half only the order counts (Song et al. 2024): a few terrible values would otherwise set the
scale on which the good ones are compared. Where even the better half is of many orders of
magnitude, as a likelihood is, the logarithm is modeled: beside the best nearly all values look like
zero, and zeros say nothing about where it goes up. Of a constraint the logarithm of its size
counts, with its sign (Eriksson and Poloczek 2021): what matters is where it is 0.

Models square what they are given. So values whose squares are no numbers are multiplied by a power
of two, and what large values have in common is taken away from them; nearly all values need neither
and stay the same to the bit.

Notation: `y (n,)` values, larger is better.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float

# The best of positive values is that many times their median where logarithms are modeled. Over
# calls of the usual test functions that have values of one sign it came to 41.
_ORDERS = 1e3
# What values have in common is taken away where it is that many times as large as they differ.
_COMMON = 1e6
# Values are multiplied by a power of 2^512: those between 1e-77 and 1e77 by 1.
_STEP = 512
# A value that is larger than this beside the others counts as this: its square must be a number.
_LARGEST = 1e100
_END = float(np.finfo(np.float64).max)


class Units(NamedTuple):
    """What models see of a value: it, or its logarithm, less the origin, over 2^exponent."""

    origin: float = 0.0
    exponent: int = 0
    logarithmic: bool = False

    @classmethod
    def of(cls, y: Float[np.ndarray, " n"], counted: Bool[np.ndarray, " n"]) -> Units:
        """The units that suit values: nearly always those that they have.

        They are chosen by the better half of the values that are `counted`.
        """
        counted = counted if counted.any() else np.ones(len(y), bool)
        better, first = y[counted & (y >= np.median(y[counted]))], y[counted][0]
        with np.errstate(over="ignore"):
            apart = np.max(np.abs(better - first))
        origin = float(first) if 0.0 < apart < abs(first) / _COMMON else 0.0
        # A quarter of the difference of two numbers is a number.
        size = np.max(np.abs(0.25 * better - 0.25 * origin))
        return cls(origin, _STEP * round(float(np.frexp(size)[1] + 2) / _STEP) if size > 0 else 0)

    @classmethod
    def in_state(cls, state: Mapping[str, np.ndarray]) -> Units:
        """The units in which the hyper-parameters of a state are."""
        if "exponent" not in state:
            return cls()
        origin, exponent, logarithmic = (state[name].item() for name in cls._fields)
        return cls(float(origin), int(exponent), bool(logarithmic))

    def state(self) -> dict[str, np.ndarray]:
        """What to keep with hyper-parameters; nothing for values as they are."""
        return {} if self == Units() else {k: np.asarray(v) for k, v in self._asdict().items()}

    def carried(self, state: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
        """The hyper-parameters of a state, or none if they are in other units."""
        if Units.in_state(state) != self:
            return {}
        return {k: v for k, v in state.items() if k not in self._fields}

    def seen(self, y: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """What models see of values."""
        if self.logarithmic:
            with np.errstate(divide="ignore"):
                return np.log(np.maximum(y, 0.0))
        return np.clip(self.over(y - self.origin), -_LARGEST, _LARGEST)

    def over(self, size: Any, power: int = 1) -> Any:
        """Differences of values as models see them; with `power` 2 variances."""
        if not self.exponent:
            return size
        with np.errstate(over="ignore"):
            return np.ldexp(size, -power * self.exponent)

    def times(self, size: Any) -> Any:
        """Differences that models see as differences of values, which are numbers."""
        if not self.exponent:
            return size
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(size, self.exponent), -_END, _END)

    def deviation(self, variance: Any, value: float) -> float:
        """The standard deviation around a value, of a variance as models see it."""
        deviation = float(np.sqrt(variance))
        return abs(value) * deviation if self.logarithmic else float(self.times(deviation))

    def value(self, seen: Any) -> Any:
        """The value that models see as this, which is a number."""
        if self.logarithmic:
            return np.exp(np.minimum(seen, np.log(_END)))
        return self.times(seen) + self.origin

    def noise(self, variance: float | None) -> float | None:
        """The variance of noise that is known; None if it is not, or not that of logarithms."""
        if not variance:
            return variance
        return None if self.logarithmic else min(float(self.over(variance, 2)), _LARGEST**2)


def bent(
    y: Float[np.ndarray, " n"], counted: Bool[np.ndarray, " n"], logarithms: bool = True
) -> tuple[Float[np.ndarray, " n"], Units]:
    """Values of an objective as they are modeled, and the units that they are in.

    What is usual is said by the values that are `counted`. They become `logarithms` only where that
    is allowed.
    """
    if logarithms and spans_orders(y[counted]):
        units = Units(logarithmic=True)
        # Zeros, which have no logarithm, are below this median: they have the lowest rank.
        return half_ranked(units.seen(y), counted & (y > 0.0)), units
    units = Units.of(y, counted)
    return half_ranked(units.seen(y), counted), units


def spans_orders(y: Float[np.ndarray, " n"]) -> bool:
    """Whether no value is negative, and beside the best hardly any is more than nothing."""
    positive = y[y > 0.0]
    return bool(positive.size and y.min() >= 0.0 and positive.max() / _ORDERS > np.median(positive))


def half_ranked(
    y: Float[np.ndarray, " n"], counted: Bool[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """Values of which those below the median keep their order only.

    They become quantiles of a normal law with the spread of the better half, so that the worst of
    many is a few deviations away. The median is of the values that are `counted`.
    """
    if not counted.any():
        return y
    middle = np.median(y[counted])
    spread = np.sqrt(np.mean((y[counted & (y >= middle)] - middle) ** 2))
    worse = y < middle
    if not worse.any() or not spread > 0:
        return y
    _, which = np.unique(y[worse], return_inverse=True)
    counts = np.bincount(which)
    ranks = np.cumsum(counts) - 0.5 * counts
    bent = y.copy()
    bent[worse] = middle + spread * _normal_quantiles(0.5 * ranks / worse.sum())[which]
    return bent


def _normal_quantiles(p: np.ndarray) -> np.ndarray:
    """Without SciPy's special functions, which take a tenth of a second to load."""
    return np.array([NormalDist().inv_cdf(each) for each in p.tolist()])


def signed_logarithm(c: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """The logarithm of 1 + |c| with the sign of c, in units of the median size."""
    unit = np.median(np.abs(c))
    return np.sign(c) * np.log1p(np.abs(c) / unit) if unit > 0 else c
