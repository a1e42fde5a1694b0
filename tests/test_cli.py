"""The command line: commands in this process, and one run in a process of its own."""

import csv
import io
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from leadline.campaign import load as replay
from leadline.cli import app
from leadline.cli._chart import text_chart
from leadline.cli._loading import load_function

SPACE = """
[rate]
type = "real"
low = 1e-5
high = 1e-1
log = true
[act]
type = "choice"
options = ["relu", "[tanh]"]
[slope]
type = "real"
low = 0.0
high = 1.0
when = {act = "relu"}
"""

FUNCTIONS = """
import sys

def loss(params):
    assert isinstance(params, dict)
    if params["act"] == "[tanh]":
        raise ValueError("no [tanh] today")
    return params["rate"] + params["slope"]

def heavy(params):
    return float("jax" in sys.modules)

def limited(params):
    if params["act"] == "[tanh]":
        raise ValueError("no [tanh] today")
    return params["rate"], [0.5 - params["slope"], params["slope"] - 0.9]

def impossible(params):
    return params["rate"], [0.25, 0.125]

def broken(params):
    raise ValueError("never")

def several(points):
    return [(params["rate"], {"points": len(points)}) for params in points]

number = 3
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a space and functions."""
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "functions_of_the_user.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "functions_of_the_user", raising=False)
    return tmp_path


def leadline(*arguments):
    """What a command printed, and its exit code; errors that are no exit are raised."""
    done = CliRunner(env={"COLUMNS": "100"}).invoke(app, [str(a) for a in arguments])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def run(function="functions_of_the_user:loss", *more, journal="run.db", budget=8):
    options = ["--space", "space.toml", "--budget", budget, "--journal", journal]
    return leadline("run", function, *options, "--method", "random", *more)


def test_run_continue_and_show(folder):
    first = run()
    assert first.exit_code == 0
    assert "minimize: " in first.stdout
    assert "leadline show run.db" in first.stdout
    assert len(replay("run.db").trials) == 8
    assert run(budget=12).exit_code == 0
    question = replay("run.db")
    assert len(question.trials) == 12
    assert question.verb == "minimize"
    shown = leadline("show", "run.db")
    assert shown.exit_code == 0
    failed = sum(t.failed for t in question.trials)
    assert f"12 trials: {12 - failed} with a value, {failed} failed, 0 running" in shown.stdout
    assert f"{question.answer().value:.6g}" in shown.stdout
    assert "rate: Real(1e-05, 0.1, log=True)" in shown.stdout
    assert shown.stdout.count("★") == 1
    assert "no [tanh] today" in re.sub(r"\s+", " ", shown.stdout)


def test_only_the_last_trials_and_the_best_are_listed(folder):
    run()
    best = replay("run.db").best()
    lines = leadline("show", "run.db", "--last", "2").stdout.splitlines()
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("trial")) + 1 :]
    listed = [int(found[1]) for line in table if (found := re.match(r" *(\d+)  ", line))]
    assert listed == sorted({best, 6, 7})
    assert "trial  " not in leadline("show", "run.db", "--last", "0").stdout


def test_maximize_and_other_settings_of_the_same_journal(folder):
    assert run(journal="up.db").exit_code == 0
    other = run("functions_of_the_user:loss", "--maximize", journal="up.db", budget=9)
    assert other.exit_code == 1
    assert "verb: 'minimize' in the journal, 'maximize' given now" in other.stderr
    assert run("functions_of_the_user:loss", "--maximize", journal="max.db").exit_code == 0
    assert replay("max.db").verb == "maximize"


def test_without_any_value(folder):
    done = run("functions_of_the_user:broken", budget=2)
    assert done.exit_code == 1
    assert "First failure: ValueError: never" in done.stdout
    shown = leadline("show", "run.db")
    assert shown.exit_code == 0
    assert "2 failed" in shown.stdout
    assert "┤" not in shown.stdout


def test_constraints(folder):
    done = run("functions_of_the_user:limited", "--constraints", 2, budget=30)
    assert done.exit_code == 0
    question = replay("run.db")
    allowed = [t for t in question.trials if t.allowed]
    assert 0 < len(allowed) < sum(t.value is not None for t in question.trials)
    assert f"minimize: {min(t.value for t in allowed):.6g} at trial" in done.stdout
    shown = leadline("show", "run.db", "--last", 30).stdout
    assert "seed 0, constraints 2" in shown
    assert f"with a value ({len(allowed)} allowed), " in shown
    header = next(line for line in shown.splitlines() if line.startswith("trial"))
    assert re.search(r"value +c0 +c1 +seconds", header)
    told = sum(t.value is not None for t in question.trials)
    assert shown.count("not allowed") == told - len(allowed)
    assert leadline("export", "run.db", "out.csv").exit_code == 0
    table = list(csv.DictReader(io.StringIO((folder / "out.csv").read_text())))
    for row, trial in zip(table, question.trials, strict=True):
        known = [repr(c) for c in trial.constraints] or ["", ""]
        assert [row["constraint_0"], row["constraint_1"]] == known
    other = run("functions_of_the_user:limited", budget=31)
    assert other.exit_code == 1
    assert "constraints: 2 in the journal, not given now" in other.stderr


def test_no_call_is_allowed(folder):
    done = run("functions_of_the_user:impossible", "--constraints", 2, budget=3)
    assert done.exit_code == 1
    assert "none of the 3 calls with a value was allowed" in done.stdout
    shown = leadline("show", "run.db")
    assert shown.exit_code == 0
    assert "the constraints are 0.25, 0.125" in re.sub(r"\s+", " ", shown.stdout)
    assert "┤" not in shown.stdout


