"""What all parameters of a space share.

A parameter is the map between three things, for many points at once:

- values, as people write them: `0.1`, `64`, `"relu"`;
- states: one float for each value, which is the value itself for numbers and its index otherwise;
- columns of the unit cube, which models see.

Notation: `n` points; `k` columns; `u` is a number in [0, 1).
"""

from __future__ import annotations

import abc
import copy
import keyword
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData
from leadline.spaces._scalars import Scalar, distinct

Conditions = tuple[tuple[str, tuple[Scalar, ...]], ...]


P = TypeVar("P", bound="Parameter")


@dataclass(frozen=True, repr=False)
class Parameter(abc.ABC):
    """One thing that may be chosen, and the conditions under which it exists."""

    conditions: Conditions = field(default=(), init=False)

    def when(self: P, /, **conditions: Any) -> P:
        """The same parameter, which exists only when other parameters have given values.

        `Real(0, 0.99).when(optimizer="sgd")`, or one of several values:
        `.when(optimizer=("sgd", "rmsprop"))`. Several conditions must all hold.
        """
        merged = dict(self.conditions)
        for name, value in conditions.items():
            if name in merged:
                raise InvalidData(f"There is a condition on {name!r} already: {self!r}.")
            several = value if isinstance(value, tuple | list) else (value,)
            if not several:
                raise InvalidData(f"The condition on {name!r} must have at least one value.")
            merged[name] = distinct(several, f"values in the condition on {name!r}")
        conditional = copy.copy(self)
        object.__setattr__(conditional, "conditions", tuple(sorted(merged.items())))
        return conditional

    def __repr__(self):
        text = f"{type(self).__name__}({self._arguments()})"
        if self.conditions:
            text += f".when({describe_conditions(self.conditions)})"
        return text

    @abc.abstractmethod
    def _arguments(self) -> str:
        """How the parameter is written, between the parentheses."""

    @property
    def columns(self) -> int:
        """How many columns of the unit cube it takes."""
        return 1

    @property
    @abc.abstractmethod
    def size(self) -> int | float:
        """The number of values; infinite for real numbers."""

    def nth(self, k: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The states of a parameter with finitely many, by their place from 0 to `size - 1`."""
        return k

    def place(self, state: float) -> float:
        """Which state it is, counted from 0."""
        return state

    @property
    def middle(self) -> float:
        """The state at the middle of the column; the first of unordered options."""
        return float(self.nearest(np.full((1, self.columns), 0.5))[0])

    @property
    def neutral(self) -> float:
        """What the columns hold in rows in which the parameter does not exist."""
        return 0.5

    @abc.abstractmethod
    def state(self, value: Any, name: str = "value") -> float:
        """The state of a value, or an error that says which values there are."""

    def state_anywhere(self, value: Any, name: str = "value") -> float:
        """The state of a value that may be outside of the bounds, if there are any."""
        return self.state(value, name)

    @abc.abstractmethod
    def decode(self, states: Float[np.ndarray, " n"]) -> list[Any]:
        """The values of states, as Python scalars."""

    @abc.abstractmethod
    def encode(self, states: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        """The columns of states."""

    @abc.abstractmethod
    def nearest(self, columns: Float[np.ndarray, "n k"]) -> Float[np.ndarray, " n"]:
        """The states nearest to columns, which may hold any finite numbers."""

    def spread(self, u: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """States from numbers in [0, 1): an equal slice for each."""
        return self.nth(np.minimum(np.floor(u * self.size), self.size - 1))

    def moves(self, state: float) -> list[float]:
        """Other states to try from this one: at distances 1, 2, 4, ... on either side."""
        k, steps = self.place(state), [2**i for i in range(int(self.size).bit_length())]
        down = [k - step for step in reversed(steps) if k - step >= 0]
        up = [k + step for step in steps if k + step <= self.size - 1]
        return self.nth(np.array(down + up)).tolist()


def describe_conditions(conditions: Conditions) -> str:
    """Conditions as they are written: `optimizer='sgd', depth=(2, 3)`."""
    return ", ".join(written(name, v[0] if len(v) == 1 else v) for name, v in conditions)


def written(name: str, value: Any) -> str:
    """An argument as it is written in a call, whatever its name."""
    if name.isidentifier() and not keyword.iskeyword(name):
        return f"{name}={value!r}"
    return f"**{{{name!r}: {value!r}}}"
