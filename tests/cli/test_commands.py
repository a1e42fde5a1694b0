"""The command line: commands in this process, and one run in a process of its own."""

import csv
import importlib.metadata
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.cli.calls import leadline, run

import leadline as ll
from leadline.campaign import load as replay
from leadline.cli import app
from leadline.kernels import Matern52
from leadline.questions import Minimize


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


def listed(*options):
    lines = leadline("show", "run.db", *options).stdout.splitlines()
    table = lines[next(i for i, line in enumerate(lines) if line.startswith("trial")) + 1 :]
    return [int(found[1]) for line in table if (found := re.match(r" *(\d+)  ", line))]


def test_only_the_last_trials_and_the_best_are_listed(folder):
    run()
    best = replay("run.db").best()
    assert listed("--last", "2") == sorted({best, 6, 7})
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
    header = ["trial", "rate", "act", "slope", "value", "failed", "reason", "seconds", "info"]
    assert list(table[0]) == [*header, "traceback", "state"]
    assert len(table) == len(trials)
    for row, trial in zip(table, trials, strict=True):
        assert int(row["trial"]) == trial.id
        assert float(row["rate"]) == trial.x["rate"]
        assert row["slope"] == str(trial.x.get("slope", ""))
        assert row["value"] == ("" if trial.value is None else repr(trial.value))
        assert (row["failed"] == "True") == trial.failed
        assert row["reason"] == trial.reason
        assert float(row["seconds"]) >= 0.0
        assert row["traceback"] == trial.traceback
        assert row["state"] == ""
    assert any("no [tanh] today" in row["traceback"] for row in table)


def test_what_the_method_knew_is_exported(folder):
    """Beside a parameter of that name, which a frame has to find."""
    q = ll.Minimize(ll.Space(state=ll.Real(0.0, 1.0)), method="random")
    journal = ll.journal.open_journal("run.db")
    journal.open(q.settings())
    state = {"noise": np.array(0.5), "lengthscale": np.array([1.0, 2.0])}
    journal.claim([ll.questions.Asked(0, {"state": 0.25}, state)])
    journal.close()
    assert leadline("export", "run.db", "out.csv").exit_code == 0
    frame = pd.read_csv("out.csv")
    assert frame["state"][0] == 0.25
    assert json.loads(frame["trial.state"][0]) == {"noise": 0.5, "lengthscale": [1.0, 2.0]}


def test_what_calls_returned_besides_is_exported(folder):
    q = ll.Minimize([(0.0, 1.0)], method="random", journal="run.db")
    q.ask(4)
    infos = [{"epochs": 3, "log": 'a "b"\n'}, {"curve": np.arange(3), "loss": np.nan}, {}]
    for trial, info in enumerate(infos):
        q.tell(trial, float(trial), info)
    q.fail(3, "a name that is no text: \udce9")
    q.close()
    assert leadline("export", "run.db", "out.csv").exit_code == 0
    frame = pd.read_csv("out.csv")
    assert json.loads(frame["info"][0]) == infos[0]
    assert frame["info"][1] == '{"curve": [0, 1, 2], "loss": NaN}'
    assert frame["info"][2:].isna().all()
    assert frame["reason"][3] == "a name that is no text: \\udce9"


def test_an_exported_table_is_read_back(folder):
    """With parameters that are called like its columns."""
    names = ("trial", "value", "failed", "reason", "seconds", "info")
    space = ll.Space({name: ll.Real(0.0, 1.0) for name in names})
    q = ll.Minimize(space, method="random", journal="run.db")
    for trial in q.ask(4):
        q.tell(trial, sum(trial.x.values()), {"operator": "Ada"})
    q.close()
    assert leadline("export", "run.db", "out.csv").exit_code == 0
    again = ll.Minimize(space, method="random")
    again.tell(pd.read_csv("out.csv"))
    assert [t.x for t in again.trials] == [t.x for t in q.trials]
    assert [t.value for t in again.trials] == [t.value for t in q.trials]
    header = next(line for line in leadline("show", "run.db").stdout.splitlines() if "x.t" in line)
    assert header.split() == ["trial", *(f"x.{name}" for name in names), "value", "seconds"]


