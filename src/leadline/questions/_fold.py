"""Trials from a list of events.

Whoever applies the same events in the same order has the same trials, bit for bit. What is dear to
compute travels inside the `Asked` events, so applying them again computes nothing.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from leadline.boundary import InvalidData
from leadline.journal import Asked, Corrected, Event, Failed, Given, Told, Widened, Withdrawn
from leadline.questions._domain import as_domain, is_inside, rows_of_data
from leadline.questions._ledger import Ledger
from leadline.questions._trial import Trial


class Fold:
    """The trials of a question, as far as events tell.

    Attributes:
        trial_kind: what its trials are.
        space: where the function may be called: a `Domain`, such as a `Space`.

    Its `numbers` are how many numbers of each call models learn from, see `outcome`.
    """

    trial_kind: ClassVar[type[Trial]] = Trial

    def __init__(self, space: Any, numbers: int):
        self.space: Any = as_domain(space)
        self._trials: list[Trial] = []
        self._rows: list[np.ndarray] = []
        self._ledger = Ledger(self.space.columns, numbers)
        self._state: Mapping[str, np.ndarray] = {}

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Every trial, in the order in which they started."""
        return tuple(self._trials)

    def outcome(self, value: Any) -> dict[str, Any]:
        """The fields of a trial that a checked value fills.

        `numbers` among them is a row of the `ledger`, from which models learn.
        """
        return {"value": value}

    def ledger(self) -> Ledger:
        """What became of the trials: rows of points, and the numbers that calls returned."""
        self._ledger.update(self._trials, self._rows)
        return self._ledger

    def state(self) -> Mapping[str, np.ndarray]:
        """What the last ask computed and the next one starts from."""
        return self._state

    def apply(self, event: Event) -> Any:
        """Add one event to the list; the trial after it, if it is of one."""
        if isinstance(event, Asked | Given):
            return self._start(event)
        if isinstance(event, Widened):
            return self._widen(event.space)
        trial = self._require(event.trial)
        if isinstance(event, Corrected) == trial.running:
            is_not = "has not ended yet" if trial.running else "is finished already"
            hint = "" if trial.running else " `correct` changes what was said of it."
            raise InvalidData(f"Trial {trial.id} {is_not}: {trial!r}.{hint}")
        if isinstance(event, Told):
            done = self.outcome(event.value) | dict(info=event.info, seconds=event.seconds)
        elif isinstance(event, Failed):
            done = dict(reason=event.reason, traceback=event.traceback, seconds=event.seconds)
        elif isinstance(event, Withdrawn):
            done = dict(withdrawn=True)
        else:
            done = self._correction(trial, event)
        self._trials[event.trial] = trial = dataclasses.replace(trial, **done)
        return trial

    def _correction(self, trial: Trial, event: Corrected) -> dict[str, Any]:
        """The fields of a trial that a correction changes."""
        self._ledger.look_again(trial.id)
        earlier = (*trial.earlier, dataclasses.replace(trial, earlier=()))
        said = dict(reason=event.reason, info=event.info or trial.info, earlier=earlier)
        nothing = dict(value=None, numbers=(), traceback="", withdrawn=False)
        return nothing | ({} if event.reason else self.outcome(event.value)) | said

    def _require(self, number: int) -> Trial:
        if not 0 <= number < len(self._trials):
            raise InvalidData(
                f"Trial {number} is unknown: this question has {len(self._trials)} trials."
            )
        return self._trials[number]

    def _start(self, event: Asked | Given) -> Trial:
        if event.trial != len(self._trials):
            raise InvalidData(
                f"Trials start in order: the next is {len(self._trials)}, got {event.trial}."
            )
        asked = isinstance(event, Asked)
        encode = self.space.encode if asked else partial(rows_of_data, self.space)
        row = encode([event.point])[0]
        # The caller's array may change later; the trial must not.
        point = copy.copy(event.point)
        if asked:
            trial = self.trial_kind(event.trial, point, notes=event.notes)
            self._state = event.state or self._state
        else:
            known: dict[str, Any] = {"reason": event.reason}
            if not event.reason:
                known = self.outcome(event.value)
            known |= dict(asked=False, info=event.info, outside=not is_inside(self.space, row))
            trial = self.trial_kind(event.trial, point, **known)
        self._trials.append(trial)
        self._rows.append(row)
        return trial

    def _widen(self, space: Mapping[str, Any]) -> None:
        """Ask in a larger space from now on, of which this is the description."""
        if self.space.describe() != space:
            self.space = type(self.space).from_description(space, self.space.constraint)
        self._rows = [rows_of_data(self.space, [trial.x])[0] for trial in self._trials]
        self._trials = [
            dataclasses.replace(trial, outside=not is_inside(self.space, row))
            for trial, row in zip(self._trials, self._rows, strict=True)
        ]
        # Hyper-parameters are in units of the space.
        self._state, self._ledger = {}, self._ledger.empty()

    def _ahead(self) -> Any:
        """A copy to think ahead with."""
        ahead = copy.copy(self)
        ahead._trials, ahead._rows = list(self._trials), list(self._rows)
        ahead._ledger = self._ledger.copy()
        return ahead
