"""The question of a journal, whichever verb it is of."""

from __future__ import annotations

import os
from typing import Any

from leadline.journal import Journal, open_journal
from leadline.questions import question_from_settings


def load(journal: str | os.PathLike | Journal) -> Any:
    """The question of a journal with all its trials: `.trials`, `.answer()`, `.ask()`, `.tell()`.

    The journal does not change, and neither does it learn what the question is told from now on:
    to go on with a campaign, make the same call with the same `journal=`. A question whose space
    has a constraint in Python is loaded without it, since the journal knows its name only.

    Args:
        journal: a file, a database URL or a `Journal`. Others may use it meanwhile.
    """
    opened = open_journal(journal)
    try:
        question = question_from_settings(opened.settings())
        for _, event in opened.read(0):
            question.apply(event)
    finally:
        if opened is not journal:
            opened.close()
    return question
