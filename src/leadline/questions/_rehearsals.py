"""Programs of coming asks, made in the background while the function is called.

A question knows what its asks will compute long before it has the data: they are rehearsed with
made-up data of the right size (`leadline.numerics.rehearsing`), in a thread of their own, and other
threads make the programs that turn up, several at a time. An ask that needs one which is not ready
waits for it, or makes it itself if nobody has begun. So a rehearsal decides when a program is made,
and never which one: answers do not depend on it. What goes wrong in it is not reported: the ask
that meets the same will say so.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor

from leadline.numerics import refuse_forks, rehearsing

# Programs that are made at once. Some of the work holds Python's lock, and asks want it too.
_MAKERS = max(3, min(6, os.cpu_count() or 1))
# Seconds between two asks after which there is time for what may not be needed.
_LONG = 0.1


# What was rehearsed to its end in this process: its programs are made, or being made.
_done: set[Hashable] = set()


class Rehearsals:
    """What was rehearsed, and the threads that do it; there are none before the first."""

    def __init__(self) -> None:
        self._known: set[Hashable] = set()
        self._pools: tuple[ThreadPoolExecutor, ThreadPoolExecutor] | None = None
        self._asked_at, self._patient = math.inf, False

    def asked(self) -> None:
        """Take note that an ask has ended."""
        self._asked_at = time.monotonic()

    def patient(self) -> bool:
        """Whether it ever took long from an ask to the next."""
        self._patient |= time.monotonic() - self._asked_at > _LONG
        return self._patient

    def rehearse(self, name: Hashable, act: Callable[[], object]) -> None:
        """Rehearse `act` in the background, unless something of this name was.

        It must not touch anything that changes. Where the programs could not run, that is an error
        now, and not when the function has been called for them.
        """
        refuse_forks()
        if name in self._known or name in _done:
            return
        self._known.add(name)
        if self._pools is None:
            stage = ThreadPoolExecutor(1, "leadline-rehearsal")
            self._pools = stage, ThreadPoolExecutor(_MAKERS, "leadline-maker")
        stage, makers = self._pools
        stage.submit(_rehearse, name, act, makers)

    def close(self) -> None:
        """End the threads: at once, or when they are done with the program that they are at."""
        for pool in self._pools or ():
            pool.shutdown(wait=False, cancel_futures=True)
        self._pools = None

    def __getstate__(self) -> dict:
        # Threads neither copy nor travel.
        return vars(Rehearsals())


def forget_rehearsals() -> None:
    """Rehearse again what was rehearsed: for a process that has forgotten its programs."""
    _done.clear()


def _rehearse(name: Hashable, act: Callable[[], object], makers: ThreadPoolExecutor) -> None:
    # A process that ends has no use for programs.
    if threading.main_thread().is_alive():
        with contextlib.suppress(Exception), rehearsing(makers):
            act()
            _done.add(name)