def test_picture(folder):
    run("functions_of_the_user:broken", budget=2)
    done = leadline("show", "run.db", "--picture", "answer.png")
    assert (folder / "answer.png").read_bytes().startswith(b"\x89PNG")
    assert "Picture: answer.png" in done.stdout
    done = leadline("show", "run.db", "--picture", "answer.xyz")
    assert done.exit_code == 1
    assert "The picture answer.xyz cannot be written" in done.stderr


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
    Matern52().save("model.npz")
    assert "cannot be opened" in leadline("show", "model.npz").stderr


def test_help():
    text = leadline("--help").stdout
    assert "leadline run train:loss --space space.toml --budget 60 --journal run.db" in text
    for command in ("run", "show", "export"):
        assert leadline(command, "--help").exit_code == 0


def test_version(folder):
    done = leadline("--version")
    assert done.exit_code == 0
    assert done.stdout == f"leadline {importlib.metadata.version('leadline')}\n"
    assert ll.__version__ == importlib.metadata.version("leadline")


def test_tolerance(folder):
    done = run("functions_of_the_user:loss", "--tolerance", -1, "--method", "gp")
    assert "tolerance must be a number that is not negative, got -1.0" in done.stderr
    done = run("functions_of_the_user:loss", "--tolerance", 0.1)
    assert "tolerance needs a method that says how much improvement it expects" in done.stderr


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The folder of a campaign of 16 trials, to look at."""
    folder = tmp_path_factory.mktemp("finished")
    q = ll.Minimize([(0.0, 1.0)], method="random", journal=folder / "run.db")
    for trial in q.ask(16):
        q.tell(trial, float(trial.x[0]))
    q.close()
    return folder


def test_all_trials_are_listed_if_they_are_few(finished, monkeypatch):
    monkeypatch.chdir(finished)
    for last in (16, 17, 20, 31, 32, 100):
        assert listed("--last", last) == list(range(16))
    assert listed("--last", 15)[-15:] == list(range(1, 16))


@pytest.mark.parametrize("width", [0, 14])
def test_narrow_terminals(finished, width):
    shown = leadline("show", finished / "run.db", columns=width)
    assert shown.exit_code == 0
    assert "┤" in shown.stdout


@pytest.mark.parametrize("command", [("show",), ("export", "-")])
def test_a_reader_that_has_seen_enough(finished, monkeypatch, capsys, command):
    """As for `head`: nothing is said, also when Python ends, and the shell sees SIGPIPE."""
    verb, *more = command
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        with pytest.raises(SystemExit) as ended:
            app([verb, str(finished / "run.db"), *more])
    assert ended.value.code == 141
    assert capsys.readouterr().err == ""


def test_nobody_listens(finished, monkeypatch):
    """The shell closed standard output, as for a job without a terminal."""
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as ended:
        app(["show", str(finished / "run.db")])
    assert ended.value.code == 0


def test_a_table_for_nobody(finished, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as ended:
        app(["export", str(finished / "run.db"), "-"])
    assert ended.value.code == 1
    assert "no standard output" in capsys.readouterr().err


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


def test_the_best_call_and_the_recommended_one_are_marked(folder):
    """Values at points that were called twice differ, and the best of all is luck."""
    rng = np.random.default_rng(0)
    question = Minimize([(0.0, 1.0)] * 2, seed=0, journal="noisy.db")
    points = rng.random((40, 2))
    for x in np.concatenate([points, points[:20]]):
        question.tell(x, float((x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2 + rng.normal(0, 0.2)))
    question.tell([0.9, 0.1], -0.5)
    question.ask()
    recommended = question.answer().recommended.id
    question.close()
    shown = leadline("show", "noisy.db", "--last", "2").stdout
    lines = [line.rstrip() for line in shown.splitlines() if re.match(r" *\d+  ", line)]
    assert [int(line.split()[0]) for line in lines] == [recommended, 60, 61]
    assert lines[0].endswith("☆ recommended, given")
    assert lines[1].endswith("★ best")
    assert "the best call returned -0.5 at trial 60" in " ".join(shown.split())
