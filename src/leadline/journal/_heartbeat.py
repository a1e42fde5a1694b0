"""A sign of life at intervals, from a thread of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable


class Heartbeat:
    """Calls `beat` every `interval` seconds between `start` and `stop`.

    A beat that fails is left out: a locked database must not end a campaign. The thread never
    keeps the interpreter from ending.
    """

    def __init__(self, beat: Callable[[], None], interval: float):
        self._beat = beat
        self._interval = interval
        self._stopped: threading.Event | None = None

    def start(self) -> None:
        """Begin, unless it beats already."""
        if self._stopped is None:
            self._stopped = threading.Event()
            threading.Thread(
                target=_run,
                args=(self._beat, self._interval, self._stopped),
                name="leadline-heartbeat",
                daemon=True,
            ).start()

    def stop(self) -> None:
        """No beat begins after this."""
        if self._stopped is not None:
            self._stopped.set()
            self._stopped = None


def _run(beat: Callable[[], None], interval: float, stopped: threading.Event) -> None:
    while not stopped.wait(interval):
        with contextlib.suppress(Exception):
            beat()
