"""The journal of a question that is asked and told by hand.

Every ask, tell and fail is on disk before the question knows of it, and what others wrote meanwhile
is read first. So several people may hold a question each on one journal, and a campaign that runs a
function may take part.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from leadline.boundary import InvalidData
from leadline.journal import (
    Asked,
    Corrected,
    End,
    Event,
    Given,
    Journal,
    JournalFailed,
    Start,
    are_same,
    open_journal,
    shown_place,
)

if TYPE_CHECKING:
    from leadline.questions._question import Question


class Notebook:
    """A journal, and how far a question has read it.

    Args:
        journal: a file, a database URL or a `Journal`.
        last: the last event that the question knows, with its number; None if it knows none.

    Attributes:
        interrupted: trials whose process was gone when the journal was read last, see `Journal`.
    """

    def __init__(self, journal: str | os.PathLike | Journal, last: tuple[int, Event] | None = None):
        self._where, self._last = journal, last
        self.interrupted: set[int] = set()
        self._journal: Journal | None = None
        # Whether it may be written to, and whether its settings are known to be the question's.
        self._ready = self._same = False

    def begin(self, question: Question) -> None:
        """Make the journal, or go on with it: its settings are those of the question."""
        self._open().open(question.settings())
        self._ready = self._same = True

    def news(self) -> list[Event]:
        """What was written since the last time."""
        journal = self._journal or open_journal(self._where)
        try:
            if not self._ready:
                self._check_same(journal)
            events = journal.read(self._last[0] if self._last else 0)
            self.interrupted = journal.interrupted()
        finally:
            # Who only looks leaves nothing open.
            if journal is not self._journal and journal is not self._where:
                journal.close()
        if events:
            self._last = events[-1]
        return [event for _, event in events]

    def write(self, question: Question, events: Sequence[Start | End | Corrected]) -> bool:
        """Write events of one kind; False, and nothing is written, if somebody was faster."""
        first = events[0]
        if isinstance(first, Asked) and not self._same:
            # What is asked depends on all of the settings; other events only need their trial.
            self.begin(question)
        journal = self._open()
        if not self._ready:
            journal.open(journal.settings())
            self._ready = True
        if isinstance(first, Asked):
            # No process runs these, and whoever does may be gone for weeks.
            asks = [event for event in events if isinstance(event, Asked)]
            return journal.claim(asks, ours=False)
        if isinstance(first, Given):
            return journal.give(first)
        if isinstance(first, Corrected):
            return journal.correct(first)
        return journal.finish(first)

    def close(self) -> None:
        """Let go of the journal, which is opened again when it is needed."""
        if self._journal is not None and self._journal is not self._where:
            self._journal.close()
        self._journal, self._ready, self._same = None, False, False

    def _check_same(self, journal: Journal) -> None:
        """Raise `JournalFailed` if this is not the journal that was read before.

        While it was closed, somebody may have deleted it, and begun another one in its place.
        """
        if self._last is None:
            journal.settings()
            return
        number, event = self._last
        try:
            journal.settings()
        except InvalidData as error:
            raise JournalFailed(str(error)) from error
        there = dict(journal.read(number - 1)[:1])
        if number not in there or not are_same(there[number], event):
            raise JournalFailed(
                f"{journal} is not the one that was read before: another one took its place."
            )

    def _open(self) -> Journal:
        if self._journal is None:
            self._journal = open_journal(self._where)
        return self._journal

    def __str__(self) -> str:
        where = self._journal or self._where
        name = str(where) if isinstance(where, Journal) else f"the journal {shown_place(where)}"
        return name[0].lower() + name[1:]

    def __getstate__(self) -> dict[str, Any]:
        raise InvalidData("A question that keeps a journal cannot be copied to another process.")
