"""What the method knew when it asked: dear to compute, and only in the journal."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from leadline.journal import Asked, open_journal


def states(journal: str) -> dict[int, Mapping[str, Any]]:
    """What was computed for the ask of each trial, such as hyper-parameters, by their numbers."""
    with contextlib.closing(open_journal(journal)) as opened:
        # Who only looks begins with it: it finds a way where nothing may be written.
        opened.settings()
        events = opened.read(0)
    return {event.trial: event.state for _, event in events if isinstance(event, Asked)}
