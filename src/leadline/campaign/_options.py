"""How a campaign runs: the options that every verb takes, checked once."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import math
import os
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

import numpy as np

from leadline.boundary import InvalidData, as_choice, did_you_mean, shorten
from leadline.journal import Journal, shown_journal
from leadline.questions import Trial

EXECUTORS = ("threads", "processes")


class Options(TypedDict, total=False):
    """What every verb takes beside its own arguments; `CampaignOptions` says what each means."""

    executor: str | concurrent.futures.Executor | None
    workers: int | None
    batch: int | None
    journal: str | os.PathLike | Journal | None
    timeout: float | None
    seconds: float | None
    progress: bool | None
    callback: Callable[[Trial], Any] | None
    rerun: bool
    lease: float
    given: Any
    vectorized: bool
    max_failures: int | None


@dataclasses.dataclass(frozen=True)
class CampaignOptions:
    """How a campaign runs; `CampaignOptions.of` checks what a caller gives.

    Attributes:
        budget: how many calls are started, failures included and those of earlier runs on the same
            journal too.
        executor: where the function is called. None: in the calling thread, or in threads if
            `workers`, `batch` or `timeout` ask for them; "threads"; "processes" (a call can be
            ended, and a crash is one failed trial); or any `concurrent.futures.Executor`.
        workers: how many calls run at once.
        batch: ask for so many points jointly, and wait for all of them before the next round.
        journal: a file, a database URL or a `Journal` that keeps every trial; the same call
            continues where it stopped.
        timeout: seconds after which one call is a failed trial.
        seconds: no call starts after so many seconds of this run; calls that run are awaited.
        progress: show a progress bar; None: if standard error is a terminal.
        callback: called with each trial that this process finished; True ends the campaign.
        rerun: call again what was running when its process ended; False: such a trial has failed.
        lease: seconds without a sign of life after which another host's calls are taken over.
        given: data that one already has: pairs (point, what the function returned there), a frame
            with the columns of `to_frame`, or another journal. They are told before the first ask,
            once for each journal, and are no calls of the budget.
        vectorized: the function takes several points at once, an array (b, d), or a list where
            points are no arrays, and returns b values. A call is for a round of `batch` points,
            which `workers` share evenly, or for one point. All of its points fail if it raises, is
            past its `timeout` or returns another number of values. `budget` counts points, and the
            `seconds` of a trial are its equal share of those of the call.
        max_failures: while there is no value yet, so many trials in a row that fail the same way
            end the campaign with an error; None: nothing does. The same way is with the same type
            of error, or the same text before its first colon but for numbers. Trials of earlier
            runs on the same journal count, but a failure of this run is the last one. Calls that
            run are awaited, and a value of theirs, or among the data given, lets it go on.
    """

    budget: int
    executor: str | concurrent.futures.Executor | None = None
    workers: int | None = None
    batch: int | None = None
    journal: str | os.PathLike | Journal | None = None
    timeout: float | None = None
    seconds: float | None = None
    progress: bool | None = None
    callback: Callable[[Trial], Any] | None = None
    rerun: bool = True
    lease: float = 60.0
    given: Any = None
    vectorized: bool = False
    max_failures: int | None = 10

    def __repr__(self) -> str:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        # Both may be URLs with a password.
        shown = {name: shown_journal(fields[name]) for name in ("journal", "given")}
        parts = [f"{name}={shown.get(name, repr(value))}" for name, value in fields.items()]
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def calls_of_a_round(self) -> int | None:
        """How many calls a round is, unless workers share it; None without rounds."""
        return 1 if self.batch and self.vectorized else self.batch

    @classmethod
    def of(cls, budget: Any, options: Mapping[str, Any]) -> CampaignOptions:
        """Options as a caller gives them, checked.

        Raises:
            TypeError: an option is unknown; the nearest known name is in the message.
        """
        known = [field.name for field in dataclasses.fields(cls) if field.name != "budget"]
        for name in options:
            if name not in known:
                raise TypeError(
                    f"There is no option {name!r}.{did_you_mean(name, known)} Options are "
                    f"{', '.join(known)}."
                )
        checked = {"budget": _count("budget", budget), **options}
        for name, as_number in _NUMBERS.items():
            if options.get(name) is not None:
                checked[name] = as_number(name, options[name])
        _check_executor(options.get("executor"))
        callback = options.get("callback")
        if callback is not None and not callable(callback):
            raise InvalidData(f"callback must be a function, got {shorten(callback)}.")
        vectorized = options.get("vectorized", False)
        if not isinstance(vectorized, bool | np.bool_):
            raise InvalidData(f"vectorized must be True or False, got {shorten(vectorized)}.")
        return cls(**checked)


def _count(name: str, value: Any) -> int:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < 1:
        raise InvalidData(f"{name} must be a positive whole number, got {shorten(value)}.")
    return int(value)


def _duration(name: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not 0.0 < value < math.inf:
        raise InvalidData(f"{name} must be a positive number of seconds, got {shorten(value)}.")
    return float(value)


_NUMBERS = {
    "workers": _count,
    "batch": _count,
    "max_failures": _count,
    "timeout": _duration,
    "seconds": _duration,
    "lease": _duration,
}


def _check_executor(executor: Any) -> None:
    if isinstance(executor, str):
        as_choice(executor, EXECUTORS, "executor")
    elif executor is not None and not isinstance(executor, concurrent.futures.Executor):
        raise InvalidData(
            f"executor must be None, one of {', '.join(map(repr, EXECUTORS))} or a "
            f"concurrent.futures.Executor, got {shorten(executor)}."
        )
