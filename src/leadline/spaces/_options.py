"""Values that are written down one by one, with an order or without.

Notation: `K` values; the state of a value is its index, 0 to K - 1.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from leadline.boundary import InvalidData, as_choice
from leadline.spaces._parameter import Parameter
from leadline.spaces._scalars import Scalar, distinct, plain

# The rows of two options differ by this in two columns, so that they are at distance 1.
ONE_HOT = math.sqrt(0.5)


@dataclass(frozen=True, repr=False, init=False)
class _Listed(Parameter):
    """One of several values."""

    _index: dict[Scalar, int] = field(compare=False)

    @property
    @abc.abstractmethod
    def _listed(self) -> tuple[Scalar, ...]:
        """The values in their order."""

    def _remember(self, name: str, given: tuple[Any, ...]) -> None:
        kind = type(self).__name__
        listed = distinct(given, f"{name} of {kind}")
        if len(listed) < 2:
            raise InvalidData(f"{kind} needs two or more {name}, got {len(listed)}: {listed!r}.")
        object.__setattr__(self, name, listed)
        object.__setattr__(self, "_index", {value: k for k, value in enumerate(listed)})

    def _arguments(self):
        return ", ".join(map(repr, self._listed))

    @property
    def size(self):
        return len(self._listed)

    def state(self, value, name="value"):
        try:
            return float(self._index[value])
        except (KeyError, TypeError):
            known = as_choice(plain(value, name), self._listed, name)
            return float(self._index[known])

    def decode(self, states):
        return [self._listed[k] for k in states.astype(np.int64).tolist()]


@dataclass(frozen=True, repr=False, init=False)
class Ordinal(_Listed):
    """One of several numbers or strings, given in a meaningful order: `Ordinal("S", "M", "L")`."""

    values: tuple[int | float | str, ...]

    def __init__(self, *values: Any):
        self._remember("values", values)
        for value in self.values:
            if value is None or isinstance(value, bool):
                raise InvalidData(f"The values of Ordinal must be numbers or strings, got {value}.")

    @property
    def _listed(self):
        return self.values

    def encode(self, states):
        """The index over K - 1."""
        return (states / (self.size - 1))[:, None]

    def nearest(self, columns):
        unit = np.minimum(np.maximum(columns[:, 0], 0.0), 1.0)
        return np.rint(unit * (self.size - 1))


@dataclass(frozen=True, repr=False, init=False)
class Choice(_Listed):
    """One of several options without an order: `Choice("relu", "tanh", None)`."""

    options: tuple[Scalar, ...]

    def __init__(self, *options: Any):
        self._remember("options", options)

    @property
    def _listed(self):
        return self.options

    @property
    def columns(self):
        return self.size

    @property
    def neutral(self):
        return ONE_HOT / self.size

    def encode(self, states):
        """One column for each option, zero except that of the option."""
        columns = np.zeros((len(states), self.size))
        columns[np.arange(len(states)), states.astype(np.int64)] = ONE_HOT
        return columns

    def nearest(self, columns):
        return np.argmax(columns, axis=1).astype(np.float64)

    def moves(self, state):
        """Every other option."""
        return [float(k) for k in range(self.size) if k != state]
