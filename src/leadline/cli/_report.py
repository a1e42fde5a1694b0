"""A campaign on the terminal, or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from leadline.boundary import InvalidData
from leadline.cli._chart import text_chart
from leadline.questions import Minimize, Trial

_HEIGHT, _WIDTH = 6, 60
# More parameters than this do not fit beside each other.
_COLUMNS = 6


def print_report(question: Minimize, last: int) -> None:
    """Print settings, counts, the best point, convergence and the last trials."""
    # Names and reasons are text, whatever brackets or colons there are in them.
    console = Console(markup=False, highlight=False, emoji=False)
    settings, trials = question.settings(), question.trials
    method = settings["method"]
    given = ", ".join(f"{k}={v}" for k, v in method.items() if k != "name" and v is not None)
    chosen = f"{method['name']} ({given})" if given else method["name"]
    learned = f", constraints {question.constraints}" if question.constraints else ""
    console.print(f"{question.verb}, method {chosen}, seed {question.seed}{learned}", style="bold")
    for name, parameter in question.space.parameters.items():
        console.print(f"  {name}: {parameter!r}")
    console.print(f"\n{_counts(question)}\n")
    if not trials:
        return
    console.print(repr(question.answer()), style="bold")
    best = question.best()
    if best is not None:
        console.print("\nBest value after each call")
        width = min(_WIDTH, console.width - 14)
        for line in text_chart(_best_so_far(question), width, _HEIGHT):
            console.print(f"  {line}", no_wrap=True)
    listed = list(trials[len(trials) - last :]) if last else []
    if best is not None and listed and best < listed[0].id:
        listed.insert(0, trials[best])
    if listed:
        console.print()
        console.print(_table(question, listed, best))


def draw(question: Minimize, picture: Path) -> None:
    """Draw the answer to a file."""
    drawn = question.answer().plot()
    try:
        drawn.savefig(picture)
    except ValueError as error:
        raise InvalidData(f"The picture {picture} cannot be written: {error}.") from error


def _counts(question: Minimize) -> str:
    trials = question.trials
    failed, running = sum(t.failed for t in trials), sum(t.running for t in trials)
    values = len(trials) - failed - running
    allowed = f" ({sum(t.allowed for t in trials)} allowed)" if question.constraints else ""
    had = f"{values} with a value{allowed}"
    return f"{len(trials)} trials: {had}, {failed} failed, {running} running"


def _best_so_far(question: Minimize) -> list[float]:
    values = [question.sign * t.value if t.allowed else np.nan for t in question.trials]
    return (question.sign * np.fmax.accumulate(values)).tolist()


def _table(question: Minimize, trials: list[Trial], best: int | None) -> Table:
    space = question.space
    apart = space.dim <= _COLUMNS
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("trial", justify="right")
    for name in space.names if apart else ["point"]:
        table.add_column(name, overflow="fold")
    for name in ["value", *(f"c{k}" for k in range(question.constraints))]:
        table.add_column(name, justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("", overflow="fold")
    for trial in trials:
        point = {name: _shown(value) for name, value in space.as_dict(trial.x).items()}
        texts = [point.get(name, "") for name in space.names]
        if not apart:
            texts = [", ".join(f"{name}={text}" for name, text in point.items())]
        note, style = _note(trial, best)
        known = trial.constraints or [None] * question.constraints
        values = ["" if v is None else _shown(v) for v in (trial.value, *known)]
        seconds = "" if trial.seconds is None else f"{trial.seconds:.3g}"
        table.add_row(str(trial.id), *texts, *values, seconds, note, style=style)
    return table


def _note(trial: Trial, best: int | None) -> tuple[str, str | None]:
    """What there is to say about a trial, and how it looks."""
    if trial.id == best:
        return "★ best", "green"
    if trial.failed:
        return trial.reason.splitlines()[0], "red"
    if trial.running:
        return "running", "cyan"
    if not trial.allowed:
        return "not allowed", "yellow"
    return ("" if trial.asked else "given"), None


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
