"""Points one move away: another value of one parameter that has separate values.

Notation: as in `_conditions`.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from leadline.spaces._conditions import Conditions
from leadline.spaces._parameter import Parameter


def neighboring_states(
    parameters: tuple[Parameter, ...], conditions: Conditions, state: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, "dim m"]:
    """The states of all points one move away.

    Parameters that a move brings into existence start at their middle.
    """
    moves = [
        (j, to)
        for j, parameter in enumerate(parameters)
        if not np.isnan(state[j])
        for to in parameter.moves(state[j])
    ]
    states = np.repeat(state[:, None], len(moves), axis=1)
    for column, (j, to) in enumerate(moves):
        states[j, column] = to
    for j, parameter in enumerate(parameters):
        if np.isnan(state[j]):
            states[j] = parameter.middle
    return conditions.without_others(states)
