"""A line on standard error that says how far training is."""

from __future__ import annotations

import sys


class Silence:
    """No progress line."""

    def __enter__(self) -> Silence:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def show(self, done: int, text: str) -> None:
        """Nothing."""


class ProgressLine(Silence):
    """A progress bar with the newest loss.

    Args:
        steps: how many steps there will be.
    """

    def __init__(self, steps: int):
        from rich import progress
        from rich.console import Console

        self._bar = progress.Progress(
            progress.BarColumn(bar_width=24),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.description}"),
            progress.TimeElapsedColumn(),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task("compiling", total=steps)

    def __enter__(self) -> ProgressLine:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def show(self, done: int, text: str) -> None:
        """Say how far training is."""
        self._bar.update(self._task, completed=done, description=text)


def open_progress(wanted: bool | None, steps: int) -> Silence:
    """The progress line, or silence; None: a line if standard error is a terminal."""
    shown = sys.stderr.isatty() if wanted is None else wanted
    return ProgressLine(steps) if shown else Silence()
