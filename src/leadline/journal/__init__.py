"""What happened to a question: events, and where they are kept, in memory or in a database."""

from leadline.journal._events import (
    Asked,
    Corrected,
    End,
    Event,
    Failed,
    Given,
    Start,
    Told,
    Widened,
    Withdrawn,
)
from leadline.journal._failed import JournalFailed
from leadline.journal._journal import Journal, open_journal
from leadline.journal._memory import MemoryJournal
from leadline.journal._shown import shown_journal, shown_place
from leadline.journal._stored import are_same

__all__ = [
    "Asked",
    "Corrected",
    "End",
    "Event",
    "Failed",
    "Given",
    "Journal",
    "JournalFailed",
    "MemoryJournal",
    "Start",
    "Told",
    "Widened",
    "Withdrawn",
    "are_same",
    "open_journal",
    "shown_journal",
    "shown_place",
]
