"""The contract of a journal: what happened in a campaign, on disk before anybody relies on it.

A journal is an ordered list of events, numbered 1, 2, 3, ... as they were written, and the trials
that run now with who runs them. A question that applies the events in their order is the question
of every other process that did. Several processes may use one journal at the same time.

All methods are called from one thread for each journal object. What was open and cannot be read or
written any more raises `JournalFailed`.
"""

from __future__ import annotations

import abc
import os
from typing import Any

from leadline.boundary import InvalidData
from leadline.journal._events import Asked, Corrected, End, Event, Given, Told


class Journal(abc.ABC):
    """Where a campaign keeps its events."""

    @abc.abstractmethod
    def open(self, settings: dict[str, Any]) -> None:
        """Begin, or go on: the first time stores the settings, later ones must be the same.

        Only a space may be wider than before, see `leadline.spaces.is_wider`: then a `Widened` is
        added, and the settings are the new ones from now on.
        """

    @abc.abstractmethod
    def settings(self) -> dict[str, Any]:
        """The settings of the campaign, for those who only look: without `open`, all in here stays.

        Raises:
            InvalidData: there is no campaign.
        """

    @abc.abstractmethod
    def read(self, after: int) -> list[tuple[int, Event]]:
        """The events with a number above `after`, in order, with their numbers."""

    @abc.abstractmethod
    def claim(self, asks: list[Asked], ours: bool = True) -> bool:
        """Start trials, all or none.

        Args:
            asks: in the order of their numbers.
            ours: whether this process runs them; otherwise they are free for anybody.

        Returns:
            True once the asks are on disk; False if somebody else took one of the trial numbers.
        """

    @abc.abstractmethod
    def give(self, event: Given) -> bool:
        """Add data that nobody asked for; returns as `claim` does."""

    @abc.abstractmethod
    def finish(self, event: End) -> bool:
        """End a trial, whoever runs it.

        Returns:
            True once the event is on disk; False if the trial was finished already: then nothing
            changed.
        """

    @abc.abstractmethod
    def correct(self, event: Corrected) -> bool:
        """Say anew what became of a trial; False, and nothing changed, if it has not ended."""

    @abc.abstractmethod
    def late(self, event: Told) -> None:
        """Keep a value that came after its trial was given up; `read` never returns it."""

    @abc.abstractmethod
    def adopt(self, limit: int) -> list[int]:
        """Take over at most `limit` unfinished trials that nobody runs any more; they are ours."""

    @abc.abstractmethod
    def mine(self) -> set[int]:
        """The unfinished trials that are ours."""

    @abc.abstractmethod
    def interrupted(self) -> set[int]:
        """The unfinished trials that were called, by a process that can be seen to be gone."""

    @abc.abstractmethod
    def unfinished(self) -> int:
        """How many trials are not finished, ours and those of others."""

    @abc.abstractmethod
    def release(self) -> None:
        """Leave: our unfinished trials are free for anybody at once."""

    @abc.abstractmethod
    def close(self) -> None:
        """Leave, and let go of files and connections."""


def check_next(asks: list[Asked] | list[Given], trials: int) -> bool:
    """Whether the events start the next trials after the first `trials`; False: too late."""
    numbers = [event.trial for event in asks]
    first = numbers[0] if numbers else -1
    if not 0 <= first <= trials or numbers != list(range(first, first + len(numbers))):
        raise InvalidData(
            f"Trials start in order and without gaps: the next is {trials}, got {numbers}."
        )
    return first == trials


def check_started(trial: int, trials: int) -> None:
    """Raise `InvalidData` unless the trial is one of the first `trials`."""
    if not 0 <= trial < trials:
        raise InvalidData(f"Trial {trial} never started: there are {trials} trials.")


def open_journal(journal: str | os.PathLike | Journal | None, lease: float | int = 60.0) -> Journal:
    """The journal for what a caller may say.

    Args:
        journal: None for one in memory; a path of an SQLite file; a database URL; a journal.
        lease: seconds without a sign of life after which trials of another host are taken over.
    """
    from leadline.journal._memory import MemoryJournal

    if isinstance(journal, Journal):
        return journal
    if journal is None:
        return MemoryJournal()
    if not isinstance(journal, str | os.PathLike):
        raise InvalidData(
            "journal must be a path, a database URL, a Journal or None, "
            f"got {type(journal).__name__}."
        )
    from leadline.journal._database import DatabaseJournal

    return DatabaseJournal(journal, lease)
