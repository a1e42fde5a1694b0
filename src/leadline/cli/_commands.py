"""The commands. They import what is heavy when they run."""

from __future__ import annotations

import io
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from leadline.cli._errors import with_clear_errors

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


def _show_version(wanted: bool) -> bool:
    if wanted:
        import leadline

        typer.echo(f"leadline {leadline.__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _leadline(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
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

    A space can be written in Python as well, which takes constraints: `--space train:space` if it
    is called `space` in `train.py`.
    """


@app.command()
@with_clear_errors
def run(
    function: Annotated[
        str, typer.Argument(metavar="MODULE:FUNCTION", help="What to call, such as train:loss.")
    ],
    space: Annotated[
        str,
        typer.Option(
            help="A TOML file with a table for each parameter; or, as MODULE:NAME, a space, a list "
            "of bounds or a function that returns one of them, such as train:space.",
        ),
    ],
    budget: Annotated[int, typer.Option(help="How many calls, those of earlier runs included.")],
    journal: Annotated[str, typer.Option(help="The file or database URL that keeps every call.")],
    method: Annotated[
        str, typer.Option(help="How points are chosen: gp, thompson, bore, lfbo, tpe or random.")
    ] = "gp",
    method_settings: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of the method, such as acquisition=ucb; once for each, or several as a "
            "JSON object.",
        ),
    ] = None,
    maximize: Annotated[
        bool, typer.Option("--maximize", help="Look for the highest value, not the lowest.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    constraints: Annotated[
        int, typer.Option(help="How many constraint values the function returns with its value.")
    ] = 0,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Stop when no call is expected to improve the best value by more."),
    ] = None,
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
        typer.Option("--vectorized", help="Call with several points at once, for as many results."),
    ] = False,
) -> None:
    """Call a function where it may be lowest, until the budget is used up.

    Modules are looked for in the current folder first. The function takes a dict with a value for
    each parameter, or an array where the space is a list of bounds. It returns a number; with
    constraints, the number and a list of their values, which are at most 0 where a point is
    allowed. A dict of anything else worth keeping may come last. A call that raises has failed, and
    the campaign goes on.
    """
    from leadline import campaign
    from leadline.cli._loading import load_function, load_space, no_script_in_workers
    from leadline.cli._settings import read_settings
    from leadline.questions import as_method

    verb = campaign.maximize if maximize else campaign.minimize
    chosen = as_method(method, read_settings(method_settings or []))
    f, parameters = load_function(function), load_space(space)
    with no_script_in_workers():
        answer = verb(
            f,
            parameters,
            budget=budget,
            method=chosen,
            seed=seed,
            constraints=constraints,
            tolerance=tolerance,
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
    if answer.recommended is None:
        raise typer.Exit(1)


@app.command()
@with_clear_errors
def show(
    journal: _JOURNAL,
    last: Annotated[int, typer.Option(min=0, help="How many of the last trials to list.")] = 20,
    trial: Annotated[
        int | None,
        typer.Option(min=0, help="Show all that is known of the trial with this number, instead."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the answer to this file: .png, .pdf or .svg.")
    ] = None,
) -> None:
    """Look at a campaign: its settings, best point, convergence and last trials.

    Others may run the campaign meanwhile. Nothing in the journal changes.
    """
    from leadline.campaign import load_question
    from leadline.cli._report import draw, print_report
    from leadline.cli._trial import print_trial

    question = load_question(journal)
    if trial is None:
        print_report(question, last)
    else:
        print_trial(question, trial, journal)
    if picture is not None:
        draw(question, picture)
        typer.echo(f"\nPicture: {picture}")


@app.command()
@with_clear_errors
def export(
    journal: _JOURNAL,
    file: Annotated[str, typer.Argument(help="The CSV file to write; - for standard output.")],
) -> None:
    """Write a campaign as a CSV table with a row for each trial.

    Its columns are the number of the trial, the parameters, what the function returned, whether and
    why it failed, the seconds that the call took, and as a JSON object what it returned besides; at
    the end the traceback of a failure, and as a JSON object what the method knew when it asked. A
    parameter called like one of the others, `value` say, has the column `x.value`.
    """
    from leadline.campaign import load_question
    from leadline.cli._export import write_table

    write_table(load_question(journal), journal, file)
