"""Real and whole numbers between two ends, on a linear or a logarithmic scale.

Notation: a `unit` is a position between the ends, 0 at `low` and 1 at `high`; the `span` is
`high - low`, or the logarithm of `high / low`.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from leadline.boundary import InvalidData
from leadline.spaces._grid import Grid, exact, rounded
from leadline.spaces._parameter import Parameter
from leadline.spaces._scalars import as_number, as_whole

# Up to here a whole number survives the way to the unit interval and back, on a log scale too.
_LARGEST = 10**12
# A float of any size has all its digits before so many decimals.
_MOST_DECIMALS = 330


def linear_unit(numbers, low, high):
    """Where numbers are between the ends; arrays broadcast."""
    return (numbers - low) / (high - low)


def linear_number(unit, low, high):
    """The numbers at positions between the ends, exact at both; arrays broadcast."""
    unit = np.minimum(np.maximum(unit, 0.0), 1.0)
    return _inside(low + unit * (high - low), unit, low, high)


def _inside(numbers, unit, low, high):
    """Rounding must neither leave the range nor miss its upper end."""
    return np.where(unit == 1.0, high, np.minimum(np.maximum(numbers, low), high))


@dataclass(frozen=True, repr=False, init=False)
class _Range(Parameter):
    """Numbers between two ends."""

    low: Any
    high: Any
    log: bool
    _span: float = field(compare=False)

    def __init__(self, low: Any, high: Any, log: Any = False):
        kind = type(self).__name__
        low, high = self._as_end(low, f"low of {kind}"), self._as_end(high, f"high of {kind}")
        if not isinstance(log, bool):
            raise InvalidData(f"log of {kind} must be True or False, got {log!r}.")
        if low >= high:
            raise InvalidData(f"{kind} needs low < high, got low={low} and high={high}.")
        if log and low <= 0:
            raise InvalidData(f"{kind} on a log scale needs low > 0, got low={low}.")
        with np.errstate(over="ignore"):
            span = np.log(np.float64(high) / low) if log else np.float64(high) - low
        if not np.isfinite(span):
            raise InvalidData(f"{kind} from {low} to {high} is wider than floats can measure.")
        for name, value in (("low", low), ("high", high), ("log", log), ("_span", float(span))):
            object.__setattr__(self, name, value)

    @staticmethod
    @abc.abstractmethod
    def _as_end(value: Any, name: str) -> int | float:
        """An end of the range, checked."""

    def _arguments(self):
        return f"{self.low!r}, {self.high!r}" + (", log=True" if self.log else "")

    def state_anywhere(self, value, name="value"):
        """The number, of which a logarithm must exist where the scale is one."""
        number = self._as_end(value, name)
        if self.log and number <= 0:
            raise InvalidData(f"{name} is on a log scale and must be above 0, got {value!r}.")
        return float(number)

    def encode(self, states):
        """The position between the ends, exactly 0 and 1 there; beyond them for what is outside."""
        if not self.log:
            return linear_unit(states, self.low, self.high)[:, None]
        unit = np.log(states / self.low) / self._span
        unit = np.where(states <= self.high, np.minimum(unit, 1.0), unit)
        return np.where(states == self.high, 1.0, unit)[:, None]

    def _between(self, unit):
        """The numbers at positions between the ends."""
        if not self.log:
            return linear_number(unit, self.low, self.high)
        unit = np.minimum(np.maximum(unit, 0.0), 1.0)
        return _inside(self.low * np.exp(unit * self._span), unit, self.low, self.high)

    def _slices(self, u, step):
        """Numbers on a log scale of which those within half a step get rounded to one."""
        start, stop = np.log(self.low - 0.5 * step), np.log(self.high + 0.5 * step)
        return np.exp(start + u * (stop - start))


@dataclass(frozen=True, repr=False, init=False)
class Real(_Range):
    """A real number in [low, high], on a linear or (`log=True`) a logarithmic scale.

    Args:
        low, high: the ends, which are included.
        log: whether the scale is logarithmic.
        step: what can be set: `low`, `low + step` and so on to `high`; any number if None.
        decimals: what can be set, in another way: numbers with so many decimals. On a logarithmic
            scale too, which has no steps.
    """

    low: float
    high: float
    step: float | None
    decimals: int | None
    _grid: Grid | None = field(compare=False)

    def __init__(
        self, low: Any, high: Any, log: Any = False, *, step: Any = None, decimals: Any = None
    ):
        if decimals is not None:
            decimals = _as_decimals(decimals, step)
            low = rounded(self._as_end(low, "low of Real"), decimals, "low of Real")
            high = rounded(self._as_end(high, "high of Real"), decimals, "high of Real")
        super().__init__(low, high, log)
        grid = None
        if step is not None:
            step = self._as_step(step)
            grid = Grid(self.low, self.high, exact(step), "Real")
        elif decimals is not None:
            grid = Grid(self.low, self.high, Fraction(1, 10**decimals), "Real")
        if grid is not None:
            object.__setattr__(self, "high", grid.high)
        for name, value in (("step", step), ("decimals", decimals), ("_grid", grid)):
            object.__setattr__(self, name, value)

    def _as_step(self, step):
        step = self._as_end(step, "step of Real")
        if step <= 0:
            raise InvalidData(f"step of Real must be above 0, got {step}.")
        if self.log:
            raise InvalidData(
                f"A log scale has no equal steps: Real takes decimals there, got step={step}."
            )
        return step

    @staticmethod
    def _as_end(value, name):
        return float(as_number(value, name))

    def _arguments(self):
        given = (("step", self.step), ("decimals", self.decimals))
        return super()._arguments() + "".join(f", {k}={v!r}" for k, v in given if v is not None)

    @property
    def size(self):
        return math.inf if self._grid is None else self._grid.last + 1

    def nth(self, k):
        assert self._grid is not None
        return self._grid.numbers(k)

    def place(self, state):
        assert self._grid is not None
        return self._grid.steps(np.array([state])).item()

    def state(self, value, name="value"):
        number = value if type(value) is float else as_number(value, name)
        grid = self._grid
        found = None if grid is None else grid.find(number)
        if found is not None:
            return found
        wanted = f"{name} must be a number from {self.low} to {self.high}"
        if not self.low <= number <= self.high:
            raise InvalidData(f"{wanted}, got {value!r}.")
        if grid is not None:
            raise InvalidData(
                f"{wanted} at steps of {grid.step}; the nearest are {grid.around(number)}, "
                f"got {value!r}."
            )
        return float(number)

    def state_anywhere(self, value, name="value"):
        number = super().state_anywhere(value, name)
        found = None if self._grid is None else self._grid.find(number)
        return number if found is None else found

    def decode(self, states):
        return states.tolist()

    def nearest(self, columns):
        return self._settled(self._between(np.ascontiguousarray(columns[:, 0])))

    def spread(self, u):
        """All numbers are equally likely; on a log scale their logarithms are."""
        if self._grid is None:
            return self._between(u)
        return self._settled(self._slices(u, self._grid.step)) if self.log else super().spread(u)

    def moves(self, state):
        """None where there is no next real number."""
        return [] if self._grid is None else super().moves(state)

    def _settled(self, numbers):
        """The nearest numbers that can be set."""
        return numbers if self._grid is None else self._grid.numbers(self._grid.steps(numbers))


def _as_decimals(decimals, step):
    if step is not None:
        raise InvalidData(f"Real takes step or decimals, got {step!r} and {decimals!r}.")
    decimals = as_whole(decimals, "decimals of Real")
    if not 0 <= decimals <= _MOST_DECIMALS:
        raise InvalidData(f"decimals of Real must be from 0 to {_MOST_DECIMALS}, got {decimals}.")
    return decimals


@dataclass(frozen=True, repr=False, init=False)
class Integer(_Range):
    """A whole number from `low` to `high`, both included, on a linear or a logarithmic scale."""

    low: int
    high: int

    @staticmethod
    def _as_end(value, name):
        end = as_whole(value, name)
        if abs(end) > _LARGEST:
            raise InvalidData(f"{name} must be within {_LARGEST:.0e} of zero, got {value!r}.")
        return end

    @property
    def size(self):
        return self.high - self.low + 1

    def nth(self, k):
        return self.low + k

    def place(self, state):
        return state - self.low

    def state(self, value, name="value"):
        number = value if type(value) is int else as_whole(value, name)
        if not self.low <= number <= self.high:
            raise InvalidData(
                f"{name} must be a whole number from {self.low} to {self.high}, got {value!r}."
            )
        return float(number)

    def decode(self, states):
        return states.astype(np.int64).tolist()

    def nearest(self, columns):
        return np.rint(self._between(np.ascontiguousarray(columns[:, 0])))

    def spread(self, u):
        """Equal slices; on a log scale those of [log(low - 1/2), log(high + 1/2)] by rounding."""
        if not self.log:
            return super().spread(u)
        numbers = np.rint(self._slices(u, 1))
        return np.minimum(np.maximum(numbers, self.low), self.high)
