"""Who runs a trial, and whether they still can.

An owner is one journal object in one process. On the same host its process can be looked up: a
process that is gone, or whose number now belongs to another process, runs nothing. Elsewhere only
the heartbeat tells (see `Watch`).

Times of processes are seconds after the start of the machine where the operating system counts so
(Linux): the wall clock may be set while a process runs.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import sys
import uuid
from collections.abc import Callable
from typing import Any

import psutil

# Tokens of the journals that are in use in this process.
LIVE: set[str] = set()
# The start of the machine is known to a second, and each look may round it otherwise.
_SAME_START = 2.0


@dataclasses.dataclass(frozen=True)
class Owner:
    """One journal object of one process.

    Attributes:
        token: unique to the journal object.
        host: the machine; containers that see other processes are other hosts.
        pid: the number of the process.
        born: when the process started, in seconds.
    """

    token: str
    host: str
    pid: int
    born: float

    def alive(self) -> bool | None:
        """Whether the owner can still run trials; None if that cannot be seen from here."""
        if self.host != this_host():
            return None
        if not psutil.pid_exists(self.pid):
            return False
        try:
            process = psutil.Process(self.pid)
            # A killed process stays in the table until its parent has looked.
            gone = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
            born = _born(process)
        # It is there (see above) and hidden from this user, or it went just now.
        except psutil.Error:
            return None
        if gone or abs(born - self.born) > _SAME_START:
            return False
        return self.pid != os.getpid() or self.token in LIVE


def new_owner() -> Owner:
    """An owner for a journal of this process."""
    return Owner(uuid.uuid4().hex, this_host(), os.getpid(), _born(psutil.Process()))


def this_host() -> str:
    """The name of the machine, and of the set of processes that can be seen from here."""
    try:
        # Containers may share the name of their machine, but number their processes anew.
        processes = f"/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        processes = ""
    return socket.gethostname() + processes


def _born(process: psutil.Process) -> float:
    if sys.platform == "linux":
        return process.create_time() - psutil.boot_time()
    return process.create_time()


class Watch:
    """How long owners have given no sign of life, by the clock of this process.

    A sign of life is compared only with the last one of the same owner that this process saw. So
    the clocks of two hosts need not agree, and an owner that was silent for hours before this
    process first looked is given a whole lease again.
    """

    def __init__(self, clock: Callable[[], float]):
        self._clock = clock
        self._seen: dict[str, tuple[Any, float]] = {}

    def silence(self, token: str, sign: Any) -> float:
        """Seconds for which `sign` has been the owner's last, as seen from here."""
        now = self._clock()
        last, since = self._seen.get(token, (None, now))
        if last != sign:
            self._seen[token] = (sign, now)
            return 0.0
        return now - since
