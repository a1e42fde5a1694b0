"""Campaigns: a question run against a real function, with workers, a journal and failures."""

from leadline.campaign._failures import CallsFailed, ExecutorFailed
from leadline.campaign._load import load, load_question
from leadline.campaign._loop import run
from leadline.campaign._options import CampaignOptions
from leadline.campaign._verbs import integrate, maximize, minimize
from leadline.journal import Journal, JournalFailed, MemoryJournal, open_journal

__all__ = [
    "CallsFailed",
    "CampaignOptions",
    "ExecutorFailed",
    "Journal",
    "JournalFailed",
    "MemoryJournal",
    "integrate",
    "load",
    "load_question",
    "maximize",
    "minimize",
    "open_journal",
    "run",
]
