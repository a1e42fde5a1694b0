"""The commands. They import what is heavy when they run."""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="leadline",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

_JOURNAL = Annotated[str, typer.Argument(help="The file or database URL of the journal.")]


def main() -> None:
    """The entry point of the command `leadline`."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Where there is no character for a part of the chart, a question mark will do.
        sys.stdout.reconfigure(errors="replace")
    app(prog_name="leadline")


@app.callback()
def _leadline() -> None:
    """Where is an expensive function lowest? Leadline finds out with few calls of it.

    Write the function in `train.py`, and the space of its parameters in `space.toml`:

    ```
    def loss(params):
        return (params["rate"] - 0.01) ** 2
    ```

    ```
    [rate]
    type = "real"
    low = 1e-5
    high = 1e-1
    log = true
    ```

    Then call it 60 times, and look at what was found:

    ```
    leadline run train:loss --space space.toml --budget 60 --journal run.db
    leadline show run.db
    ```

    The journal keeps every call. The same command continues where it stopped, and several of them
    at the same time share the work.
    """


def _with_clear_errors(command: Callable[..., None]) -> Callable[..., None]:
    """The command, with a line on standard error for what a user can mend."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        from leadline.boundary import InvalidData
        from leadline.campaign import ExecutorFailed

        try:
            command(*args, **kwargs)
        except (InvalidData, ExecutorFailed, ImportError, OSError) as error:
            typer.echo(f"leadline: {error}", err=True)
            raise typer.Exit(1) from error

    return wrapped


@app.command()
@_with_clear_errors
def run(
    function: Annotated[
        str, typer.Argument(metavar="MODULE:FUNCTION", help="What to call, such as train:loss.")
    ],
    space: Annotated[Path, typer.Option(help="A TOML file with a table for each parameter.")],
    budget: Annotated[int, typer.Option(help="How many calls, those of earlier runs included.")],
    journal: Annotated[str, typer.Option(help="The file or database URL that keeps every call.")],
    method: Annotated[
        str, typer.Option(help="How points are chosen: gp, thompson, bore, lfbo, tpe or random.")
    ] = "gp",
    maximize: Annotated[
        bool, typer.Option("--maximize", help="Look for the highest value, not the lowest.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    constraints: Annotated[
        int, typer.Option(help="How many constraint values the function returns with its value.")
    ] = 0,
    workers: Annotated[int | None, typer.Option(help="How many calls run at once.")] = None,
    batch: Annotated[
        int | None, typer.Option(help="Ask for so many points at once, and wait for all of them.")
    ] = None,
    processes: Annotated[
        bool,
        typer.Option("--processes", help="Call in processes, so that a crash is a failed call."),
    ] = False,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which one call has failed.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Start no call after so many seconds.")
    ] = None,
    vectorized: Annotated[
        bool,
        typer.Option("--vectorized", help="Call with a list of dicts, for as many results."),
    ] = False,
) -> None:
    """Call a function where it may be lowest, until the budget is used up.

    The function is looked for in the current folder first. It takes a dict with a value for each
    parameter, and returns a number; with constraints, the number and a list of their values, which
    are at most 0 where a point is allowed. A call that raises has failed, and the campaign goes on.
    """
    from leadline import campaign
    from leadline.cli._loading import load_function, load_space, no_script_in_workers

    verb = campaign.maximize if maximize else campaign.minimize
    f, parameters = load_function(function), load_space(space)
    with no_script_in_workers():
        answer = verb(
            f,
            parameters,
            budget=budget,
            method=method,
            seed=seed,
            constraints=constraints,
            journal=journal,
            workers=workers,
            batch=batch,
            executor="processes" if processes else None,
            timeout=timeout,
            seconds=seconds,
            vectorized=vectorized,
        )
    typer.echo(repr(answer))
    typer.echo("\nTo continue: the same command, with a larger --budget when it is used up.")
    # A URL may hold a password.
    shown = "URL" if "://" in journal else shlex.quote(journal)
    typer.echo(f"To look:     leadline show {shown}")
    if answer.best is None:
        raise typer.Exit(1)


@app.command()
@_with_clear_errors
def show(
    journal: _JOURNAL,
    last: Annotated[int, typer.Option(min=0, help="How many of the last trials to list.")] = 20,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the answer to this file: .png, .pdf or .svg.")
    ] = None,
) -> None:
    """Look at a campaign: its settings, best point, convergence and last trials.

    Others may run the campaign meanwhile. Nothing in the journal changes.
    """
    from leadline.campaign import load_question
    from leadline.cli._report import draw, print_report

    question = load_question(journal)
    print_report(question, last)
    if picture is not None:
        draw(question, picture)
        typer.echo(f"\nPicture: {picture}")


@app.command()
@_with_clear_errors
def export(
    journal: _JOURNAL,
    file: Annotated[str, typer.Argument(help="The CSV file to write; - for standard output.")],
) -> None:
    """Write a campaign as a CSV table with a row for each trial."""
    from leadline.campaign import load_question

    question = load_question(journal)
    with contextlib.ExitStack() as stack:
        if file == "-":
            to = sys.stdout
        else:
            to = stack.enter_context(open(file, "w", newline="", encoding="utf-8"))
        table = csv.writer(to, lineterminator="\n")
        table.writerow(question.columns)
        for trial in question.trials:
            record = question.record(trial)
            table.writerow([_written(record.get(name)) for name in question.columns])


def _written(cell: Any) -> Any:
    """A cell of a table as CSV takes it: arrays as lists, in full."""
    import json

    import numpy as np

    return json.dumps(cell.tolist()) if isinstance(cell, np.ndarray) else cell
