"""A journal in memory: for campaigns that end with their process."""

from __future__ import annotations

from typing import Any

from leadline.boundary import InvalidData
from leadline.journal._events import Asked, Corrected, End, Event, Given, Told, Widened
from leadline.journal._journal import Journal, check_next, check_started
from leadline.journal._settings import check_same_settings, widens
from leadline.journal._stored import restore_settings, store_settings


class MemoryJournal(Journal):
    """Events in a list; they are the objects that were given, `info` included."""

    def __init__(self):
        self._settings: dict[str, Any] | None = None
        self._events: list[Event] = []
        self._late: list[Told] = []
        self._trials = 0
        # Unfinished trials, and whether somebody runs them.
        self._running: dict[int, bool] = {}
        # Those among them that were released.
        self._released: set[int] = set()

    def open(self, settings: dict[str, Any]) -> None:
        """Begin, or go on with the same settings."""
        settings = restore_settings(store_settings(settings))
        if self._settings is not None:
            if widens(self._settings, settings):
                self._events.append(Widened(settings["space"]))
            else:
                check_same_settings(self._settings, settings, "The journal")
        self._settings = settings

    def __str__(self) -> str:
        return "The journal in memory"

    def settings(self) -> dict[str, Any]:
        """The settings that the journal was opened with."""
        if self._settings is None:
            raise InvalidData("The journal was not opened yet.")
        return self._settings

    def read(self, after: int) -> list[tuple[int, Event]]:
        """The events with a number above `after`."""
        return list(enumerate(self._events[after:], start=after + 1))

    def claim(self, asks: list[Asked], ours: bool = True) -> bool:
        """Start trials; False if their numbers are taken."""
        if not check_next(asks, self._trials):
            return False
        self._running |= dict.fromkeys((ask.trial for ask in asks), ours)
        self._events += asks
        self._trials += len(asks)
        return True

    def give(self, event: Given) -> bool:
        """Add data that nobody asked for; False if its number is taken."""
        if not check_next([event], self._trials):
            return False
        self._events.append(event)
        self._trials += 1
        return True

    def finish(self, event: End) -> bool:
        """End a trial; False if it was finished already."""
        if event.trial not in self._running:
            check_started(event.trial, self._trials)
            return False
        del self._running[event.trial]
        self._events.append(event)
        return True

    def correct(self, event: Corrected) -> bool:
        """Say anew what became of a trial; False if it has not ended."""
        check_started(event.trial, self._trials)
        if event.trial in self._running:
            return False
        self._events.append(event)
        return True

    def late(self, event: Told) -> None:
        """Keep a value that came too late."""
        self._late.append(event)

    def adopt(self, limit: int) -> list[int]:
        """Take over trials that were released."""
        free = sorted(trial for trial, ours in self._running.items() if not ours)[:limit]
        self._running |= dict.fromkeys(free, True)
        self._released -= set(free)
        return free

    def mine(self) -> set[int]:
        """The unfinished trials that were not released."""
        return {trial for trial, ours in self._running.items() if ours}

    def interrupted(self) -> set[int]:
        """The unfinished trials that were released."""
        return self._released & self._running.keys()

    def unfinished(self) -> int:
        """How many trials are not finished."""
        return len(self._running)

    def release(self) -> None:
        """Free the unfinished trials."""
        self._released |= self.mine()
        self._running = dict.fromkeys(self._running, False)

    def close(self) -> None:
        """Free the unfinished trials; the events stay."""
        self.release()
