"""What went wrong: with one call, or with whatever makes the calls."""

from __future__ import annotations

import traceback


class ExecutorFailed(RuntimeError):
    """The executor takes no more calls, so the campaign cannot go on."""


class CallsFailed(RuntimeError):
    """Every call has failed, and the same way, so the campaign does not go on."""


class CallFailed(Exception):
    """A call that gave no value, as text: its error stayed where it happened.

    Attributes:
        reason: the error in a line.
        traceback: the whole text.
        seconds: how long the call took, if that is known.
    """

    def __init__(self, reason: str, traceback: str = "", seconds: float | None = None):
        super().__init__(reason)
        self.reason = reason
        self.traceback = traceback
        self.seconds = seconds


def explain(error: BaseException) -> CallFailed:
    """An error as text, with the errors that caused it."""
    if isinstance(error, CallFailed):
        return error
    reason = "".join(traceback.format_exception_only(error)).strip()
    return CallFailed(reason, "".join(traceback.format_exception(error)))
