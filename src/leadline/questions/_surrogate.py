"""The model behind the methods: a Gaussian process for each number that a call returns.

Hyper-parameters are the state of an ask. The next one starts its search from them, or keeps them if
the data have hardly grown.

Notation: `x (n, d)` rows of the unit cube, `y (n,)` values as they are modeled (`_bending`), larger
is better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from leadline.models import Posterior
from leadline.questions._process import Model, hyper_parameters, with_hyper_parameters
from leadline.spaces import Space

State = Mapping[str, np.ndarray]
# Hyper-parameters are learned again when the data have grown by this part, and by one row.
_GROWTH = 0.01
# Hyper-parameters that are a tenth of a nat better find no better point.
_TOLERANCE = 0.05
_DEFAULT = Model()


def learn(
    space: Space, x: np.ndarray, y: np.ndarray, state: State, model: Model = _DEFAULT
) -> tuple[Posterior, State]:
    """The posterior given values at rows, and its hyper-parameters as a state.

    Args:
        space: of the rows.
        x: rows.
        y: values.
        state: hyper-parameters to start from, or {}.
        model: what is believed of the values before.
    """
    process = model.process(space.columns, _extent(x))
    # Length scales are measured by the space, not by where calls have gathered.
    return learn_process(
        process,
        x,
        y,
        state,
        priors=model.priors_of(process),
        reference=space.reference,
        tolerance=_TOLERANCE,
    )


def learn_process(
    process: Any, x: np.ndarray, y: np.ndarray, state: State, **fit: Any
) -> tuple[Any, State]:
    """The posterior of a process given values at rows, and its hyper-parameters as a state.

    Args:
        process: where the first search starts.
        x: rows.
        y: values.
        state: hyper-parameters to start from, or {}.
        **fit: how they are learned, see `leadline.GP.fit`.
    """
    n = len(y)
    if state:
        process = with_hyper_parameters(process, state)
    if state and n - state["rows"] < max(1.0, _GROWTH * n):
        return process.condition(x, y), state
    posterior = process.fit(x, y, **fit)
    return posterior, {**hyper_parameters(posterior.gp), "rows": np.asarray(n)}


def with_stand_ins(posterior: Posterior, rows: np.ndarray, values: np.ndarray) -> Posterior:
    """The posterior with values that stand for calls that gave none.

    Nothing is learned from them. They have no noise: a noisy value would leave doubt where the call
    was, and the next ask would be for the same point.
    """
    if not len(rows):
        return posterior
    gp, (x, y, known) = posterior.gp, posterior.data()
    var = np.concatenate([known + float(gp.noise), np.zeros(len(rows))])
    quiet = dataclasses.replace(gp, noise=0.0)
    return quiet.condition(np.concatenate([x, rows]), np.concatenate([y, values]), var)


def _extent(x: np.ndarray) -> float:
    """How far apart rows can be in a column: 1, or a power of 2 if there are rows outside."""
    widest = np.max(np.maximum(x.max(axis=0), 1.0) - np.minimum(x.min(axis=0), 0.0))
    return float(2.0 ** np.ceil(np.log2(widest)))
