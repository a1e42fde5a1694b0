"""One trial: all that is known of it."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from tests.cli.calls import leadline, run
from tests.journal.test_read_only import nothing_may_be_written

import leadline as ll

SPACE = ll.Space(rate=ll.Real(0.0, 1.0), act=ll.Choice("[relu]", "[tanh]"))
INFO = {"log": "line 1\nline 2", "curve": np.arange(500.0), "pair": np.array([0.5, 0.25])}


@pytest.fixture
def lab(folder):
    """A campaign by hand, with something of everything."""
    q = ll.Minimize(SPACE, method="random", constraints=1, journal="lab.db")
    q.ask(4)
    q.tell(0, (1.0, [0.5]), INFO)
    q.correct(0, (0.3, [-0.5]))
    q.correct(0, reason="the scale was off\nby a gram")
    q.correct(0, (0.2, [-0.25]))
    q.fail(1, "spilled")
    q.withdraw(2)
    q.tell({"rate": 3.0, "act": "[tanh]"}, (0.1, [1.0]))
    q.close()
    return q


def shown(number, journal: str | Path = "lab.db"):
    done = leadline("show", journal, "--trial", number)
    assert done.exit_code == 0
    return done.stdout.splitlines()


def test_everything_that_is_known(lab):
    lines = shown(0)
    assert lines[0] == "Trial 0: ★ best"
    point = lines.index("Point")
    assert lines[point + 1 : point + 3] == [
        f"  rate  {lab.trials[0].x['rate']!r}",
        f"  act   {lab.trials[0].x['act']}",
    ]
    outcome = lines.index("What became of it")
    assert lines[outcome + 1 : outcome + 3] == ["  value         0.2", "  constraint_0  -0.25"]
    info = lines.index("Info")
    assert lines[info + 1 : info + 5] == [
        "  log    line 1",
        "         line 2",
        "  curve  [  0.,   1.,   2., ..., 497., 498., 499.]",
        "  pair   [0.5 , 0.25]",
    ]
    before = lines.index("Before it was corrected")
    assert lines[before + 1].startswith("  1.  value 1.0, constraint_0 0.5, info {'log': ")
    assert lines[before + 2].startswith("  2.  value 0.3, constraint_0 -0.5, info {'log': ")
    assert lines[before + 3 :] == ["  3.  failed: the scale was off", "      by a gram"]


def test_what_has_no_value(lab):
    assert shown(1)[0] == "Trial 1: spilled"
    assert shown(2)[0] == "Trial 2: withdrawn"
    assert shown(3)[0] == "Trial 3: running"
    assert "What became of it" not in shown(3)


def test_what_nobody_asked_for(lab):
    lines = shown(4)
    assert lines[0] == "Trial 4: not allowed"
    assert lines[-2:] == ["  given                 yes", "  outside of the space  yes"]


def test_the_traceback_of_a_failure(folder):
    run("functions_of_the_user:broken", budget=1)
    lines = shown(0, "run.db")
    assert lines[0] == "Trial 0: ValueError: never"
    assert "  reason   ValueError: never" in lines
    assert any(line.startswith("  seconds  ") for line in lines)
    traceback = lines[lines.index("Traceback") + 1 :]
    assert traceback[0] == "  Traceback (most recent call last):"
    assert '    raise ValueError("never")' in [line[2:] for line in traceback]
    assert traceback[-1] == "  ValueError: never"


def test_what_the_method_knew(folder):
    journal = ll.journal.open_journal("asked.db")
    q = ll.Minimize(SPACE, method="random")
    journal.open(q.settings())
    state = {"noise": np.array(0.5), "lengthscale": np.array([1.0, 2.0])}
    point = {"rate": 0.5, "act": "[tanh]"}
    journal.claim([ll.questions.Asked(0, point, state, {"expected_improvement": 0.125})])
    journal.close()
    assert shown(0, "asked.db")[-7:] == [
        "",
        "Notes of the method",
        "  expected_improvement  0.125",
        "",
        "State of the method",
        "  noise        0.5",
        "  lengthscale  [1., 2.]",
    ]


def test_it_is_shown_where_nothing_may_be_written():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lab.db")
        q = ll.Minimize(SPACE, method="random", journal=path)
        q.tell(q.ask()[0], 0.5)
        q.close()
        lines = shown(0, path)
        os.chmod(folder, 0o755)
        with nothing_may_be_written(Path(folder)):
            assert shown(0, path) == lines


def test_a_trial_that_does_not_exist(lab):
    done = leadline("show", "lab.db", "--trial", 5)
    assert done.exit_code == 1
    assert done.stderr == "leadline: There is no trial 5: the journal has trials 0 to 4.\n"
    ll.Minimize(SPACE, journal="empty.db").close()
    assert "no trials yet" in leadline("show", "empty.db", "--trial", 0).stderr
    assert leadline("show", "lab.db", "--trial", -1).exit_code == 2
