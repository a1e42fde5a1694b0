"""Calls that run: started in a pool, and waited for together.

A call that takes too long is given up where it cannot be ended. It may still return; then its value
is late.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple

from leadline.campaign._failures import CallFailed
from leadline.campaign._pool import Pool


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a call.

    Attributes:
        trial: whose call it was.
        value: what the function returned.
        error: why it returned nothing.
        seconds: how long it took.
        late: whether it had been given up before.
    """

    trial: int
    value: Any = None
    error: BaseException | None = None
    seconds: float | None = None
    late: bool = False


class _Running(NamedTuple):
    future: Future
    start: float


class _Ended(NamedTuple):
    trial: int
    future: Future
    seconds: float


class Calls:
    """The calls of one function in one pool.

    Nothing here keeps a future once its call has ended. Dask holds the value of a call as long as
    there is a future for it, and makes the call again if the worker that has the value dies.
    """

    def __init__(self, f: Callable, pool: Pool):
        self._f, self._pool = f, pool
        self._running: dict[int, _Running] = {}
        # Trials whose calls may still return, but are not waited for.
        self._given_up: set[int] = set()
        self._withdrawn: set[int] = set()
        # The executor's threads put calls here as they end, and ring.
        self._ended: collections.deque[_Ended] = collections.deque()
        self._bell = threading.Event()

    @property
    def running(self) -> frozenset[int]:
        """The trials whose calls are waited for."""
        return frozenset(self._running)

    @property
    def free(self) -> int:
        """How many more calls may start."""
        return self._pool.slots - len(self._running)

    def start(self, trial: int, point: Any) -> None:
        """Call the function at a copy of the point: what it does to its argument is its own."""
        start = time.perf_counter()
        future = self._pool.submit(self._f, copy.deepcopy(point))
        self._running[trial] = _Running(future, start)
        future.add_done_callback(functools.partial(self._end, trial, start))

    def wait(self, seconds: float) -> None:
        """Until a call has ended or is past its time, and no longer than so many seconds.

        An interrupt here loses nothing: what ended stays where it is until `collect`.
        """
        limit = self._pool.timeout
        if limit is not None and self._running:
            first = min(call.start for call in self._running.values())
            seconds = min(seconds, max(0.0, first + limit - time.perf_counter()))
        self._bell.wait(seconds)

    def collect(self) -> list[Outcome]:
        """What became of calls since the last time: they ended, or they are given up now."""
        self._bell.clear()
        outcomes = []
        while self._ended:
            ended = self._ended.popleft()
            self._running.pop(ended.trial, None)
            if ended.trial not in self._withdrawn:
                outcomes.append(_outcome(ended, late=ended.trial in self._given_up))
        return outcomes + list(self._give_up())

    def withdraw(self) -> None:
        """Take back the calls that have not begun."""
        for trial, call in list(self._running.items()):
            if call.future.cancel():
                self._withdrawn.add(trial)

    def _end(self, trial: int, start: float, future: Future) -> None:
        self._ended.append(_Ended(trial, future, time.perf_counter() - start))
        self._bell.set()

    def _give_up(self) -> Iterator[Outcome]:
        """Calls past their time."""
        limit, now = self._pool.timeout, time.perf_counter()
        if limit is None:
            return
        for trial, call in list(self._running.items()):
            # A call that ended is on its way here, whatever the clock says.
            if now - call.start < limit or call.future.done():
                continue
            self._given_up.add(trial)
            del self._running[trial]
            call.future.cancel()
            reason = f"took longer than timeout={limit:g} s and was given up"
            yield Outcome(trial, error=CallFailed(reason), seconds=now - call.start)


def _outcome(ended: _Ended, late: bool) -> Outcome:
    future = ended.future
    # Worker processes measure the call itself, without the way there and back.
    seconds = getattr(future, "seconds", ended.seconds)
    if future.cancelled():
        error: BaseException | None = CallFailed("was cancelled by the executor")
    else:
        error = future.exception()
    value = future.result() if error is None else None
    return Outcome(ended.trial, value, error, seconds, late)
