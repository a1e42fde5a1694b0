"""The contract of a question: a fold over events.

A question is asked what to call next (`ask`), is told what the calls returned (`tell`, `fail`), and
says what it knows (`answer`). It depends on its settings, its seed and the ordered list of events
and on nothing else: two questions that saw the same events are the same, bit for bit.

A question may keep a journal of its own, see `keep`: then an event is on disk before it counts.

Only one thread may touch a question.
"""

from __future__ import annotations

import abc
import math
import os
from collections.abc import Callable, Mapping, Sequence, Set
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array

from leadline.boundary import InvalidData, Unsupported, as_seed
from leadline.journal import (
    Asked,
    Corrected,
    Event,
    Failed,
    Given,
    Journal,
    JournalFailed,
    Told,
    Withdrawn,
)
from leadline.numerics import numbered_key, seed_key
from leadline.questions._domain import rows_of_data
from leadline.questions._fold import Fold
from leadline.questions._frames import is_frame, read_frame
from leadline.questions._notebook import Notebook
from leadline.questions._registry import register
from leadline.questions._rehearsals import Rehearsals
from leadline.questions._table import columns_of_parts
from leadline.questions._trial import Trial
from leadline.questions._unwritten import with_unwritten

# The columns of a table that say what became of a trial, besides what the function returned.
_OF_TRIALS = ("failed", "reason", "seconds", "info")
# Points whose rows are closer than this are the same, written with fewer digits.
_ROUNDING = 1e-9


class Exhausted(Exception):
    """Every point of a finite space has been asked."""


