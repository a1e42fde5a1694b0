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

from collections.abc import Mapping
from functools import cache
from statistics import NormalDist
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from leadline.boundary import InvalidData, shorten
from leadline.kernels import PartlyAdditive
from leadline.models import GP as Process
from leadline.models import Posterior
from leadline.numerics import fixed
from leadline.questions._design import check_design
from leadline.spaces import Space

State = Mapping[str, np.ndarray]
# Hyper-parameters are learned again when the data have grown by this part, and by one row.
_GROWTH = 0.01
# Hyper-parameters that are a tenth of a nat better find no better point.
_TOLERANCE = 0.05
_FIRST = {"variance": 1.0, "share": 0.5, "mean": 0.0, "noise": 1e-2}


def check_model(initial: Any, noise: Any) -> None:
    """Refuse settings of the design and the noise that mean nothing."""
    check_design(initial)
    try:
        fine = noise is None or 0.0 <= noise < np.inf
    except TypeError:
        fine = False
    if not fine:
        raise InvalidData(
            f"noise must be a variance, a number that is not negative, got {shorten(noise)}."
        )


def learn(
    space: Space, x: np.ndarray, y: np.ndarray, state: State, noise: float | None = None
) -> tuple[Posterior, State]:
    """The posterior given values at rows, and its hyper-parameters as a state.

    Args:
        space: of the rows.
        x: rows.
        y: values.
        state: hyper-parameters to start from, or {}.
        noise: variance of the values' noise; learned if None.
    """
    n = len(y)
    extent = _extent(x)
    if state and n - state["rows"] < max(1.0, _GROWTH * n):
        return _process(state, extent).condition(x, y), state
    process = _process(state, extent) if state else _first_process(space.columns, extent)
    if noise is not None:
        known: Any = fixed(noise)
        process = Process(process.kernel, mean=process.mean, noise=known)
    # Length scales are measured by the space, not by where calls have gathered.
    posterior: Any = process.fit(
        x, y, priors="quiet", reference=space.reference, tolerance=_TOLERANCE
    )
    return posterior, {**_hyper_parameters(posterior.gp), "rows": np.asarray(n)}


def with_stand_ins(posterior: Posterior, rows: np.ndarray, values: np.ndarray) -> Posterior:
    """The posterior with values that stand for calls that gave none.

    Nothing is learned from them. They have no noise: a noisy value would leave doubt where the call
    was, and the next ask would be for the same point.
    """
    if not len(rows):
        return posterior
    gp, (x, y, known) = posterior.gp, posterior.data()
    var = np.concatenate([known + float(gp.noise), np.zeros(len(rows))])
    quiet = _process({**_hyper_parameters(gp), "noise": 0.0}, gp.kernel.kernel.extent)
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


@cache
def _first_process(columns: int, extent: float) -> Any:
    """Where the first search starts."""
    return _process({**_FIRST, "lengthscale": np.ones(columns)}, extent)


def _extent(x: np.ndarray) -> float:
    """How far apart rows can be in a column: 1, or a power of 2 if there are rows outside."""
    widest = np.max(np.maximum(x.max(axis=0), 1.0) - np.minimum(x.min(axis=0), 0.0))
    return float(2.0 ** np.ceil(np.log2(widest)))


def _hyper_parameters(gp: Any) -> dict[str, np.ndarray]:
    """The hyper-parameters of a process as `_process` makes it."""
    return {
        "lengthscale": np.asarray(gp.kernel.kernel.lengthscale),
        "share": np.asarray(gp.kernel.kernel.share),
        "variance": np.asarray(gp.kernel.variance),
        "mean": np.asarray(gp.mean.value),
        "noise": np.asarray(gp.noise),
    }


def _process(state: Mapping[str, Any], extent: float) -> Any:
    """The process with the hyper-parameters of a state, for rows up to so far apart."""
    kernel = state["variance"] * PartlyAdditive(state["lengthscale"], state["share"], extent=extent)
    return Process(kernel, mean=state["mean"], noise=state["noise"])
