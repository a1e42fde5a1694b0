"""A journal that does not work any more."""

from __future__ import annotations

from typing import Any


class JournalFailed(RuntimeError):
    """A journal that was in use cannot be read or written any more.

    Attributes:
        trials: every trial that this process knew then, with the values that were not written.
    """

    def __init__(self, message: str, trials: tuple[Any, ...] = ()):
        super().__init__(message)
        self.trials = trials
