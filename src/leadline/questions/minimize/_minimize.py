"""Where is a function lowest?

The first points fill the space (Sobol points, shifted by the seed), then a method chooses. No point
is asked twice. Inside, larger is better: values change their sign once on the way to the method,
and what the method says about them once on the way back.

With constraints a call returns (value, constraint values), and a point is allowed where these are
all at most 0. A checked value is the list [value, c1, c2, ...] then, and a float otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np

from leadline.boundary import InvalidData, as_choice, shorten
from leadline.numerics import shifted_sobol
from leadline.questions._events import Asked
from leadline.questions._ledger import Ledger
from leadline.questions._question import Exhausted, Question
from leadline.questions._registry import require_settings
from leadline.questions._trial import Trial
from leadline.questions.minimize._optimum import Optimum
from leadline.questions.minimize.methods import BORE, GP, LFBO, TPE, Method, Random, Seen, Thompson
from leadline.questions.minimize.methods._method import unseen
from leadline.questions.minimize.methods._scenes import Prospect, scenes
from leadline.search import is_among
from leadline.spaces import Space, as_space

METHODS: dict[str, type[Method]] = {
    kind.name: kind for kind in (GP, Thompson, BORE, LFBO, TPE, Random)
}
# Points of a design are looked for among so many at first, and then twice as many.
_DESIGN, _LONGEST_DESIGN = 64, 4096
# Larger values are this large to the method: the square of a value must be a number too.
_LARGEST = 1e100
# A model needs two values to say anything.
_LEAST_DATA = 2


def as_method(method: Any) -> Method:
    """A method, or the one with this name and its own defaults."""
    if isinstance(method, Method):
        return method
    if not isinstance(method, str):
        raise InvalidData(
            f"method must be a name or an object of ll.methods, got {type(method).__name__}."
        )
    return METHODS[as_choice(method, tuple(METHODS), "method")]()


class Minimize(Question):
    """Where is a function lowest?

    Args:
        space: a `Space`, or (low, high) of each input.
        method: "gp", "thompson", "bore", "lfbo", "tpe", "random", or an object of `ll.methods`.
        seed: of everything random.
        constraints: how many constraint values a call returns beside its value.
    """

    verb: ClassVar[str] = "minimize"
    sign: ClassVar[float] = -1.0

    def __init__(self, space: Any, method: Any = "gp", seed: Any = 0, constraints: Any = 0):
        super().__init__(as_space(space), seed)
        self.method = as_method(method)
        self.constraints = _count(constraints)
        if self.constraints and not self.method.constrained:
            able = ", ".join(repr(name) for name, kind in METHODS.items() if kind().constrained)
            raise InvalidData(
                f"constraints need a method that takes them ({able}), and {self.method.name!r} "
                "does not."
            )
        names = (f"constraint_{k}" for k in range(self.constraints))
        self.outputs = ("value", *names)
        self._ledger = Ledger(self.space.columns, 1 + self.constraints)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Minimize:
        """The question that has these settings, without any trial."""
        require_settings(settings, "space", "method", "seed")
        space = Space.from_description(settings["space"])
        # Settings say nothing of constraints that are learned if there are none.
        learned = settings.get("constraints", 0)
        return cls(space, _method(settings["method"]), settings["seed"], learned)

    def results(self, trial: Trial) -> tuple[float | None, ...]:
        """The value and the constraint values."""
        return trial.value, *(trial.constraints or (None,) * self.constraints)

    def returned(self, results: tuple[Any, ...]) -> Any:
        """The value, or the pair of it and its constraint values."""
        return (results[0], list(results[1:])) if self.constraints else results[0]

    def score(self, trial: Trial) -> float:
        """The value of an allowed trial."""
        return trial.value if trial.allowed else math.nan

    def heading(self) -> str:
        """Verb, method, seed and how many constraints there are."""
        method = self.method.settings()
        given = ", ".join(f"{k}={v}" for k, v in method.items() if k != "name" and v is not None)
        chosen = f"{method['name']} ({given})" if given else method["name"]
        learned = f", constraints {self.constraints}" if self.constraints else ""
        return f"{self.verb}, method {chosen}, seed {self.seed}{learned}"

    def counts(self) -> str:
        """What became of the trials, and how many were allowed if there are constraints."""
        if not self.constraints:
            return super().counts()
        allowed = sum(trial.allowed for trial in self._trials)
        return super().counts().replace("with a value", f"with a value ({allowed} allowed)", 1)

    def remark(self, trial: Trial) -> str:
        """Whether it is the best, failed, runs, is not allowed, or was given."""
        if trial.id == self.best():
            return "★ best"
        said = super().remark(trial)
        finished = not trial.failed and not trial.running
        return "not allowed" if finished and not trial.allowed else said

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
        pair = isinstance(value, tuple | list) and len(value) == 2
        if not self.constraints:
            if pair:
                raise InvalidData(
                    f"A value must be one finite number, got {shorten(value)}. If the second part "
                    "holds constraint values, constraints= is missing: it says how many."
                )
            return _finite(value, "A value")
        if not pair:
            raise InvalidData(
                f"With constraints={self.constraints} a value must be a pair, a number and then "
                f"its constraint values, got {shorten(value)}."
            )
        return [_finite(value[0], "A value"), *self._check_constraints(value[1])]

    def _check_constraints(self, values: Any) -> list[float]:
        try:
            several = list(values) if np.ndim(values) else [values]
        except ValueError as error:
            raise InvalidData(
                f"Constraint values must be finite numbers, got {shorten(values)}."
            ) from error
        if len(several) != self.constraints:
            raise InvalidData(
                f"constraints={self.constraints}, so there must be as many constraint values, got "
                f"{len(several)}: {shorten(values)}."
            )
        for one in several:
            # True would be 1, which is not allowed: the opposite of what it seems to say.
            if isinstance(one, bool | np.bool_):
                raise InvalidData(
                    f"A constraint value must be a number, at most 0 where allowed, got {one}."
                )
        return [_finite(one, "A constraint value") for one in several]

    def outcome(self, value: Any) -> dict[str, Any]:
        """The value and the constraint values of a trial."""
        if not self.constraints:
            return super().outcome(value)
        number, *constraints = value
        return {"value": number, "constraints": tuple(constraints)}

    def propose(self) -> Asked:
        """The next ask: of the design as long as it is not complete, then of the method."""
        seen, key = self.seen(), self.key()
        self._prepare(seen)
        if self._designs(seen):
            row, state, notes = self._design_row(seen, key), {}, {}
        else:
            found = self.method.suggest(self.space, seen, self._state, key)
            row, state, notes = (None, {}, {}) if found is None else found
        if row is None:
            raise Exhausted(f"All {len(self._trials)} points of the space have been asked.")
        self._rehearsals.asked()
        return Asked(len(self._trials), self.space.decode(row[None])[0], state, notes)

    def propose_batch(self, n: int) -> list[Asked]:
        """The next `n` asks: together if the method can, else each beside those before it."""
        seen = self.seen()
        self._prepare(seen, n)
        if n < 2 or not self.method.together or self.constraints or self._designs(seen):
            return super().propose_batch(n)
        found = self.method.suggest_together(self.space, seen, self._state, self.key(), n)
        if not found:
            return super().propose_batch(n)
        points = self.space.decode(np.stack([each.row for each in found]))
        first = len(self._trials)
        return [
            Asked(first + i, point, each.state, each.notes)
            for i, (point, each) in enumerate(zip(points, found, strict=True))
        ]

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

    def seen(self) -> Seen:
        """What the method may know: the trials as rows, with larger values better."""
        self._ledger.update(self._trials, self._rows)
        told, numbers = self._ledger.told
        numbers = np.clip(numbers, -_LARGEST, _LARGEST)
        values, constraints = self.sign * numbers[:, 0], numbers[:, 1:]
        return Seen(told, values, self._ledger.running, self._ledger.failed, constraints)

    def _ahead(self):
        ahead = super()._ahead()
        ahead._ledger = self._ledger.copy()
        return ahead

    def _design_row(self, seen: Seen, key: Any) -> np.ndarray | None:
        """The first point of the design that is allowed and new."""
        gone, size = seen.rows, _DESIGN
        while size <= _LONGEST_DESIGN:
            rows = self.space.spread(_design_points(size, self.space.dim, self.seed))
            for row in rows[self.space.allowed(rows)]:
                if not is_among(row, gone):
                    return row
            size *= 4
        return unseen(self.space, gone, key)

    def best(self) -> int | None:
        """The number of the best trial that is allowed; None if there is none."""
        allowed = [trial for trial in self._trials if trial.allowed]
        return max(allowed, key=lambda t: self.sign * t.value).id if allowed else None

    def recommended(self) -> int | None:
        """The number of the trial that is the answer: the best, unless noise makes it doubtful."""
        row = self.method.recommend(self.space, self.seen(), self._state)
        if row is None:
            return self.best()
        return [trial.id for trial in self._trials if trial.value is not None][row]

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
    # JSON has no tuples.
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    name = as_choice(fields.pop("name", None), tuple(METHODS), "The method of a question")
    try:
        return METHODS[name](**fields)
    except TypeError as error:
        raise InvalidData(f"The method {name!r} has no such settings: {error}.") from error


def _count(constraints: Any) -> int:
    whole = isinstance(constraints, int | np.integer) and not isinstance(constraints, bool)
    if not whole or constraints < 0:
        raise InvalidData(
            "constraints must be how many constraint values a call returns, a whole number, got "
            f"{shorten(constraints)}."
        )
    return int(constraints)


def _finite(value: Any, what: str) -> float:
    """A finite number, as a float; `what` it is, for errors."""
    try:
        if isinstance(value, str | bytes) or np.ndim(value) != 0:
            raise TypeError
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{what} must be one finite number, got {shorten(value)}.") from error
    if not np.isfinite(number):
        raise InvalidData(f"{what} must be finite, got {number}.")
    return number


@lru_cache(maxsize=8)
def _design_points(n: int, dim: int, seed: int) -> np.ndarray:
    return shifted_sobol(np.random.default_rng(seed), n, dim)
