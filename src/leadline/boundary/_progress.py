"""A line on standard error that says how far long work is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

# Seconds between two refreshes.
_PAUSE = 0.1


class Silence:
    """No progress line."""

    def __enter__(self) -> Silence:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, done: int, text: Callable[[], str], last: bool = False) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""


class WordsOnly(Silence):
    """No progress line, but what has to be said all the same."""

    def say(self, text: str) -> None:
        """Write a line on standard error."""
        print(text, file=sys.stderr, flush=True)


class ProgressLine(Silence):
    """A progress bar with what is known so far.

    Args:
        total: how many steps there will be.
        console: where to write; standard error if None.
    """

    def __init__(self, total: int, console: Console | None = None):
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
        self._task = self._bar.add_task("", total=total)
        self._shown = -float("inf")

    def __enter__(self) -> ProgressLine:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, done: int, text: Callable[[], str], last: bool = False) -> None:
        """Say how far the work is; most of many calls in a short time are passed over."""
        now = time.monotonic()
        if now - self._shown < _PAUSE and not last:
            return
        self._shown = now
        # Rich would read square brackets as markup.
        described = text().replace("[", r"\[")
        self._bar.update(self._task, completed=done, description=described)

    def say(self, text: str) -> None:
        """Write a line above the bar."""
        self._bar.console.print(text, highlight=False, markup=False)


def open_progress(wanted: bool | None, total: int) -> Silence:
    """The progress line, or silence; None: a line if standard error is a terminal, else words."""
    if wanted is None and not sys.stderr.isatty():
        return WordsOnly()
    return Silence() if wanted is not None and not wanted else ProgressLine(total)
