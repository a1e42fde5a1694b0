"""Bayesian optimization with a Gaussian process.

A process with a Matérn-5/2 kernel, one length scale for each column, is fitted to what has been
seen; the next row is where the expected improvement on the best expected value is highest.

Calls that have not returned take part as fantasies at their expected value (Ginsbourger et al.
2010), so that points asked at once or one after the other spread out. Calls that failed take part
as fantasies at the worst value seen: they say nothing about the function, and the process does not
learn from them, but the neighborhood of a failure is a bad place for the next call.

Hyper-parameters are the state of an ask. The next one starts its search from them, or keeps them if
the data have hardly grown.

Notation: `x (n, d)` rows, `y (n,)` values, larger is better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np

from leadline.acquisition import ExpectedImprovement, LogExpectedImprovement, maximize
from leadline.kernels import Matern52
from leadline.models import GP as Process
from leadline.models import ExactPosterior
from leadline.numerics import InvalidData, as_choice, fixed, shifted_sobol
from leadline.questions.methods._method import Method, Seen, Suggestion
from leadline.spaces import Space

_ACQUISITIONS = {"ei": ExpectedImprovement, "log_ei": LogExpectedImprovement}
# Searches look close to so many of the best calls.
_BEST = 4
# Hyper-parameters are learned again when the data have grown by this part, and by one row.
_GROWTH = 0.01
# Hyper-parameters that are a tenth of a nat better find no better point.
_TOLERANCE = 0.05
# The spread of so many rows of a space is the unit of its length scales.
_REFERENCE = 256


@dataclasses.dataclass(frozen=True)
class GP(Method):
    """Expected improvement under a Gaussian process.

    Args:
        acquisition: "log_ei" or "ei". Both are highest at the same point; the logarithm is found
            more surely.
        initial: how many points fill the space first; 2 for each parameter, from 5 to 20, if None.
        noise: variance of the objective's noise; learned if None.
    """

    acquisition: str = "log_ei"
    initial: int | None = None
    noise: float | None = None

    name: ClassVar[str] = "gp"
    foresees: ClassVar[bool] = True

    def __post_init__(self):
        as_choice(self.acquisition, tuple(_ACQUISITIONS), "acquisition")
        if self.initial is not None and self.initial < 2:
            raise InvalidData(f"initial must be at least 2, got {self.initial}.")
        if self.noise is not None and not 0.0 <= self.noise < np.inf:
            raise InvalidData(f"noise must be a variance that is not negative, got {self.noise}.")

    def design(self, space):
        """The size of the space-filling design."""
        return min(max(5, 2 * space.dim), 20) if self.initial is None else self.initial

    def suggest(self, space, seen, state, key):
        """The row of the highest expected improvement."""
        posterior, learned = self.learn(space, seen, state)
        posterior = _with_fantasies(posterior, seen)
        best = _best_expected(posterior)
        acquisition = _ACQUISITIONS[self.acquisition](posterior, best)
        order = np.argsort(-seen.y, kind="stable")[:_BEST]
        found = maximize(acquisition, space, key, close_to=seen.x[order], avoid=seen.rows)
        if found is None:
            return None
        value = np.exp(found.value) if acquisition.logarithmic else found.value
        return Suggestion(found.row, learned, {"expected_improvement": float(value)})

    def learn(
        self, space: Space, seen: Seen, state: Mapping[str, np.ndarray]
    ) -> tuple[ExactPosterior, Mapping[str, np.ndarray]]:
        """The posterior given what has been seen, and its hyper-parameters as a state.

        The search for them starts from those of the last state, which are kept if the data have
        hardly grown since.
        """
        n = len(seen.y)
        if state and n - state["rows"] < max(1.0, _GROWTH * n):
            return _process(state).condition(seen.x, seen.y), state
        process: Any = _process(state) if state else _first_process(space.columns)
        if self.noise is not None:
            noise: Any = fixed(self.noise)
            process = Process(process.kernel, mean=process.mean, noise=noise)
        # Length scales are measured by the space, not by where calls have gathered.
        reference = space.spread(_reference_points(space.dim))
        posterior: Any = process.fit(seen.x, seen.y, reference=reference, tolerance=_TOLERANCE)
        return posterior, {**_hyper_parameters(posterior.gp), "rows": np.asarray(n)}


@cache
def _first_process(columns: int) -> Process:
    """Where the first search starts."""
    return _process({"variance": 1.0, "lengthscale": np.ones(columns), "mean": 0.0, "noise": 1e-2})


@cache
def _reference_points(dim: int) -> np.ndarray:
    return shifted_sobol(np.random.default_rng(0), _REFERENCE, dim)


def _with_fantasies(posterior: Any, seen: Seen) -> ExactPosterior:
    """The posterior with stand-ins for the calls that have no value.

    They stand for the function itself, so they have no noise: a noisy one would leave doubt where
    the call is, and the next ask would be for the same point.
    """
    unknown = len(seen.running) + len(seen.failed)
    if not unknown:
        return posterior
    y = [seen.y]
    if len(seen.running):
        y.append(np.asarray(posterior.predict(seen.running).mean))
    y.append(np.full(len(seen.failed), seen.y.min()))
    gp = posterior.gp
    noiseless = _process({**_hyper_parameters(gp), "noise": 0.0})
    var = np.concatenate([np.full(len(seen.y), float(gp.noise)), np.zeros(unknown)])
    return noiseless.condition(seen.rows, np.concatenate(y), var)


def _hyper_parameters(gp: Any) -> dict[str, np.ndarray]:
    """The hyper-parameters of a process as `_process` makes it."""
    return {
        "lengthscale": np.asarray(gp.kernel.kernel.lengthscale),
        "variance": np.asarray(gp.kernel.variance),
        "mean": np.asarray(gp.mean.value),
        "noise": np.asarray(gp.noise),
    }


def _process(state: Mapping[str, Any]) -> Any:
    """The process with the hyper-parameters of a state."""
    kernel = state["variance"] * Matern52(state["lengthscale"])
    return Process(kernel, mean=state["mean"], noise=state["noise"])


def _best_expected(posterior: ExactPosterior) -> np.ndarray:
    """The highest posterior mean among the rows, y minus noise times weights.

    Fantasies count: there is nothing to gain beside a call that is expected to be the best.
    """
    rows, weights = posterior.rows, np.asarray(posterior.weights)
    noise = np.asarray(posterior.gp.noise) + np.asarray(rows.var)
    means = np.asarray(rows.y) - noise * weights
    return np.asarray(np.max(means[: posterior.n]))
