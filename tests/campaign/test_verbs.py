"""The verbs."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from leadline.boundary import InvalidData
from leadline.campaign import maximize, minimize
from leadline.questions import Minimize, methods
from leadline.spaces import Choice, Integer, Real, Space

ROOT = Path(__file__).resolve().parents[2]
BOX = [(0.0, 1.0)] * 2


def bowl(x):
    return float(np.sum((x - 0.3) ** 2))


def test_minimize_is_ask_and_tell():
    question = Minimize(BOX, method="random", seed=4)
    for _ in range(9):
        (trial,) = question.ask()
        question.tell(trial, bowl(trial.x))
    answer = minimize(bowl, BOX, budget=9, method="random", seed=4)
    assert [t.value for t in answer.trials] == [t.value for t in question.trials]
    assert answer.value == min(t.value for t in question.trials)


def test_maximize_is_minimize_of_the_negative():
    low = minimize(bowl, BOX, budget=9, method="random", seed=1)
    high = maximize(lambda x: -bowl(x), BOX, budget=9, method="random", seed=1)
    np.testing.assert_array_equal(low.x, high.x)
    assert high.value == -low.value


def test_named_points_are_dicts():
    space = Space(rate=Real(1e-3, 1.0, log=True), width=Integer(1, 9), act=Choice("a", "b"))

    def f(p):
        return p.pop("rate") * p["width"] + (p["act"] == "a")

    answer = minimize(f, space, budget=6, method="random", workers=2)
    assert not any(t.failed for t in answer.trials)
    assert set(answer.x) == {"rate", "width", "act"}


class Expectant(methods.GP):
    """Random points, each expected to improve half as much as the one before."""

    def suggest(self, space, seen, state, key):
        row, *_ = methods.Random().suggest(space, seen, state, key)
        return methods.Suggestion(row, {}, {"expected_improvement": 0.5 ** len(seen.y)})


@pytest.mark.parametrize(("tolerance", "trials"), [(0.0, 30), (1e9, 5), (0.5**8, 9)])
def test_the_campaign_ends_below_the_tolerance(tolerance, trials):
    answer = minimize(bowl, BOX, budget=30, method=Expectant(), tolerance=tolerance)
    assert len(answer.trials) == trials


def test_tolerance_needs_a_method_with_expectations():
    with pytest.raises(InvalidData, match=r"\('gp'\), and 'random' does not"):
        minimize(bowl, BOX, budget=9, method="random", tolerance=0.1)
    for tolerance in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InvalidData, match="tolerance must be a number that is not negative"):
            minimize(bowl, BOX, budget=9, tolerance=tolerance)


def test_an_unknown_option_is_an_error_before_any_call():
    with pytest.raises(TypeError, match=r"no option 'worker'\. Did you mean 'workers'\?"):
        minimize(bowl, BOX, budget=9, worker=2)


def test_every_call_fails():
    answer = minimize(lambda x: None, BOX, budget=7)
    assert len(answer.trials) == 7
    assert all(t.failed for t in answer.trials)
    assert answer.x is None
    assert "no value after 7 trials" in repr(answer)


@pytest.mark.slow
def test_two_processes_share_a_journal(tmp_path):
    """Both return all trials, and no point is called twice."""
    journal, log = tmp_path / "run.db", tmp_path / "log"
    command = [sys.executable, "-m", "tests.campaign.runner", "shared", str(journal), str(log)]
    processes = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=300.0) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    first, second = (json.loads(out) for out, _ in outputs)
    assert first == second
    assert len(first) == 60
    assert not any(running for *_, running in first)
    calls = log.read_text().splitlines()
    assert sorted(calls) == sorted(x for x, *_ in first)
    assert len(set(calls)) == 60
