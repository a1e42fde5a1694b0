"""The terminal that reports are printed on, which may be a file or a pipe as well."""

from __future__ import annotations

from typing import Never

from rich.console import Console

# Terminals that say they are narrower fold their lines themselves.
_NARROWEST = 40


class Terminal(Console):
    """A console for text as it is, whatever brackets or colons there are in it."""

    def __init__(self) -> None:
        super().__init__(markup=False, highlight=False, emoji=False)
        self.width = max(self.width, _NARROWEST)

    def on_broken_pipe(self) -> Never:
        """Nobody reads on: whoever called the command says what then."""
        raise BrokenPipeError