def test_export(folder):
    run()
    assert leadline("export", "run.db", "out.csv").exit_code == 0
    text = (folder / "out.csv").read_text()
    assert leadline("export", "run.db", "-").stdout == text
    table = list(csv.DictReader(io.StringIO(text)))
    trials = replay("run.db").trials
    header = ["trial", "rate", "act", "slope", "value", "failed", "reason", "seconds"]
    assert list(table[0]) == header
    assert len(table) == len(trials)
    for row, trial in zip(table, trials, strict=True):
        assert int(row["trial"]) == trial.id
        assert float(row["rate"]) == trial.x["rate"]
        assert row["slope"] == str(trial.x.get("slope", ""))
        assert row["value"] == ("" if trial.value is None else repr(trial.value))
        assert (row["failed"] == "True") == trial.failed
        assert row["reason"] == trial.reason
        assert float(row["seconds"]) >= 0.0


def test_picture(folder):
    run("functions_of_the_user:broken", budget=2)
    done = leadline("show", "run.db", "--picture", "answer.png")
    assert (folder / "answer.png").read_bytes().startswith(b"\x89PNG")
    assert "Picture: answer.png" in done.stdout
    done = leadline("show", "run.db", "--picture", "answer.xyz")
    assert done.exit_code == 1
    assert "The picture answer.xyz cannot be written" in done.stderr


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("functions_of_the_user:los", "has no function 'los'. Did you mean 'loss'?"),
        ("functions_of_the_users:loss", "Did you mean 'functions_of_the_user'?"),
        ("functions_of_the_user", "written as module:function"),
        ("functions_of_the_user.py:loss", "written as functions_of_the_user:loss"),
        ("functions_of_the_user:number", "has no function 'number'."),
        ("bad:f", "cannot be imported: ZeroDivisionError: division by zero"),
        ("lacking:f", "cannot be imported: ModuleNotFoundError: No module named 'not_there'"),
        ("misspelled:f", "cannot be imported: SyntaxError"),
    ],
)
def test_functions_that_are_not_there(folder, function, message):
    (folder / "bad.py").write_text("x = 1\ny = x / 0\n")
    (folder / "lacking.py").write_text("import not_there\n")
    (folder / "misspelled.py").write_text("def f(:\n")
    done = run(function)
    assert done.exit_code == 1
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "run.db").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[rate\n", "is not TOML"),
        ("[rate]\ntype = 'reel'", "Did you mean 'real'?"),
        ("[rate]\ntype = 'real'\nlow = 2\nhigh = 1", "low < high"),
        ("", "at least one parameter"),
        (None, "cannot be read: No such file"),
    ],
)
def test_bad_spaces(folder, text, message):
    file = folder / "space.toml"
    file.unlink() if text is None else file.write_text(text)
    done = run()
    assert done.exit_code == 1
    assert message in done.stderr
    assert "space.toml" in done.stderr


def test_bad_options(folder):
    assert leadline("run", "functions_of_the_user:loss").exit_code == 2
    assert leadline("show", "run.db", "--last", "-1").exit_code == 2
    assert run(budget=0).exit_code == 1
    assert (
        "budget=3 is less than"
        in run("functions_of_the_user:loss", "--method", "gp", budget=3).stderr
    )
    wrong = run("functions_of_the_user:loss", "--method", "randon")
    assert "Did you mean 'random'?" in wrong.stderr


def test_journals_that_are_not_there(folder):
    for command in (["show", "no.db"], ["export", "no.db", "-"], ["show", "none/no.db"]):
        done = leadline(*command)
        assert done.exit_code == 1
        assert done.stderr.startswith("leadline: ")
        assert done.stderr.count("\n") == 1
    assert not (folder / "no.db").exists()
    assert leadline("show", "space.toml").exit_code == 1


def test_help():
    text = leadline("--help").stdout
    assert "leadline run train:loss --space space.toml --budget 60 --journal run.db" in text
    for command in ("run", "show", "export"):
        assert leadline(command, "--help").exit_code == 0


def test_modules_of_the_current_folder_come_first(folder):
    (folder / "json5000.py").write_text("def f(x):\n    return 1.0\n")
    assert load_function("json5000:f")(None) == 1.0
    assert load_function("json:dumps") is json.dumps


def test_chart():
    lines = text_chart([np.nan, 8.0, 8.0, 4.0, 0.0], 5, 2)
    assert lines == ["8 ┤ ██▁ ", "0 ┤ ███▁"]
    assert text_chart([3.0] * 4, 9, 3)[2] == "3 ┤▁▁▁▁"
    # Of 100 steps in 10 columns the last of each is shown, the last of all at the right end.
    falling = text_chart(np.arange(100.0, 0.0, -1.0).tolist(), 10, 2)
    assert [line[:2] for line in falling] == ["91", " 1"]
    # Values over several magnitudes are on a log scale: the middle one is half-way.
    assert text_chart([100.0, 1.0, 0.01], 3, 4)[2][-3:] == "██ "
    assert text_chart([100.0, 1.0, -0.01], 3, 4)[2][-3:] == "█  "


def test_a_function_of_several_points(folder):
    done = run("functions_of_the_user:several", "--batch", 4, "--vectorized")
    assert done.exit_code == 0
    assert [t.info["points"] for t in replay("run.db").trials] == [4] * 8


def test_in_a_process_of_its_own(folder):
    """Worker processes start without the command's own imports, and a second look finds all."""
    command = [sys.executable, "-c", "from leadline.cli import main; main()"]
    options = "--space space.toml --budget 3 --method random --journal run.db --workers 2"
    done = subprocess.run(
        [*command, "run", "functions_of_the_user:heavy", *options.split(), "--processes"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [t.value for t in replay("run.db").trials] == [0.0] * 3
