"""The journal: what happened in a campaign, in memory or in a database."""

from leadline.campaign.journal._journal import Journal, open_journal
from leadline.campaign.journal._memory import MemoryJournal

__all__ = ["Journal", "MemoryJournal", "open_journal"]
