"""The model behind the methods: a Gaussian process for each number that a call returns.

Hyper-parameters are the state of an ask. The next one starts its search from them, or keeps them if
the data have hardly grown.

Values are bent before they are modeled. Of an objective the better half stays as it is, and of the
worse half only the order counts (Song et al. 2024): a few terrible values would otherwise set the
scale on which the good ones are compared. Of a constraint the logarithm of its size counts, with
its sign (Eriksson and Poloczek 2021): what matters is where it is 0.

Notation: `x (n, d)` rows of the unit cube, `y (n,)` values, larger is better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

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
    n = len(y)
    process = model.process(space.columns, _extent(x))
    if state:
        process = with_hyper_parameters(process, state)
    if state and n - state["rows"] < max(1.0, _GROWTH * n):
        return process.condition(x, y), state
    # Length scales are measured by the space, not by where calls have gathered.
    posterior: Any = process.fit(
        x,
        y,
        priors=model.priors_of(process),
        reference=space.reference,
        tolerance=_TOLERANCE,
    )
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


def _extent(x: np.ndarray) -> float:
    """How far apart rows can be in a column: 1, or a power of 2 if there are rows outside."""
    widest = np.max(np.maximum(x.max(axis=0), 1.0) - np.minimum(x.min(axis=0), 0.0))
    return float(2.0 ** np.ceil(np.log2(widest)))
