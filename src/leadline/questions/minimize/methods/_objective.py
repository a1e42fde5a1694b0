"""What is believed about the objective, by the methods that model it.

Notation: `y (n,)` values, larger is better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from leadline.models import Posterior
from leadline.questions._bending import Units, bent
from leadline.questions._process import Model
from leadline.questions._surrogate import State, learn
from leadline.questions.minimize.methods._method import Seen
from leadline.spaces import Space


class Objective(NamedTuple):
    """A belief about the objective.

    Attributes:
        posterior: given the calls that returned.
        state: what was dear to learn.
        y: the values as they are modeled.
        units: what models see of a value.
    """

    posterior: Posterior
    state: State
    y: np.ndarray
    units: Units


def learn_objective(space: Space, seen: Seen, state: State, model: Model) -> Objective:
    """The belief given what has been seen.

    Args:
        space: of the rows.
        seen: what has been seen.
        state: hyper-parameters of the objective to start from, or {}.
        model: what is believed of the objective before.
    """
    # Priors of one's own are of variances in units of the values.
    y, units = bent(seen.y, seen.allowed, logarithms=not model.priors)
    model = model._replace(noise=units.noise(model.noise))
    posterior, learned = learn(space, seen.x, y, units.carried(state), model)
    return Objective(posterior, {**learned, **units.state()}, y, units)
