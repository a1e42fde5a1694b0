"""Which parameters exist, given the values of others.

A parameter exists when its conditions hold and the parameters that they name exist. Written out,
this is one set of states for each ancestor, all of which must be met; they are found once, when a
space is built.

Notation: parameters have positions `j`; `states (dim, n)` holds one row for each parameter, NaN
where it does not exist.
"""

from __future__ import annotations

import graphlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from leadline.boundary import InvalidData, as_choice
from leadline.spaces._parameter import Parameter
from leadline.spaces._scalars import Scalar

Required = dict[int, frozenset[float]]


@dataclass(frozen=True)
class Conditions:
    """For each parameter the states of its ancestors under which it exists."""

    required: tuple[Required, ...]
    order: tuple[int, ...]

    def exists(self, j: int, states: Float[np.ndarray, "dim n"]) -> Bool[np.ndarray, " n"]:
        """The points in which parameter `j` exists; only the states of its ancestors are read."""
        met = np.ones(states.shape[1], bool)
        for ancestor, wanted in self.required[j].items():
            met &= np.isin(states[ancestor], list(wanted))
        return met

    def without_others(self, states: Float[np.ndarray, "dim n"]) -> Float[np.ndarray, "dim n"]:
        """The states, NaN where a parameter does not exist."""
        kept = states.copy()
        for j in self.order:
            if self.required[j]:
                kept[j, ~self.exists(j, kept)] = np.nan
        return kept


def find_conditions(parameters: Mapping[str, Parameter]) -> Conditions:
    """Check the conditions of all parameters against each other, and write them out."""
    names = tuple(parameters)
    own: list[Required] = [{} for _ in names]
    for j, (name, parameter) in enumerate(parameters.items()):
        for parent, values in parameter.conditions:
            as_choice(parent, names, f"The condition of {name!r}")
            own[j][names.index(parent)] = _wanted(name, parent, parameters[parent], values)
    order = _parents_first(own, names)
    required: list[Required] = [{} for _ in names]
    for j in order:
        for parent, wanted in own[j].items():
            for ancestor, states in ({parent: wanted} | required[parent]).items():
                required[j][ancestor] = required[j].get(ancestor, states) & states
                if not required[j][ancestor]:
                    raise InvalidData(
                        f"{names[j]!r} can never exist: no value of {names[ancestor]!r} meets its "
                        f"conditions and those of the parameters that they name."
                    )
    return Conditions(tuple(required), order)


def _wanted(name: str, parent: str, of: Parameter, values: Iterable[Scalar]) -> frozenset[float]:
    """The states that the condition of a parameter asks of its parent."""
    if math.isinf(of.size):
        raise InvalidData(
            f"{name!r} has a condition on {parent!r}, which must be a Choice, an Ordinal, an "
            f"Integer or a Real with steps, got {of!r}."
        )
    where = f"The condition of {name!r} on {parent!r}"
    return frozenset(of.state(value, where) for value in values)


def _parents_first(own: list[Required], names: tuple[str, ...]) -> tuple[int, ...]:
    """All positions: parents before children, and children as soon as their parents are there.

    That keeps families together, which is what makes counting cheap.
    """
    try:
        graphlib.TopologicalSorter(dict(enumerate(own))).prepare()
    except graphlib.CycleError as error:
        circle = " -> ".join(repr(names[j]) for j in error.args[1])
        raise InvalidData(f"The conditions of parameters go in a circle: {circle}.") from None
    children: list[list[int]] = [[] for _ in own]
    for j, parents in enumerate(own):
        for parent in parents:
            children[parent].append(j)
    missing = [len(parents) for parents in own]
    ready = [j for j in reversed(range(len(own))) if not missing[j]]
    order: list[int] = []
    while ready:
        order.append(ready.pop())
        for j in reversed(children[order[-1]]):
            missing[j] -= 1
            if not missing[j]:
                ready.append(j)
    return tuple(order)
