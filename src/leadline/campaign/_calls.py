"""Calls that run: handed to a pool, and waited for together.

A call that takes too long is given up where it cannot be ended. It may still return; then its value
is late. Its time counts from when it was first seen to have begun: what waits in the queue of
somebody else's executor takes no time.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, NamedTuple

from leadline.campaign._failures import CallFailed, explain
from leadline.campaign._outcomes import Outcome
from leadline.campaign._pool import Pool
from leadline.campaign._tasks import Tasks

# Whose call it is: the numbers of its trials.
Trials = tuple[int, ...]


# Looks at whether a call has begun, in the time that it may take.
_LOOKS = 20


@dataclasses.dataclass
class _Running:
    """A call that is waited for; `start` is when it was first seen to have begun."""

    future: Future
    begun: Callable[[], bool]
    submitted: float
    start: float | None

    def seconds(self, end: float) -> float:
        """How long it took, if it ended then."""
        return end - (self.submitted if self.start is None else self.start)


class _Ended(NamedTuple):
    trials: Trials
    future: Future
    time: float


class Calls:
    """The calls of one function in one pool, each for a task of one trial or several.

    Nothing here keeps a future once its call has ended. Dask holds the value of a call as long as
    there is a future for it, and makes the call again if the worker that has the value dies.
    """

    def __init__(self, f: Callable, pool: Pool, tasks: Tasks):
        self._f, self._pool, self._tasks = f, pool, tasks
        self._running: dict[Trials, _Running] = {}
        # Calls that may still return, but are not waited for.
        self._given_up: set[Trials] = set()
        self._withdrawn: set[Trials] = set()
        # The executor's threads put calls here as they end, and ring.
        self._ended: collections.deque[_Ended] = collections.deque()
        self._bell = threading.Event()

    @property
    def running(self) -> frozenset[int]:
        """The trials whose calls are waited for."""
        return frozenset(itertools.chain.from_iterable(self._running))

    @property
    def free(self) -> int:
        """How many more trials may start."""
        return self._free_slots * self._tasks.most

    def deal(self, trials: int) -> list[int]:
        """How many of so many trials each call takes that may start now: nearly the same."""
        trials = min(trials, self.free)
        calls = min(trials, self._free_slots)
        each, more = divmod(trials, calls) if calls else (0, 0)
        return [each + (i < more) for i in range(calls)]

    def start(self, task: list[tuple[int, Any]]) -> None:
        """Call the function for trials, which are given with their points."""
        trials = tuple(trial for trial, _ in task)
        argument = self._tasks.argument([point for _, point in task])
        submitted = time.perf_counter()
        future, begun = self._pool.submit(self._f, argument)
        # Where nothing waits, a call begins as it is handed in.
        start = submitted if begun() else None
        self._running[trials] = _Running(future, begun, submitted, start)
        future.add_done_callback(functools.partial(self._end, trials))

    def wait(self, seconds: float) -> None:
        """Until a call has ended or is past its time, and no longer than so many seconds.

        An interrupt here loses nothing: what ended stays where it is until `collect`.
        """
        limit = self._pool.timeout
        if limit is not None and self._running:
            self._look()
            starts = [call.start for call in self._running.values()]
            if None in starts:
                seconds = min(seconds, limit / _LOOKS)
            first = min((start for start in starts if start is not None), default=math.inf)
            seconds = min(seconds, max(0.0, first + limit - time.perf_counter()))
        self._bell.wait(seconds)

    def collect(self) -> list[Outcome]:
        """What became of trials since the last time: calls ended, or they are given up now."""
        self._bell.clear()
        outcomes = []
        while self._ended:
            ended = self._ended.popleft()
            call = self._running.pop(ended.trials, None)
            if ended.trials not in self._withdrawn:
                outcomes += self._outcomes(ended, call and call.seconds(ended.time))
        return outcomes + self._give_up()

    def withdraw(self) -> None:
        """Take back the calls that have not begun."""
        for trials, call in list(self._running.items()):
            if call.future.cancel():
                self._withdrawn.add(trials)

    @property
    def _free_slots(self) -> int:
        return self._pool.slots - len(self._running)

    def _look(self) -> None:
        """Note which calls have begun."""
        for call in self._running.values():
            if call.start is None and call.begun():
                call.start = time.perf_counter()

    def _end(self, trials: Trials, future: Future) -> None:
        self._ended.append(_Ended(trials, future, time.perf_counter()))
        self._bell.set()

    def _outcomes(self, ended: _Ended, seconds: float | None) -> list[Outcome]:
        """What became of the trials of a call that ended, and took so many seconds as seen here."""
        trials, future = ended.trials, ended.future
        late = trials in self._given_up
        values: list[Any] = [None] * len(trials)
        if future.cancelled():
            error: BaseException | None = CallFailed("was cancelled by the executor")
        else:
            error = future.exception()
        # A call that was measured where it ran has taken no time for the way there and back.
        if error is None:
            returned = future.result()
            if self._pool.timed:
                seconds, returned = returned
            values, error = self._values(returned, len(trials))
        elif isinstance(error, CallFailed) and error.seconds is not None:
            seconds = error.seconds
        share = None if seconds is None else seconds / len(trials)
        pairs = zip(trials, values, strict=True)
        return [Outcome(trial, value, error, share, late) for trial, value in pairs]

    def _values(self, returned: Any, trials: int) -> tuple[list[Any], BaseException | None]:
        """The value of each trial, or an error."""
        try:
            return self._tasks.values(returned, trials), None
        except Exception as error:
            # As text: a traceback would keep the frames of our caller, and those the future.
            return [None] * trials, explain(error).with_traceback(None)

    def _give_up(self) -> list[Outcome]:
        """Calls past their time."""
        limit, now = self._pool.timeout, time.perf_counter()
        if limit is None:
            return []
        outcomes = []
        for trials, call in list(self._running.items()):
            # A call that ended is on its way here, whatever the clock says.
            if call.start is None or now - call.start < limit or call.future.done():
                continue
            self._given_up.add(trials)
            del self._running[trials]
            call.future.cancel()
            error = CallFailed(f"took longer than timeout={limit:g} s and was given up")
            share = call.seconds(now) / len(trials)
            outcomes += [Outcome(trial, error=error, seconds=share) for trial in trials]
        return outcomes
