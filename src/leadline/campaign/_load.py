"""The question of a journal, whichever verb it is of."""

from __future__ import annotations

import os
from typing import Any

from leadline.journal import Journal, open_journal
from leadline.questions import question_from_settings


def load(journal: str | os.PathLike | Journal) -> Any:
    """The question of a journal with all its trials: `.trials`, `.answer()`, `.ask()`, `.tell()`.

    The journal changes when the question is asked, told or corrected, and keeps that. To go on with
    a campaign that calls a function, make the same call with the same `journal=`. A question whose
    space has a constraint in Python is loaded without it, since the journal knows its name only: it
    can be told, and to ask make the same question with its space and `journal=`.

    Args:
        journal: a file, a database URL or a `Journal`. Others may use it meanwhile.
    """
    opened = open_journal(journal)
    try:
        question = question_from_settings(opened.settings())
        events, interrupted = opened.read(0), opened.interrupted()
    finally:
        if opened is not journal:
            opened.close()
    for _, event in events:
        question.apply(event)
    question.resume(journal, len(events), interrupted)
    return question
