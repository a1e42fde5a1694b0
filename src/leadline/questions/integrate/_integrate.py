"""What is the integral of a function? Ask, tell, answer.

The first asks fill the measure; each of those after them is where a call says most about the
integral (`leadline.quadrature.Information`), beside those that run.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from leadline.boundary import InvalidData, as_choice
from leadline.journal import Asked, Journal
from leadline.measures import Measure
from leadline.numerics import describe, restore
from leadline.quadrature import Information
from leadline.questions._numbers import as_finite
from leadline.questions._question import Exhausted, Question
from leadline.questions._registry import require_settings
from leadline.questions.integrate._belief import METHODS, Belief, believe
from leadline.questions.integrate._coordinates import as_measure, box_of, in_cube
from leadline.questions.integrate._integral import Integral
from leadline.search import is_among, maximize
from leadline.spaces import as_space

# A model needs two values to say anything.
_LEAST_DATA = 2
# How many points of the measure the design is chosen from.
_DESIGN = 64


class Integrate(Question):
    """What is the integral of a function against a measure?

    Args:
        measure: one of `ll.measures`.
        method: "bq", "wsabi", or "auto": "wsabi" where no value is negative, and "bq" where some
            are.
        seed: of everything random.
        logarithmic: whether the function returns the logarithm of the integrand, which may be
            minus infinity.
        tolerance: an ask is not worth its call once the standard deviation of the integral is at
            most so large a part of it.
        journal: a file, a database URL or a `Journal` that keeps every ask, tell and fail; the same
            question continues where it stopped. Without it nothing is written.
    """

    verb: ClassVar[str] = "integrate"

    def __init__(
        self,
        measure: Any,
        method: str = "auto",
        seed: Any = 0,
        logarithmic: bool = False,
        tolerance: float | None = None,
        journal: str | os.PathLike | Journal | None = None,
    ):
        self.measure: Measure = as_measure(measure)
        lower, upper = box_of(self.measure)
        super().__init__(as_space(list(zip(lower, upper, strict=True))), seed, numbers=1)
        self.method = as_choice(method, METHODS, "method")
        self.logarithmic = bool(logarithmic)
        self.tolerance = _as_tolerance(tolerance)
        self._in_cube = in_cube(self.measure, lower, upper - lower)
        if journal is not None:
            self.keep(journal)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Integrate:
        """The question that has these settings, without any trial."""
        require_settings(settings, "measure", "method", "seed", "logarithmic")
        measure = restore(settings["measure"])
        return cls(measure, settings["method"], settings["seed"], settings["logarithmic"])

    def settings(self) -> dict[str, Any]:
        """Verb, measure, method, seed, and whether values are logarithms."""
        return {
            "verb": self.verb,
            "space": self.space.describe(),
            "measure": describe(self.measure, name="measure"),
            "method": self.method,
            "seed": self.seed,
            "logarithmic": self.logarithmic,
        }

    def heading(self) -> str:
        """Verb, measure, method and seed."""
        of = ", of logarithms" if self.logarithmic else ""
        return f"{self.verb} against {self.measure}, method {self.method}, seed {self.seed}{of}"

    def least_budget(self) -> int:
        """The size of the design."""
        return min(max(5, 2 * self.space.dim + 1), 20)

    def check(self, value: Any) -> float:
        """A finite number, as a float; of logarithms minus infinity too."""
        what = "A logarithm" if self.logarithmic else "A value"
        return as_finite(value, what, nothing=self.logarithmic)

    def outcome(self, value: Any) -> dict[str, Any]:
        """The value of a trial, which is learned from."""
        return {"value": value, "numbers": (value,)}

    def propose(self) -> Asked:
        """The next ask: of the design until it is complete, then where it says most."""
        ledger = self.ledger()
        rows, numbers = ledger.told
        gone = [rows, ledger.running, ledger.failed, ledger.withdrawn]
        started, number = len(rows) + len(ledger.running), len(self._trials)
        if started < self.least_budget() or len(rows) < _LEAST_DATA:
            row = self._design_row(np.concatenate(gone))
            return Asked(number, self.space.decode(row[None])[0], {}, {})
        belief = self._believe(rows, numbers[:, 0], self._state)
        integrand = belief.integrand
        if len(ledger.running):
            integrand = _beside(integrand, ledger.running)
        information = Information(integrand, self._in_cube)
        # What is expected of running calls makes the integral no surer.
        known = integrand is belief.integrand
        z = information.coupling.law if known else belief.integrand.integral(self._in_cube)
        found = maximize(
            information, self.space, self.key(), close_to=rows[:4], avoid=np.concatenate(gone)
        )
        if found is None:
            raise Exhausted(f"All {len(self._trials)} points have been asked.")
        point = self.space.decode(found.rows)[0]
        return Asked(number, point, belief.state, belief.notes(z))

    def worth_asking(self, ask: Asked) -> bool:
        """Whether the integral is less sure than the tolerance."""
        return self.tolerance is None or _relative_error(ask.notes) > self.tolerance

    def headline(self) -> str:
        """The estimate of the last ask and its error."""
        notes = next((t.notes for t in reversed(self._trials) if "log_scale" in t.notes), None)
        if notes is None:
            return ""
        error = f"error {_relative_error(notes):.1e} of it"
        if notes["mean"] > 0.0:
            return f"log integral {math.log(notes['mean']) + notes['log_scale']:.6g}, {error}"
        return f"integral {notes['mean'] * math.exp(min(notes['log_scale'], 700.0)):.6g}, {error}"

    def answer(self) -> Integral:
        """The integral so far, with every trial."""
        return Integral(self)

    def belief(self) -> Belief:
        """What is believed given all values.

        Raises:
            InvalidData: there are too few values.
        """
        rows, numbers = self.ledger().told
        if len(rows) < _LEAST_DATA:
            raise InvalidData(
                f"An integral needs at least {_LEAST_DATA} values, and {len(rows)} calls "
                "returned one."
            )
        return self._believe(rows, numbers[:, 0], self._state)

    @property
    def measure_of_rows(self) -> Measure:
        """The measure as models see it."""
        return self._in_cube

    def _believe(self, rows: np.ndarray, values: np.ndarray, state: Mapping[str, Any]) -> Belief:
        return believe(self.method, rows, values, self._in_cube, state, self.logarithmic)

    def _design_row(self, gone: np.ndarray) -> np.ndarray:
        """The first of the design's points of the measure that was not asked."""
        size = _DESIGN
        while True:
            for row in np.clip(np.asarray(self._in_cube.qmc(size, self.seed)), 0.0, 1.0):
                if not is_among(row, gone):
                    return row
            size *= 4


def _relative_error(notes: Mapping[str, float]) -> float:
    """The error of the integral as a part of its size; infinite where nothing is known."""
    return notes["std"] / abs(notes["mean"]) if notes.get("mean") else math.inf


def _beside(integrand: Any, rows: np.ndarray) -> Any:
    """The same, given that calls at rows return what is expected of them."""
    expected = np.asarray(integrand.latent.predict(rows).mean)
    return dataclasses.replace(integrand, latent=integrand.latent.update(rows, expected))


def _as_tolerance(tolerance: Any) -> float | None:
    if tolerance is None:
        return None
    if not isinstance(tolerance, int | float) or not 0.0 < tolerance < math.inf:
        raise InvalidData(f"tolerance must be a positive relative error, got {tolerance!r}.")
    return float(tolerance)
