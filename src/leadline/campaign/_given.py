"""Data that somebody already has: read and checked before anything is called or written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from leadline.boundary import InvalidData, shorten
from leadline.campaign._load import load
from leadline.journal import Journal
from leadline.questions import Question, Trial, is_frame, read_frame, rows_of_data


class Known(NamedTuple):
    """A point and its value, as the question keeps it."""

    point: Any
    value: Any


def read_given(question: Question, given: Any, journal: Any) -> list[Known]:
    """What `given=` says, checked.

    Args:
        question: what the data are for.
        given: None; pairs (point, what the function returned there); a frame with the columns of
            `to_frame`, of which only points and what the function returned are read; or another
            journal, of which the finished calls are read.
        journal: that of the campaign, which is not `given`.
    """
    if given is None:
        return []
    if isinstance(given, str | os.PathLike | Journal):
        if given is journal or _same_file(given, journal):
            raise InvalidData("given= is the campaign's own journal, which is read anyway.")
        pairs = _from_journal(question, given)
    elif is_frame(given):
        pairs = ((label, pair) for label, *pair in read_frame(question, given))
    elif isinstance(given, Iterable):
        pairs = enumerate(given)
    else:
        raise InvalidData(
            f"given must be pairs (point, value), a frame or a journal, got {shorten(given)}."
        )
    return [_checked(question, i, pair) for i, pair in pairs]


def not_yet_given(question: Question, given: list[Known]) -> list[Known]:
    """Those that the question was not told yet."""
    told = [trial for trial in question.trials if not trial.asked]
    left = []
    for known in given:
        same = next((trial for trial in told if _is(question, trial, known)), None)
        if same is None:
            left.append(known)
        else:
            # A pair that is given twice was told twice.
            told.remove(same)
    return left


def _checked(question: Question, i: int, pair: Any) -> Known:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidData(f"given[{i}] must be a pair (point, value), got {shorten(pair)}.")
    point, value = pair
    try:
        rows_of_data(question.space, [point])
        return Known(point, question.check(value))
    except InvalidData as error:
        raise InvalidData(f"given[{i}], {shorten(point)}: {error}") from error


def _from_journal(question: Question, journal: Any) -> Iterator[tuple[int, Any]]:
    other = load(journal)
    if other.outputs != question.outputs:
        raise InvalidData(
            f"The journal in given= has {', '.join(other.outputs)} of each call, and this question "
            f"needs {', '.join(question.outputs)}."
        )
    for trial in other.trials:
        if trial.value is not None:
            yield trial.id, (trial.x, question.returned(other.results(trial)))


def _is(question: Question, trial: Trial, known: Known) -> bool:
    rows = rows_of_data(question.space, [trial.x, known.point])
    fields = question.outcome(known.value)
    # What was given and corrected later was given.
    first = trial.earlier[0] if trial.earlier else trial
    return np.array_equal(rows[0], rows[1]) and all(
        np.array_equal(getattr(first, name), value) for name, value in fields.items()
    )


def _same_file(one: Any, other: Any) -> bool:
    written = isinstance(one, str | os.PathLike) and isinstance(other, str | os.PathLike)
    return written and os.fspath(one) == os.fspath(other)