class Question(Fold, abc.ABC):
    """Something to learn about a function, from few calls of it.

    A class that names its verb can be loaded from journals by it.

    Attributes:
        verb: what users call it.
        sign: whether larger scores of trials are better (1), smaller ones (-1), or neither (0).
        outputs: the columns of a trial's record that hold what the function returned.
        seed: of everything random.
    """

    verb: ClassVar[str]
    sign: ClassVar[float] = 0.0
    outputs: tuple[str, ...] = ("value",)

    def __init_subclass__(cls, **options: Any):
        super().__init_subclass__(**options)
        if "verb" in vars(cls):
            register(cls)

    def __init__(self, space: Any, seed: Any = 0, numbers: int = 0):
        super().__init__(space, numbers)
        self.seed = as_seed(seed)
        self._root = seed_key(self.seed)
        self._rehearsals = Rehearsals()
        self._notebook: Notebook | None = None
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
        """What the columns of a table of trials are called, each by a name of its own."""
        return ("trial", *self.point_columns.values(), *self.outputs, *_OF_TRIALS)

    @property
    def point_columns(self) -> dict[str, str]:
        """What the columns of the parts of a point are called, by the names of the parts.

        It is the same name, unless that is of another column: then it is `x.value`, say.
        """
        return columns_of_parts(self.space.names, ("trial", *self.outputs, *_OF_TRIALS))

    @property
    def short_outputs(self) -> tuple[str, ...]:
        """What the outputs are called where there is little room."""
        return self.outputs

    def record(self, trial: Trial) -> dict[str, Any]:
        """A trial by the names of its columns."""
        columns = self.point_columns
        return {
            "trial": trial.id,
            **{columns[name]: part for name, part in self.space.as_dict(trial.x).items()},
            **dict(zip(self.outputs, self.results(trial), strict=True)),
            "failed": trial.failed,
            "reason": "withdrawn" if trial.withdrawn else trial.reason,
            "seconds": trial.seconds,
            "info": dict(trial.info),
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
        trials = self._trials
        failed, withdrawn = sum(t.failed for t in trials), sum(t.withdrawn for t in trials)
        values = len(trials) - failed - withdrawn - sum(t.running for t in trials)
        counts = (
            f"{len(trials)} trials: {values} with a value, {failed} failed, {self._unfinished()}"
        )
        return counts + (f", {withdrawn} withdrawn" if withdrawn else "")

    def remark(self, trial: Trial) -> str:
        """What there is to say about a trial besides its record."""
        if trial.failed:
            return trial.reason.splitlines()[0]
        if self._is_interrupted(trial):
            return "interrupted: its process ended, and the next run calls it again"
        if trial.withdrawn or trial.running:
            return "withdrawn" if trial.withdrawn else "running"
        said = [] if trial.asked else ["given"]
        said += ["outside of the space"] if trial.outside else []
        said += ["corrected"] if trial.earlier else []
        return ", ".join(said)

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
        """End what runs in the background, and let go of the journal, if there is one.

        The question can be asked on, and starts both again.
        """
        self._rehearsals.close()
        if self._notebook is not None:
            self._notebook.close()

    def propose_batch(self, n: Any) -> list[Asked]:
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

    @property
    def keeps_journal(self) -> bool:
        """Whether it writes down what is done with it."""
        return self._notebook is not None

    def keep(self, journal: str | os.PathLike | Journal) -> None:
        """Write every ask, tell and fail into a journal from now on; first take what is in it.

        The settings must be those of the journal, but for a space that may have wider bounds. Then
        all trials stay, and the question asks in the wider space.
        """
        if self._trials:
            raise InvalidData(
                f"A question keeps its journal from the start, and this one has "
                f"{len(self._trials)} trials that were written nowhere."
            )
        notebook = Notebook(journal)
        notebook.begin(self)
        self._notebook = notebook
        self.catch_up()

    def resume(
        self,
        journal: str | os.PathLike | Journal,
        last: tuple[int, Event] | None,
        interrupted: Set[int] = frozenset(),
    ) -> None:
        """Go on with a journal of which the events up to the `last` have been applied.

        Args:
            journal: where.
            last: an event with its number; None if there is none.
            interrupted: trials whose process is gone.
        """
        self._notebook = Notebook(journal, last)
        self._notebook.interrupted = set(interrupted)

    def catch_up(self) -> None:
        """Read what others wrote into the journal that the question keeps."""
        if self._notebook is not None:
            for event in self._notebook.news():
                self.apply(event)

    def ask(self, n: Any = 1) -> list[Trial]:
        """The next `n` points to call the function at."""
        return self._record(lambda: self.propose_batch(n))

    def tell(self, trial: Any, value: Any = None, info: Mapping[str, Any] | None = None) -> Any:
        """Say what the function returned: for a trial that was asked, or for any other point.

        Args:
            trial: a trial from `ask`, its number, or a point. A point that was asked for and not
                told yet means its trial; any other is data that one already has, and may be
                outside of the space. Or a frame with a column for each part of a point and for
                what the function returned: rows without a value are left out.
            value: what the function returned; nothing for a frame that has it.
            info: anything else worth keeping with the trial.

        Returns:
            The trial; for a frame a list of them.
        """
        if is_frame(trial):
            if value is not None or info is not None:
                raise InvalidData(
                    "A frame is told alone: what the function returned stands in its columns "
                    f"{', '.join(map(repr, self.outputs))}."
                )
            return [self._tell(*pair, {}) for pair in self._checked(read_frame(self, trial))]
        return self._tell(trial, self.check(value), dict(info or {}))

    def fail(self, trial: Any, reason: str) -> Trial:
        """Say that a call gave no value, and why: for a trial, its number, or any other point."""
        reason = str(reason) or "no reason given"

        def event() -> Event:
            number = self._number_of(trial)
            if number is not None:
                return Failed(number, reason)
            return Given(len(self._trials), trial, reason=reason)

        return self._record(lambda: [event()])[0]

    def correct(
        self,
        trial: Any,
        value: Any = None,
        info: Mapping[str, Any] | None = None,
        *,
        reason: str = "",
    ) -> Trial:
        """Say anew what became of a trial that has ended. What was said before is kept.

        Args:
            trial: the trial, or its number.
            value: what the function returned in truth.
            info: anything else worth keeping, in place of what was kept.
            reason: why there is no value, in place of one.
        """
        if (value is None) == (not reason):
            raise InvalidData("A correction is a value, or the reason= why there is none.")
        value = None if value is None else self.check(value)
        said = (value, dict(info or {}), str(reason))
        return self._record(lambda: [Corrected(self._trial_number(trial), *said)])[0]

    def withdraw(self, trial: Any) -> Trial:
        """Say that nobody will call the function at a trial. Its point is not asked again."""
        return self._record(lambda: [Withdrawn(self._trial_number(trial))])[0]

    def _tell(self, trial: Any, value: Any, info: Mapping[str, Any]) -> Trial:
        """Say what the function returned, once it is checked."""

        def event() -> Event:
            number = self._number_of(trial)
            if number is not None:
                return Told(number, value, info)
            return Given(len(self._trials), trial, value, info)

        return self._record(lambda: [event()])[0]

    def _record(self, propose: Callable[[], Sequence[Event]]) -> list[Trial]:
        """Apply events, and write them down first if the question keeps a journal."""
        if self._notebook is None:
            return [self.apply(event) for event in propose()]
        events: Any = []
        written = False
        try:
            while not written:
                self.catch_up()
                events = propose()
                # What cannot be applied must not be written.
                ahead = self._ahead()
                for event in events:
                    ahead.apply(event)
                written = self._notebook.write(self, events)
            self.catch_up()
        except JournalFailed as error:
            unread, unwritten = (events, []) if written else ([], events)
            told = with_unwritten(error, self, unread, unwritten)
            raise told from error.__cause__
        return [self._trials[event.trial] for event in events]

    def _number_of(self, trial: Any) -> int | None:
        """The number of a trial that is given as such, by its number, or by its point."""
        if isinstance(trial, Trial) or _is_number(trial):
            return self._trial_number(trial)
        row = rows_of_data(self.space, [trial])[0]
        asked = (t.id for t in self._trials if t.running and self._is_at(t, row))
        return next(asked, None)

    def _is_at(self, trial: Trial, row: np.ndarray) -> bool:
        return bool(np.all(np.abs(self._rows[trial.id] - row) <= _ROUNDING))

    def _is_same(self, trial: Trial, point: Any) -> bool:
        """Whether a point is that of a trial, if it is one of this question at all."""
        try:
            return self._is_at(trial, rows_of_data(self.space, [point])[0])
        except InvalidData:
            return False

    def _trial_number(self, trial: Any) -> int:
        if isinstance(trial, Trial):
            known = self._require(trial.id)
            if known.x is not trial.x and not self._is_same(known, trial.x):
                raise InvalidData(
                    f"{trial!r} is of another question: here trial {known.id} is {known!r}."
                )
            return known.id
        if not _is_number(trial):
            raise InvalidData(f"A trial is one from ask, or its number, got {trial!r}.")
        return self._require(int(trial)).id

    def _checked(self, pairs: Sequence[tuple[int, Any, Any]]) -> list[tuple[Any, Any]]:
        """Points and values of the rows of a frame, all of them checked before any is told."""
        checked = []
        for row, point, value in pairs:
            try:
                rows_of_data(self.space, [point])
                checked.append((point, self.check(value)))
            except InvalidData as error:
                raise InvalidData(f"Row {row} of the frame: {error}") from error
        return checked

    def _is_interrupted(self, trial: Trial) -> bool:
        """Whether nobody runs a trial that has not ended, as far as the journal can see."""
        notebook = self._notebook
        return trial.running and notebook is not None and trial.id in notebook.interrupted

    def _unfinished(self) -> str:
        """How many trials have not ended, in words."""
        interrupted = sum(self._is_interrupted(t) for t in self._trials)
        running = f"{sum(t.running for t in self._trials) - interrupted} running"
        return running + (f", {interrupted} interrupted" if interrupted else "")

    def _ahead(self) -> Any:
        """A copy to think ahead with."""
        ahead = super()._ahead()
        ahead._notebook = None
        return ahead

    def key(self, ahead: int = 0) -> Array:
        """The random key of the next ask, or of one that comes `ahead` asks after it."""
        return numbered_key(self._root, len(self._trials) + ahead)

    def __repr__(self) -> str:
        trials = self._trials
        failed = sum(t.failed for t in trials)
        counts = f"{len(trials)} trials, {self._unfinished()}, {failed} failed"
        parts = f"{len(self.space.names)} parameters"
        kept = f", in {self._notebook}" if self._notebook is not None else ""
        return f"{type(self).__name__}({parts}, seed={self.seed}: {counts}{kept})"


def check_asked(n: Any) -> None:
    """Refuse to be asked for no point, or for what is no number of points."""
    if not _is_number(n):
        raise InvalidData(f"A question is asked for a whole number of points, got {n!r}.")
    if n < 1:
        raise InvalidData(f"A question is asked for at least 1 point, got {n}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
