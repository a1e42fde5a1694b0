"""All that is known of one trial, on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from leadline.boundary import InvalidData
from leadline.cli._states import states
from leadline.cli._terminal import Terminal
from leadline.questions import Question, Trial

# Of arrays with more numbers the first and the last are shown; a row is one line.
_MOST, _LONGEST = 100, 10_000


def print_trial(question: Question, number: int, journal: str) -> None:
    """Print what is known of a trial; what the method knew when it asked, the journal knows."""
    trials = question.trials
    if number >= len(trials):
        there = f"trials 0 to {len(trials) - 1}" if trials else "no trials yet"
        raise InvalidData(f"There is no trial {number}: the journal has {there}.")
    trial, terminal = trials[number], Terminal()
    remark = question.remark(trial)
    terminal.print(f"Trial {number}" + (f": {remark}" if remark else ""), style="bold")
    earlier = {f"{k}.": _summary(question, each) for k, each in enumerate(trial.earlier, 1)}
    for title, known in {
        "Point": question.space.as_dict(trial.x),
        "What became of it": _outcome(question, trial),
        "Info": trial.info,
        "Before it was corrected": earlier,
        "Notes of the method": trial.notes,
        "State of the method": states(journal).get(number),
        "Traceback": trial.traceback,
    }.items():
        if known:
            terminal.print(f"\n{title}", style="bold")
            for line in _lines(known):
                terminal.print(f"  {line}", soft_wrap=True)


def _outcome(question: Question, trial: Trial) -> dict[str, Any]:
    """What the call returned, or why it did not; and where the trial comes from."""
    outcome = {
        **_results(question, trial),
        "reason": trial.reason or None,
        "seconds": trial.seconds,
        "given": None if trial.asked else "yes",
        "outside of the space": "yes" if trial.outside else None,
    }
    return {name: value for name, value in outcome.items() if value is not None}


def _results(question: Question, trial: Trial) -> dict[str, Any]:
    return dict(zip(question.outputs, question.results(trial), strict=True))


def _summary(question: Question, trial: Trial) -> str:
    """What was said of a trial, in a line."""
    if trial.failed or trial.withdrawn:
        return f"failed: {trial.reason}" if trial.failed else "withdrawn"
    results = (f"{name} {_text(value)}" for name, value in _results(question, trial).items())
    return ", ".join(results) + (f", info {_text(dict(trial.info))}" if trial.info else "")


def _lines(known: Mapping[str, Any] | str) -> Iterator[str]:
    """The lines of a text, or a line for each name; what has several lines is indented."""
    if isinstance(known, str):
        yield from known.splitlines()
        return
    width = max(map(len, known))
    for name, value in known.items():
        first, *others = _text(value).splitlines() or [""]
        yield f"{name:<{width}}  {first}"
        for line in others:
            yield " " * width + f"  {line}"


def _text(value: Any) -> str:
    """A value in full, but for large arrays."""
    if isinstance(value, str):
        return value
    with np.printoptions(threshold=_MOST, linewidth=_LONGEST, floatmode="unique"):
        if isinstance(value, np.ndarray):
            return np.array2string(value, separator=", ")
        return repr(value)
