"""Minimize over pools: every method asks candidates, and the best of them is found exactly."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import leadline as ll
from leadline.cli import app
from leadline.search import is_among

CANDIDATES = np.random.default_rng(1).random((300, 2))
POOL = ll.Pool(CANDIDATES)


def f(x):
    return float(np.sum((x - [0.3, 0.6]) ** 2))


BEST = min(map(f, CANDIDATES))


def minimize(space=POOL, **options):
    return ll.minimize(f, space, seed=0, progress=False, **options)


@pytest.mark.parametrize("method", ["gp", "thompson", "bore", "lfbo", "tpe", "random"])
def test_every_method_asks_candidates_and_none_twice(method):
    found = minimize(budget=16, method=method)
    asked = np.stack([trial.x for trial in found.trials])
    assert all(is_among(x, CANDIDATES) for x in asked)
    assert len(np.unique(asked, axis=0)) == 16
    if method in ("gp", "thompson"):
        assert found.value == BEST


def test_the_ask_is_the_best_of_all_candidates():
    """Brute force: no candidate that was not called has a higher expected improvement."""
    question = ll.Minimize(POOL, seed=3)
    for _ in range(8):
        trial = question.ask()[0]
        question.tell(trial, f(trial.x))
    asked = question.propose()
    belief = question.method._believe(POOL, question.seen(), question.state())
    reached = np.max(np.asarray(belief.posterior.predict(question.seen().x).mean))
    sought = question.method._ambition(belief, question.seen())
    gain = ll.acquisition.LogExpectedImprovement(belief.posterior, np.asarray(reached + sought))
    rows = np.array([row for row in POOL.every() if not is_among(row, question.seen().rows)])
    worth = np.asarray(gain.values(rows[:, None, :]))
    np.testing.assert_array_equal(POOL.encode([asked.point])[0], rows[np.argmax(worth)])


@pytest.mark.parametrize("options", [{"batch": 7}, {"workers": 3, "executor": "threads"}])
def test_a_pool_is_used_up(options):
    found = minimize(ll.Pool(CANDIDATES[:20]), budget=50, method="random", **options)
    assert len(found.trials) == 20
    assert len({tuple(trial.x) for trial in found.trials}) == 20


def test_batches_chosen_together_are_candidates():
    found = minimize(budget=13, batch=4, method=ll.methods.GP(batch="joint", initial=5))
    asked = np.stack([trial.x for trial in found.trials])
    assert len(np.unique(asked, axis=0)) == 13
    assert all(is_among(x, CANDIDATES) for x in asked)


def test_a_journal_of_a_pool(tmp_path):
    frame = pd.DataFrame(CANDIDATES[:40], columns=["a", "b"])
    frame["name"] = [f"number {i}" for i in range(40)]

    def g(point):
        return f([point["a"], point["b"]])

    journal = str(tmp_path / "pool.db")
    options = dict(method="random", seed=2, progress=False)
    ll.minimize(g, ll.Pool(frame), budget=6, journal=journal, **options)
    loaded = ll.load(journal)
    whole = ll.minimize(g, ll.Pool(frame), budget=9, **options)
    assert loaded.ask()[0].x == whole.trials[6].x
    resumed = ll.minimize(g, ll.Pool(frame), budget=9, journal=journal, **options)
    assert [t.x for t in resumed.trials] == [t.x for t in whole.trials]
    table = whole.to_frame()
    assert list(table["name"]) == [t.x["name"] for t in whole.trials]
    again = ll.minimize(g, ll.Pool(frame), budget=6, given=table.iloc[:5], **options)
    assert [t.x for t in again.trials[:5]] == [t.x for t in whole.trials[:5]]
    with pytest.raises(ll.InvalidData, match="settings"):
        ll.minimize(g, ll.Pool(frame.iloc[::-1]), budget=9, journal=journal, **options)


def test_the_picture_is_of_the_candidates():
    question = ll.Minimize(POOL, seed=0)
    for x in CANDIDATES[:12]:
        question.tell(x, f(x))
    picture = question.answer().plot()
    convergence, model = picture.axes
    assert model.get_title(loc="left") == "Model of the candidates"
    lines = {line.get_label(): line for line in model.get_lines()}
    assert np.all(np.diff(lines["mean"].get_ydata()) >= 0)
    assert len(lines["mean"].get_xdata()) == 300
    np.testing.assert_allclose(lines["value"].get_ydata(), [f(x) for x in CANDIDATES[:12]])
    assert convergence.get_title(loc="left") == "Convergence"


def test_a_journal_of_a_pool_that_is_too_large_to_write_down(tmp_path):
    """It is looked at without the candidates, and goes on with them."""
    big = np.random.default_rng(5).random((20_001, 2))
    journal = str(tmp_path / "pool.db")
    found = minimize(ll.Pool(big), budget=8, journal=journal)
    loaded = ll.load(journal)
    assert loaded.answer().value == found.value
    assert [a.get_title(loc="left") for a in loaded.answer().plot().axes] == ["Convergence"]
    shown = CliRunner().invoke(app, ["show", journal])
    assert shown.exit_code == 0, shown.output
    with pytest.raises(ll.InvalidData, match="digest of the 20001 candidates"):
        loaded.ask()
    assert len(minimize(ll.Pool(big), budget=9, journal=journal).trials) == 9
