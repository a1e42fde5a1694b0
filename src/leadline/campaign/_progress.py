"""A line on standard error that says how far a campaign is."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# Seconds between two refreshes.
_PAUSE = 0.1


@dataclasses.dataclass
class Tally:
    """How many trials of a campaign have started, have ended, and have failed."""

    started: int = 0
    ended: int = 0
    failed: int = 0


class Silence:
    """No progress line."""

    def __enter__(self) -> Silence:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, tally: Tally, headline: Callable[[], str], last: bool = False) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""


class ProgressLine(Silence):
    """A progress bar with what is known so far.

    Args:
        budget: how many calls there will be.
        console: where to write; standard error if None.
    """

    def __init__(self, budget: int, console: Console | None = None):
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.BarColumn(bar_width=24),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.description}"),
            progress.TimeElapsedColumn(),
            console=console or Console(stderr=True),
            refresh_per_second=1.0 / _PAUSE,
            # What the caller's function prints goes above the line, unless it goes to a file.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=sys.stderr.isatty(),
        )
        self._task = self._bar.add_task("", total=budget)
        self._shown = -float("inf")

    def __enter__(self) -> ProgressLine:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, tally: Tally, headline: Callable[[], str], last: bool = False) -> None:
        """Say how far the campaign is; most of many calls in a short time are passed over."""
        now = time.monotonic()
        if now - self._shown < _PAUSE and not last:
            return
        self._shown = now
        running = tally.started - tally.ended
        parts = [headline()]
        parts += [f"{tally.failed} failed"] if tally.failed else []
        parts += [f"{running} running"] if running else []
        text = ", ".join(part for part in parts if part)
        # Rich would read square brackets as markup.
        self._bar.update(self._task, completed=tally.ended, description=text.replace("[", r"\["))

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self._bar.console.print(text, highlight=False, markup=False)


def open_progress(wanted: bool | None, budget: int) -> Silence:
    """The progress line, or silence; None: a line if standard error is a terminal."""
    shown = sys.stderr.isatty() if wanted is None else wanted
    return ProgressLine(budget) if shown else Silence()
