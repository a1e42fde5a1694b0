"""A campaign on the terminal, or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from leadline.boundary import InvalidData, shorten, show
from leadline.cli._chart import text_chart
from leadline.cli._terminal import Terminal
from leadline.questions import Question, Trial

_HEIGHT, _WIDTH = 6, 60
# More parameters than this do not fit beside each other.
_COLUMNS = 6


def print_report(question: Question, last: int) -> None:
    """Print settings, counts, the best point, convergence and the last trials."""
    console, trials = Terminal(), question.trials
    console.print(question.heading(), style="bold")
    for name, parameter in getattr(question.space, "parameters", {}).items():
        console.print(f"  {name}: {parameter!r}")
    console.print(f"\n{question.counts()}\n")
    if not trials:
        return
    answer = question.answer()
    console.print(repr(answer), style="bold")
    best, recommended = question.best(), getattr(answer, "recommended", None)
    if best is not None and question.sign:
        console.print("\nBest value after each call")
        width = min(_WIDTH, console.width - 14)
        for line in text_chart(_best_so_far(question), width, _HEIGHT):
            console.print(f"  {line}", no_wrap=True)
    listed = list(trials[max(0, len(trials) - last) :])
    named = {} if best is None else {best: trials[best]}
    named |= {} if recommended is None else {recommended.id: recommended}
    if listed:
        listed = [named[i] for i in sorted(named) if i < listed[0].id] + listed
        console.print()
        console.print(_table(question, listed, recommended))


def draw(question: Question, picture: Path) -> None:
    """Draw the answer to a file."""
    drawn = question.answer().plot()
    try:
        drawn.savefig(picture)
    except ValueError as error:
        raise InvalidData(f"The picture {picture} cannot be written: {error}.") from error


def _best_so_far(question: Question) -> list[float]:
    scores = [question.sign * question.score(trial) for trial in question.trials]
    return (question.sign * np.fmax.accumulate(scores)).tolist()


def _table(question: Question, trials: list[Trial], recommended: Trial | None) -> Table:
    names, outputs = tuple(question.point_columns.values()), question.outputs
    apart = len(names) <= _COLUMNS
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("trial", justify="right")
    for name in names if apart else ["point"]:
        table.add_column(name, overflow="fold")
    for name in question.short_outputs:
        table.add_column(name, justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("", overflow="fold")
    best = question.best()
    for trial in trials:
        record = question.record(trial)
        texts = [_shown(record[name]) if name in record else "" for name in names]
        if not apart:
            texts = [f"{name}={text}" for name, text in zip(names, texts, strict=True) if text]
            texts = [", ".join(texts)]
        values = [_shown(record[name]) for name in outputs]
        seconds = "" if trial.seconds is None else f"{trial.seconds:.3g}"
        style = _style(trial, question.score(trial), best)
        remark = question.remark(trial)
        if recommended is not None and trial.id == recommended.id != best:
            remark = f"☆ recommended, {remark}" if remark else "☆ recommended"
        table.add_row(str(trial.id), *texts, *values, seconds, remark, style=style)
    return table


def _style(trial: Trial, score: float, best: int | None) -> str | None:
    if trial.id == best:
        return "green"
    if trial.failed:
        return "red"
    if trial.running:
        return "cyan"
    return "yellow" if best is not None and np.isnan(score) else None


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, np.ndarray):
        return show(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    return value if isinstance(value, str) else shorten(value)
