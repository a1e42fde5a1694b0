"""What ends a command early: what a user can mend, or a reader that has seen enough."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

# What a shell says of a program that SIGPIPE ended: nobody reads what it writes.
_NOBODY_READS = 141


def with_clear_errors(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with a line on standard error for what a user can mend."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from leadline.boundary import InvalidData, Unsupported
        from leadline.campaign import CallsFailed, ExecutorFailed, JournalFailed

        try:
            try:
                command(*args, **kwargs)
            finally:
                # There is none where the shell has closed it.
                if output := sys.stdout:
                    output.flush()
        except BrokenPipeError:
            assert sys.stdout is not None
            # What is left to write goes nowhere, also at the end of Python.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(_NOBODY_READS) from None
        except (
            InvalidData,
            Unsupported,
            CallsFailed,
            ExecutorFailed,
            JournalFailed,
            ImportError,
            OSError,
        ) as error:
            typer.echo(f"leadline: {error}", err=True)
            raise typer.Exit(1) from error

    return wrapped
