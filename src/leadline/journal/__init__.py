"""What happened to a question: events, and where they are kept, in memory or in a database."""

from leadline.journal._events import Asked, Event, Failed, Given, Told
from leadline.journal._journal import Journal, open_journal
from leadline.journal._memory import MemoryJournal

__all__ = [
    "Asked",
    "Event",
    "Failed",
    "Given",
    "Journal",
    "MemoryJournal",
    "Told",
    "open_journal",
]
