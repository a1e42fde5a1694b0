"""What is in a file of Leadline: the question of a journal, whichever verb it is of, or a model."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

from leadline.boundary import InvalidData
from leadline.journal import Journal, open_journal
from leadline.numerics import is_archive, load_module
from leadline.questions import question_from_settings


def load(file: str | os.PathLike | Journal) -> Any:
    """The question of a journal with all its trials, or a model that was saved.

    Of a journal: `.trials`, `.answer()`, `.ask()`, `.tell()`. It changes when the question is
    asked, told or corrected, and keeps that. To go on with a campaign that calls a function, make
    the same call with the same `journal=`. A question whose space has a constraint in Python is
    loaded without it, since the journal knows its name only: it can be told, and to ask make the
    same question with its space and `journal=`.

    Of a file that `post.save` wrote: the same posterior, to the last bit. Loading runs no code from
    the file; classes of your own in it must have been imported.

    Args:
        file: a journal (a file, a database URL or a `Journal`, which others may use meanwhile), or
            the file of a model.
    """
    if not isinstance(file, str | os.PathLike):
        return load_question(file)
    path = Path(file)
    if path.suffix == ".npz" and not path.exists():
        raise InvalidData(f"There is no model {path}.")
    try:
        return load_question(file)
    except InvalidData as error:
        # SQLite looks first. A process that closes a file loses all its locks on it, so if we
        # looked into a journal that it has open, others would take that for unused.
        if not (_is_no_database(error) and is_archive(path)):
            raise
    return load_module(path)


def _is_no_database(error: InvalidData) -> bool:
    """Whether SQLite says that a file was written by something else."""
    return getattr(error.__cause__, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB


def load_question(journal: str | os.PathLike | Journal) -> Any:
    """The question of a journal, for those who want nothing else."""
    opened = open_journal(journal)
    try:
        question = question_from_settings(opened.settings())
        events, interrupted = opened.read(0), opened.interrupted()
    finally:
        if opened is not journal:
            opened.close()
    for _, event in events:
        question.apply(event)
    question.resume(journal, events[-1] if events else None, interrupted)
    return question
