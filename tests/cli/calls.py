"""Commands in this process."""

from typer.testing import CliRunner

from leadline.cli import app


def leadline(*arguments, columns=100):
    """What a command printed, and its exit code; errors that are no exit are raised."""
    done = CliRunner(env={"COLUMNS": str(columns)}).invoke(app, [str(a) for a in arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def run(
    function="functions_of_the_user:loss", *more, journal="run.db", budget=8, space="space.toml"
):
    options = ["--space", space, "--budget", budget, "--journal", journal]
    return leadline("run", function, *options, "--method", "random", *more)
