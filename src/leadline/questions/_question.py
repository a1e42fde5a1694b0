"""The contract of a question: a fold over events.

A question is asked what to call next (`ask`), is told what the calls returned (`tell`, `fail`), and
says what it knows (`answer`). It depends on its settings, its seed and the ordered list of events
and on nothing else: two questions that saw the same events are the same, bit for bit. What is dear
to compute travels inside the `Asked` events, so applying them again computes nothing.

Only one thread may touch a question.
"""

from __future__ import annotations

import abc
import copy
import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array

from leadline.boundary import InvalidData, Unsupported
from leadline.journal import Asked, Event, Failed, Given, Told
from leadline.numerics import numbered_key, seed_key
from leadline.questions._domain import as_domain
from leadline.questions._ledger import Ledger
from leadline.questions._registry import register
from leadline.questions._rehearsals import Rehearsals
from leadline.questions._trial import Trial


class Exhausted(Exception):
    """Every point of a finite space has been asked."""


class Question(abc.ABC):
    """Something to learn about a function, from few calls of it.

    A class that names its verb can be loaded from journals by it.

    Attributes:
        verb: what users call it.
        sign: whether larger scores of trials are better (1), smaller ones (-1), or neither (0).
        outputs: the columns of a trial's record that hold what the function returned.
        trial_kind: what its trials are.
        space: where the function may be called: a `Domain`, such as a `Space`.
        seed: of everything random.

    Its `numbers` are how many numbers of each call models learn from, see `outcome`.
    """

    verb: ClassVar[str]
    sign: ClassVar[float] = 0.0
    outputs: tuple[str, ...] = ("value",)
    trial_kind: ClassVar[type[Trial]] = Trial

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "verb" in vars(cls):
            register(cls)

    def __init__(self, space: Any, seed: Any = 0, numbers: int = 0):
        self.space: Any = as_domain(space)
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise InvalidData(f"seed must be a whole number that is not negative, got {seed!r}.")
        self.seed = int(seed)
        self._root = seed_key(self.seed)
        self._trials: list[Trial] = []
        self._rows: list[np.ndarray] = []
        self._ledger = Ledger(self.space.columns, numbers)
        self._state: Mapping[str, np.ndarray] = {}
        self._rehearsals = Rehearsals()
        self._calls, self._at_once = math.inf, 1

    @abc.abstractmethod
    def propose(self) -> Asked:
        """The next ask, as an event that is not applied yet."""

    @abc.abstractmethod
    def check(self, value: Any) -> Any:
        """The value as the question keeps it, or an error that says what a value may be."""

    @abc.abstractmethod
    def answer(self) -> Any:
        """What is known now."""

    @abc.abstractmethod
    def settings(self) -> dict[str, Any]:
        """What makes this question another one than the next, as JSON values."""

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Any:
        """The question that has these settings, without any trial."""
        raise Unsupported(f"{cls.__name__} does not say how it is made from its settings.")

    @property
    def columns(self) -> tuple[str, ...]:
        """What the columns of a table of trials are called."""
        return ("trial", *self.space.names, *self.outputs, "failed", "reason", "seconds")

    @property
    def short_outputs(self) -> tuple[str, ...]:
        """What the outputs are called where there is little room."""
        return self.outputs

    def record(self, trial: Trial) -> dict[str, Any]:
        """A trial by the names of its columns."""
        return {
            "trial": trial.id,
            **self.space.as_dict(trial.x),
            **dict(zip(self.outputs, self.results(trial), strict=True)),
            "failed": trial.failed,
            "reason": trial.reason,
            "seconds": trial.seconds,
        }

    def results(self, trial: Trial) -> tuple[Any, ...]:
        """What the function returned, one thing for each of the `outputs`; None if nothing."""
        return (trial.value,)

    def returned(self, results: tuple[Any, ...]) -> Any:
        """What the function returns where these are the results."""
        return results[0]

    def score(self, trial: Trial) -> float:
        """One number that says how good a trial is; NaN if there is none."""
        return math.nan

    def best(self) -> int | None:
        """The number of the best trial; None if there is none."""
        return None

    def heading(self) -> str:
        """What is asked, in a line."""
        return f"{self.verb}, seed {self.seed}"

    def counts(self) -> str:
        """What became of the trials, in numbers."""
        failed, running = sum(t.failed for t in self.trials), sum(t.running for t in self.trials)
        values = len(self._trials) - failed - running
        return (
            f"{len(self._trials)} trials: {values} with a value, {failed} failed, {running} running"
        )

    def remark(self, trial: Trial) -> str:
        """What there is to say about a trial besides its record."""
        if trial.failed:
            return trial.reason.splitlines()[0]
        return "running" if trial.running else "" if trial.asked else "given"

    def outcome(self, value: Any) -> dict[str, Any]:
        """The fields of a trial that a checked value fills.

        `numbers` among them is a row of the `ledger`, from which models learn.
        """
        return {"value": value}

    def ledger(self) -> Ledger:
        """What became of the trials: rows of points, and the numbers that calls returned."""
        self._ledger.update(self._trials, self._rows)
        return self._ledger

    def least_budget(self) -> int:
        """How many calls the question needs before its answer means anything."""
        return 1

    def worth_asking(self, ask: Asked) -> bool:
        """Whether an ask is worth its call, by its notes; a campaign ends when none is."""
        return True

    def headline(self) -> str:
        """What is known now, in a few words, without any computation to speak of."""
        return ""

    def expect(self, calls: int, at_once: int) -> None:
        """Say how many calls there will be, and how many at once, so that asks can be prepared."""
        self._calls, self._at_once = calls, at_once

    def close(self) -> None:
        """End what runs in the background. The question can be asked on, and starts it again."""
        self._rehearsals.close()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial, in the order in which they started."""
        return tuple(self._trials)

    def state(self) -> Mapping[str, np.ndarray]:
        """What the last ask computed and the next one starts from."""
        return self._state

    def propose_batch(self, n: int) -> list[Asked]:
        """The next `n` asks, or as many as there are; each takes those before it as calls that run.

        Raises:
            Exhausted: there is none.
        """
        check_asked(n)
        if n == 1:
            return [self.propose()]
        ahead, events = self._ahead(), []
        while len(events) < n:
            try:
                events.append(ahead.propose())
            except Exhausted:
                if not events:
                    raise
                break
            ahead.apply(events[-1])
        return events

    def ask(self, n: int = 1) -> list[Trial]:
        """The next `n` points to call the function at."""
        return [self.apply(event) for event in self.propose_batch(n)]

    def tell(self, trial: Any, value: Any, info: Mapping[str, Any] | None = None) -> Trial:
        """Say what the function returned: for a trial that was asked, or for any other point.

        Args:
            trial: a trial from `ask`, or a point that nobody asked for.
            value: what the function returned.
            info: anything else worth keeping with the trial.
        """
        value, info = self.check(value), dict(info or {})
        if isinstance(trial, Trial):
            return self.apply(Told(trial.id, value, info))
        return self.apply(Given(len(self._trials), trial, value, info))

    def fail(self, trial: Any, reason: str) -> Trial:
        """Say that a call gave no value, and why."""
        if not isinstance(trial, Trial):
            raise InvalidData(f"fail takes a trial from ask, got {trial!r}.")
        return self.apply(Failed(trial.id, str(reason) or "no reason given"))

    def apply(self, event: Event) -> Trial:
        """Add one event to the list; the trial after it."""
        if isinstance(event, Asked | Given):
            return self._start(event)
        if not 0 <= event.trial < len(self._trials):
            raise InvalidData(
                f"Trial {event.trial} is unknown: this question has {len(self._trials)} trials."
            )
        trial = self._trials[event.trial]
        if not trial.running:
            raise InvalidData(f"Trial {trial.id} is finished already: {trial!r}.")
        if isinstance(event, Told):
            done = self.outcome(event.value) | dict(info=event.info, seconds=event.seconds)
        else:
            done = dict(reason=event.reason, traceback=event.traceback, seconds=event.seconds)
        self._trials[event.trial] = trial = dataclasses.replace(trial, **done)
        return trial

    def _ahead(self) -> Any:
        """A copy to think ahead with."""
        ahead = copy.copy(self)
        ahead._trials, ahead._rows = list(self._trials), list(self._rows)
        ahead._ledger = self._ledger.copy()
        return ahead

    def _start(self, event: Asked | Given) -> Trial:
        if event.trial != len(self._trials):
            raise InvalidData(
                f"Trials start in order: the next is {len(self._trials)}, got {event.trial}."
            )
        row = self.space.encode([event.point])[0]
        # The caller's array may change later; the trial must not.
        point = copy.copy(event.point)
        if isinstance(event, Asked):
            trial = self.trial_kind(event.trial, point, notes=event.notes)
            self._state = event.state or self._state
        else:
            known = self.outcome(event.value)
            trial = self.trial_kind(event.trial, point, **known, asked=False, info=event.info)
        self._trials.append(trial)
        self._rows.append(row)
        return trial

    def key(self, ahead: int = 0) -> Array:
        """The random key of the next ask, or of one that comes `ahead` asks after it."""
        return numbered_key(self._root, len(self._trials) + ahead)

    def __repr__(self) -> str:
        trials = self._trials
        running, failed = sum(t.running for t in trials), sum(t.failed for t in trials)
        counts = f"{len(trials)} trials, {running} running, {failed} failed"
        parts = f"{len(self.space.names)} parameters"
        return f"{type(self).__name__}({parts}, seed={self.seed}: {counts})"


def check_asked(n: int) -> None:
    """Refuse to be asked for no point."""
    if n < 1:
        raise InvalidData(f"A question is asked for at least 1 point, got {n}.")
