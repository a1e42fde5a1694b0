"""Spaces with finitely many points: how many there are, and all of them.

Notation: as in `_conditions`.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
from jaxtyping import Float

from leadline.spaces._conditions import Conditions
from leadline.spaces._parameter import Parameter

_CASES = 100_000


def count_points(parameters: tuple[Parameter, ...], conditions: Conditions) -> int | float:
    """The number of distinct points.

    Parameters are added one by one. A case is what the conditions of later parameters need to know
    of earlier ones; it carries the number of partial points that it stands for. Spaces whose
    conditions are so entangled that there are over 100 000 cases count as infinite.
    """
    if any(math.isinf(parameter.size) for parameter in parameters):
        return math.inf
    last = {a: k for k, j in enumerate(conditions.order) for a in conditions.required[j]}
    cases: dict[frozenset, int] = {frozenset(): 1}
    for k, j in enumerate(conditions.order):
        kinds = _kinds(j, int(parameters[j].size), conditions)
        extended: dict[frozenset, int] = defaultdict(int)
        for case, number in cases.items():
            known = dict(case)
            exists = all(known.get(a) in states for a, states in conditions.required[j].items())
            for state, weight in kinds if exists else [(None, 1)]:
                later = (item for item in (*case, (j, state)) if last.get(item[0], -1) > k)
                extended[frozenset(later)] += number * weight
        if len(extended) > _CASES:
            return math.inf
        cases = extended
    return sum(cases.values())


def _kinds(j, size, conditions):
    """The states of a parameter that conditions tell apart: one of each kind, and how many."""
    wanted = [required[j] for required in conditions.required if j in required]
    kinds: dict[tuple[bool, ...], list] = {}
    for state in frozenset().union(*wanted):
        kinds.setdefault(tuple(state in states for states in wanted), []).append(state)
    told_apart = [(states[0], len(states)) for states in kinds.values()]
    others = size - sum(weight for _, weight in told_apart)
    return [*told_apart, (None, others)] if others else told_apart


def every_state(
    parameters: tuple[Parameter, ...], conditions: Conditions
) -> Float[np.ndarray, "dim n"]:
    """The states of all points, in the order of the parameters as they were given."""
    states = np.full((len(parameters), 1), np.nan)
    for j in conditions.order:
        exists = conditions.exists(j, states)
        copies = np.where(exists, int(parameters[j].size), 1)
        ends = np.cumsum(copies)
        turn = np.arange(ends[-1]) - np.repeat(ends - copies, copies)
        states = np.repeat(states, copies, axis=1)
        found = parameters[j].nth(turn.astype(np.float64))
        states[j] = np.where(np.repeat(exists, copies), found, np.nan)
    return states[:, np.lexsort(states[::-1])]
