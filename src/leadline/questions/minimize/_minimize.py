"""Where is a function lowest?

The first points fill the space (Sobol points, shifted by the seed), then a method chooses. No point
is asked twice. Inside, larger is better: values change their sign once on the way to the method,
and what the method says about them once on the way back.

With constraints a call returns (value, constraint values), and a point is allowed where these are
all at most 0. A checked value is the list [value, c1, c2, ...] then, and a float otherwise.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from leadline.boundary import InvalidData, as_choice, did_you_mean
from leadline.journal import Asked, Journal
from leadline.questions._design import design_row
from leadline.questions._question import Exhausted, Question, check_asked
from leadline.questions._registry import require_settings
from leadline.questions.minimize._optimum import Optimum
from leadline.questions.minimize._trial import MinimizeTrial
from leadline.questions.minimize._values import as_count, as_value
from leadline.questions.minimize.methods import (
    BORE,
    GP,
    LFBO,
    TPE,
    Method,
    Random,
    Recommendation,
    Seen,
    Suggestion,
    Thompson,
)
from leadline.questions.minimize.methods._scenes import Prospect, scenes
from leadline.spaces import as_space, space_from_description

METHODS: dict[str, type[Method]] = {
    kind.name: kind for kind in (GP, Thompson, BORE, LFBO, TPE, Random)
}
# Larger values are this large to the method: their sums and differences must be numbers too.
_LARGEST = 1e307
# So are larger values of constraints: their squares must be numbers.
_LARGEST_CONSTRAINT = 1e100
# A model needs two values to say anything.
_LEAST_DATA = 2


def as_method(method: Any, settings: Mapping[str, Any] | None = None) -> Method:
    """A method, or the one with this name, these settings and its own defaults for others."""
    if isinstance(method, Method):
        return method
    if not isinstance(method, str):
        raise InvalidData(
            f"method must be a name or an object of ll.methods, got {type(method).__name__}."
        )
    kind = METHODS[as_choice(method, tuple(METHODS), "method")]
    known, given = tuple(field.name for field in dataclasses.fields(kind)), settings or {}
    if unknown := [name for name in given if name not in known]:
        raise InvalidData(
            f"The method {method!r} has no such settings: {', '.join(unknown)}. It has "
            f"{', '.join(known) or 'none'}.{did_you_mean(unknown[0], known)}"
        )
    try:
        return kind.from_settings(given)
    except TypeError as error:
        raise InvalidData(f"The method {method!r} cannot have such settings: {error}.") from error


class Minimize(Question):
    """Where is a function lowest?

    Args:
        space: a `Space`, or (low, high) of each input.
        method: "gp", "thompson", "bore", "lfbo", "tpe", "random", or an object of `ll.methods`.
        seed: of everything random.
        constraints: how many constraint values a call returns beside its value.
        tolerance: an ask that is expected to improve by less is not worth its call.
        journal: a file, a database URL or a `Journal` that keeps every ask, tell and fail; the same
            question continues where it stopped. Without it nothing is written.
    """

    verb: ClassVar[str] = "minimize"
    sign: ClassVar[float] = -1.0
    trial_kind = MinimizeTrial

    def __init__(
        self,
        space: Any,
        method: Any = "gp",
        seed: Any = 0,
        constraints: Any = 0,
        tolerance: float | None = None,
        journal: str | os.PathLike | Journal | None = None,
    ):
        self.constraints = as_count(constraints)
        super().__init__(as_space(space), seed, numbers=1 + self.constraints)
        self.method = as_method(method)
        self.method.check(self.space)
        self.tolerance = _tolerance(tolerance, self.method)
        if self.constraints and not self.method.constrained:
            able = ", ".join(repr(name) for name, kind in METHODS.items() if kind().constrained)
            raise InvalidData(
                f"constraints need a method that takes them ({able}), and {self.method.name!r} "
                "does not."
            )
        names = (f"constraint_{k}" for k in range(self.constraints))
        self.outputs = ("value", *names)
        if journal is not None:
            self.keep(journal)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Minimize:
        """The question that has these settings, without any trial."""
        require_settings(settings, "space", "method", "seed")
        space = space_from_description(settings["space"])
        # Settings say nothing of constraints that are learned if there are none.
        learned = settings.get("constraints", 0)
        return cls(space, _method(settings["method"]), settings["seed"], learned)

    @property
    def short_outputs(self) -> tuple[str, ...]:
        """The value, and the numbers of the constraints."""
        return ("value", *(f"c{k}" for k in range(self.constraints)))

    def results(self, trial: Any) -> tuple[float | None, ...]:
        """The value and the constraint values."""
        return trial.value, *(trial.constraints or (None,) * self.constraints)

    def returned(self, results: tuple[Any, ...]) -> Any:
        """The value, or the pair of it and its constraint values."""
        return (results[0], list(results[1:])) if self.constraints else results[0]

    def score(self, trial: Any) -> float:
        """The value of an allowed trial."""
        return trial.value if trial.allowed else math.nan

    def heading(self) -> str:
        """Verb, method, seed and how many constraints there are."""
        name = self.method.name
        given = ", ".join(f"{key}={value}" for key, value in self.method.shown().items())
        chosen = f"{name} ({given})" if given else name
        learned = f", constraints {self.constraints}" if self.constraints else ""
        return f"{self.verb}, method {chosen}, seed {self.seed}{learned}"

    def counts(self) -> str:
        """What became of the trials, and how many were allowed if there are constraints."""
        if not self.constraints:
            return super().counts()
        allowed = sum(trial.allowed for trial in self.trials)
        return super().counts().replace("with a value", f"with a value ({allowed} allowed)", 1)

    def remark(self, trial: Any) -> str:
        """Whether it is the best, failed, runs, is not allowed, or was given."""
        if trial.id == self.best():
            return "★ best"
        said = super().remark(trial)
        return "not allowed" if any(c > 0.0 for c in trial.constraints) else said

    @property
    def trials(self) -> tuple[Any, ...]:
        """Every trial, in the order in which they started."""
        return super().trials

    def settings(self) -> dict[str, Any]:
        """Verb, space, method and seed; and how many constraints, if there are any."""
        settings = {
            "verb": self.verb,
            "space": self.space.describe(),
            "method": self.method.settings(),
            "seed": self.seed,
        }
        return settings | ({"constraints": self.constraints} if self.constraints else {})

    def least_budget(self) -> int:
        """The size of the design."""
        return max(1, self.method.design(self.space))

    def check(self, value: Any) -> float | list[float]:
        """A finite number, as a float; with constraints a list of it and of their values."""
        return as_value(value, self.constraints)

    def outcome(self, value: Any) -> dict[str, Any]:
        """The value of a trial, and the numbers that are learned: it and the constraint values."""
        numbers = tuple(value) if self.constraints else (value,)
        return {"value": numbers[0], "numbers": numbers}

    def propose(self) -> Asked:
        """The next ask: of the design as long as it is not complete, then of the method."""
        return self.propose_batch(1)[0]

    def propose_batch(self, n: Any) -> list[Asked]:
        """The next `n` asks: together if the method can, else each beside those before it."""
        check_asked(n)
        seen = self.seen()
        self._prepare(seen, n)
        found = self._together(seen, n) or self._one_by_one(seen, n)
        if not found:
            raise Exhausted(f"All {len(self._trials)} points of the space have been asked.")
        self._rehearsals.asked()
        points = self.space.decode(np.stack([each.row for each in found]))
        first = len(self._trials)
        return [
            Asked(first + i, point, each.state, each.notes)
            for i, (point, each) in enumerate(zip(points, found, strict=True))
        ]

    def _together(self, seen: Seen, n: int) -> list[Suggestion]:
        """What the method chooses at once; nothing if it does not."""
        if n < 2 or not self.method.together or self.constraints or self._designs(seen):
            return []
        return self.method.suggest_together(self.space, seen, self._state, self.key(), n)

    def _one_by_one(self, seen: Seen, n: int) -> list[Suggestion]:
        """What is chosen beside those before it, as long as there is something."""
        found, state = [], self._state
        for i in range(n):
            key = self.key(ahead=i)
            if self._designs(seen):
                row = design_row(self.space, seen.rows, self.seed, key)
                each = None if row is None else Suggestion(row, {}, {})
            else:
                each = self.method.suggest(self.space, seen, state, key)
            if each is None:
                break
            found.append(each)
            state = each.state or state
            if len(found) < n:
                seen = seen.beside(self.space.encode(self.space.decode(each.row[None])))
        return found

    def _designs(self, seen: Seen) -> bool:
        """Whether the next point is one of the design."""
        design, started = self.method.design(self.space), len(seen.x) + len(seen.running)
        return started < design or bool(design and len(seen.x) < _LEAST_DATA)

    def _prepare(self, seen: Seen, n: int = 1) -> None:
        """Have programs made that coming asks need."""
        at_once = max(self._at_once, n, 1 + len(seen.running))
        patient = self._rehearsals.patient()
        known = Prospect(len(seen.x), self._calls, at_once, self.constraints, patient)
        for name, act in scenes(self.method, self.space, known):
            self._rehearsals.rehearse((self._kind, self.constraints, name), act)

    @cached_property
    def _kind(self) -> str:
        """What tells asks apart that need other programs, besides their size."""
        return repr((self.method.settings(), self.space.describe()))

    def _widen(self, space: Mapping[str, Any]) -> None:
        """Ask in a larger space from now on."""
        super()._widen(space)
        vars(self).pop("_kind", None)

    def seen(self) -> Seen:
        """What the method may know: the trials as rows, with larger values better."""
        ledger = self.ledger()
        told, numbers = ledger.told
        values = self.sign * np.clip(numbers[:, 0], -_LARGEST, _LARGEST)
        constraints = np.clip(numbers[:, 1:], -_LARGEST_CONSTRAINT, _LARGEST_CONSTRAINT)
        seen = Seen(told, values, ledger.running, ledger.failed, constraints, ledger.withdrawn)
        return seen if self.method.anywhere else seen.within_bounds()

    def best(self) -> int | None:
        """The number of the best trial that is allowed; None if there is none."""
        allowed = [trial for trial in self.trials if trial.allowed]
        return max(allowed, key=lambda t: self.sign * t.value).id if allowed else None

    def recommended(self) -> tuple[int | None, Recommendation | None]:
        """The number of the trial that is the answer, and why it is not the best, if it is not."""
        found = self.method.recommend(self.space, self.seen(), self._state)
        if found is None:
            return self.best(), None
        told = [trial.id for trial in self._trials if trial.value is not None]
        return told[found.row], found

    def worth_asking(self, ask: Asked) -> bool:
        """Whether an ask is expected to improve by at least the tolerance."""
        # Points of the design say nothing, and are needed.
        gain = ask.notes.get("expected_improvement", math.inf)
        return self.tolerance is None or gain >= self.tolerance

    def headline(self) -> str:
        """The best value that a call returned."""
        best = self.best()
        if best is not None:
            return f"best call {self._trials[best].value:.6g}"
        return "none allowed" if any(t.value is not None for t in self._trials) else ""

    def answer(self) -> Optimum:
        """The best point so far, with every trial."""
        return Optimum(self)


class Maximize(Minimize):
    """Where is a function highest?"""

    verb: ClassVar[str] = "maximize"
    sign: ClassVar[float] = 1.0


def _method(settings: Mapping[str, Any]) -> Method:
    """The method that has these settings."""
    others = dict(settings)
    name = as_choice(others.pop("name", None), tuple(METHODS), "The method of a question")
    return as_method(name, others)


def _tolerance(tolerance: Any, method: Method) -> float | None:
    if tolerance is None:
        return None
    if not isinstance(tolerance, int | float) or not 0.0 <= tolerance < math.inf:
        raise InvalidData(f"tolerance must be a number that is not negative, got {tolerance!r}.")
    if not method.foresees:
        able = ", ".join(repr(name) for name, kind in METHODS.items() if kind.foresees)
        raise InvalidData(
            f"tolerance needs a method that says how much improvement it expects ({able}), and "
            f"{method.name!r} does not."
        )
    return float(tolerance)
