"""Where is a function lowest?

The first points fill the space (Sobol points, shifted by the seed), then a method chooses. No point
is asked twice. Inside, larger is better: values change their sign once on the way to the method,
and what the method says about them once on the way back.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from leadline.acquisition import is_among
from leadline.numerics import InvalidData, as_choice, shifted_sobol, shorten
from leadline.questions._events import Asked
from leadline.questions._optimum import Optimum
from leadline.questions._question import Exhausted, Question
from leadline.questions.methods import GP, Method, Random, Seen
from leadline.questions.methods._method import unseen

METHODS = {"gp": GP, "random": Random}
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
        method: "gp", "random", or an object of `ll.methods`.
        seed: of everything random.
    """

    verb: ClassVar[str] = "minimize"
    sign: ClassVar[float] = -1.0

    def __init__(self, space: Any, method: Any = "gp", seed: Any = 0):
        super().__init__(space, seed)
        self.method = as_method(method)

    def settings(self) -> dict[str, Any]:
        """Verb, space, method and seed."""
        return {
            "verb": self.verb,
            "space": self.space.describe(),
            "method": self.method.settings(),
            "seed": self.seed,
        }

    def least_budget(self) -> int:
        """The size of the design."""
        return max(1, self.method.design(self.space))

    def check(self, value: Any) -> float:
        """A finite number, as a float."""
        try:
            if isinstance(value, str | bytes) or np.ndim(value) != 0:
                raise TypeError
            number = float(value)
        except (TypeError, ValueError) as error:
            raise InvalidData(
                f"A value must be one finite number, got {shorten(value)}."
            ) from error
        if not np.isfinite(number):
            raise InvalidData(f"A value must be finite, got {number}.")
        return number

    def propose(self) -> Asked:
        """The next ask: of the design as long as it is not complete, then of the method."""
        seen, key = self.seen(), self.key()
        design, started = self.method.design(self.space), len(seen.x) + len(seen.running)
        if started < design or (design and len(seen.x) < _LEAST_DATA):
            row, state, notes = self._design_row(seen, key), {}, {}
        else:
            found = self.method.suggest(self.space, seen, self._state, key)
            row, state, notes = (None, {}, {}) if found is None else found
        if row is None:
            raise Exhausted(f"All {len(self._trials)} points of the space have been asked.")
        return Asked(len(self._trials), self.space.decode(row[None])[0], state, notes)

    def seen(self) -> Seen:
        """What the method may know: the trials as rows, with larger values better."""
        groups: dict[str, list[int]] = {"told": [], "running": [], "failed": []}
        for trial in self._trials:
            kind = "failed" if trial.failed else "running" if trial.running else "told"
            groups[kind].append(trial.id)
        told, running, failed = (self._rows_of(ids) for ids in groups.values())
        values = np.array([self._trials[i].value for i in groups["told"]], dtype=np.float64)
        values = np.clip(values, -_LARGEST, _LARGEST)
        return Seen(told, self.sign * values, running, failed)

    def _rows_of(self, ids: list[int]) -> np.ndarray:
        return np.array([self._rows[i] for i in ids]).reshape(len(ids), self.space.columns)

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
        """The number of the best trial; None without any value."""
        told = [trial for trial in self._trials if trial.value is not None]
        return max(told, key=lambda t: self.sign * t.value).id if told else None

    def headline(self) -> str:
        """The best value."""
        best = self.best()
        return "" if best is None else f"best {self._trials[best].value:.6g}"

    def answer(self) -> Optimum:
        """The best point so far, with every trial."""
        return Optimum(self)


class Maximize(Minimize):
    """Where is a function highest?"""

    verb: ClassVar[str] = "maximize"
    sign: ClassVar[float] = 1.0


@lru_cache(maxsize=8)
def _design_points(n: int, dim: int, seed: int) -> np.ndarray:
    return shifted_sobol(np.random.default_rng(seed), n, dim)
