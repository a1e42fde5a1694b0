"""What is lost when a journal fails: said in the error, so that nothing of it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from leadline.boundary import InvalidData, shorten
from leadline.journal import Event, JournalFailed

if TYPE_CHECKING:
    from leadline.questions._question import Question


def with_unwritten(
    error: JournalFailed, question: Question, unread: Sequence[Event], unwritten: Sequence[Event]
) -> JournalFailed:
    """The error of a journal, with what this process knows to be in it, and what is not.

    Args:
        error: what the journal said.
        question: how far the journal was read.
        unread: events that are in the journal and were not read back.
        unwritten: those that could not be written.
    """
    ahead, lost = question._ahead(), []
    for event in unread:
        ahead.apply(event)
    trials = ahead.trials
    for event in unwritten:
        try:
            lost.append(repr(ahead.apply(event)))
        # A value of a trial that had been given up.
        except InvalidData:
            lost.append(f"too late, {shorten(event)}")
    ended = sum(not trial.running for trial in trials)
    text = f"{error} {len(trials)} trials had been written to it, {ended} of which have ended."
    if lost:
        text += f" Not written: {', '.join(lost)}."
    return JournalFailed(text, ahead.trials)
