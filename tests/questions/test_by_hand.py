"""A question that keeps a journal of its own: a campaign by hand, over weeks, by several people."""

import dataclasses
import math
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import leadline as ll
from leadline.journal import Asked, MemoryJournal, Widened

BOX = [(0.0, 1.0), (-5.0, 5.0)]
NAMED = ll.Space(heat=ll.Real(20.0, 90.0), hours=ll.Integer(1, 8), oil=ll.Choice("a", "b"))


def bowl(x):
    return float(x[0] ** 2 + (x[1] - 1.0) ** 2)


def question(where=None, space=BOX, **options):
    return ll.Minimize(space, **{"method": "random", "seed": 3, **options}, journal=where)


def became(trials):
    """What is known of trials, to compare."""
    fields = [field.name for field in dataclasses.fields(trials[0])] if trials else []
    return [
        {name: repr(getattr(trial, name)) for name in fields if name != "earlier"}
        | {"earlier": became(trial.earlier)}
        for trial in trials
    ]


def test_a_campaign_over_weeks(database):
    """Each week another process asks, and tells what the last one asked."""
    path, whole = database.where, question()
    for week in range(3):
        q = question(path)
        for trial in [t for t in q.trials if t.running]:
            q.tell(trial.id, bowl(trial.x))
            whole.tell(trial.id, bowl(trial.x))
        q.ask(2)
        whole.ask(2)
        if week == 1:
            q.fail(3, "the tube broke")
            whole.fail(3, "the tube broke")
        assert became(q.trials) == became(whole.trials)
        q.close()
    loaded = ll.load(path)
    assert became(loaded.trials) == became(whole.trials)
    assert loaded.answer().value == whole.answer().value
    # A loaded question continues it, and the journal knows.
    loaded.tell(4, 0.5)
    asked = loaded.ask()[0]
    np.testing.assert_array_equal(asked.x, [whole.tell(4, 0.5), *whole.ask()][1].x)
    loaded.close()
    assert became(question(path).trials) == became(whole.trials)


def test_the_model_goes_on_as_if_nothing_had_happened(tmp_path):
    """Hyper-parameters are kept with the asks."""
    path, options = tmp_path / "lab.db", dict(method=ll.methods.GP(initial=4))
    whole = question(**options)
    for _ in range(7):
        q = question(path, **options)
        (one,), (other,) = q.ask(), whole.ask()
        np.testing.assert_array_equal(one.x, other.x)
        q.tell(one, bowl(one.x))
        whole.tell(other, bowl(other.x))
        q.close()


def test_what_can_be_said_of_a_trial(place):
    journal = place.where or MemoryJournal()
    q = question(journal)
    q.ask(4)
    assert q.tell(0, 0.3).value == 0.3
    assert q.tell(q.trials[1], 0.2, {"operator": "Ada"}).info == {"operator": "Ada"}
    assert q.fail(2, "spilled").reason == "spilled"
    assert q.withdraw(3).withdrawn
    # Points that nobody asked for: with a value, and without.
    assert not q.tell([0.5, 0.0], 0.25).asked
    failed = q.fail([0.5, 4.0], "boiled over")
    assert failed.failed
    assert not failed.asked
    # What was said before a correction is kept.
    assert q.correct(1, 0.4).value == 0.4
    assert q.correct(1, reason="the scale was off").failed
    assert q.correct(2, 0.1).value == 0.1
    assert q.correct(3, 0.7).value == 0.7
    for trials in (q.trials, ll.load(journal).trials):
        assert [t.value for t in trials] == [0.3, None, 0.1, 0.7, 0.25, None]
        assert [t.value for t in trials[1].earlier] == [0.2, 0.4]
        assert trials[1].reason == "the scale was off"
        assert trials[1].info == {"operator": "Ada"}
        assert trials[2].earlier[0].reason == "spilled"
        assert not trials[3].withdrawn
        assert trials[3].earlier[0].withdrawn
    assert q.answer().x is q.trials[2].x


def test_the_model_sees_what_was_corrected():
    q = question()
    for trial in q.ask(3):
        q.tell(trial, 1.0)
    q.seen()
    q.correct(1, 9.0)
    q.correct(2, reason="nothing was measured")
    seen = q.seen()
    np.testing.assert_array_equal(seen.y, [-1.0, -9.0])
    np.testing.assert_array_equal(seen.failed, q.space.encode([q.trials[2].x]))


def test_a_withdrawn_point_is_not_asked_again():
    q = ll.Minimize(ll.Space(kind=ll.Choice("a", "b", "c")), method="random", seed=0)
    gone = q.ask()[0]
    q.withdraw(gone)
    assert gone.x["kind"] not in {trial.x["kind"] for trial in q.ask(5)}
    # It is neither a running call nor a failure to the model.
    assert len(q.seen().running) == 2
    assert len(q.seen().failed) == 0
    assert "1 withdrawn" in q.counts()
    assert q.record(q.trials[0])["reason"] == "withdrawn"
    with pytest.raises(ll.InvalidData, match="finished already"):
        q.tell(gone, 1.0)


def test_a_point_that_was_asked_is_known_when_it_is_told():
    """People copy settings from a sheet, which shows fewer digits."""
    q = question(space=NAMED)
    trial = q.ask(3)[1]
    copied = {**trial.x, "heat": float(f"{trial.x['heat']:.12g}")}
    assert q.tell(copied, 0.5).id == trial.id
    assert q.tell(copied, 0.5).id == 3


def test_a_trial_of_another_question_is_not_told(tmp_path):
    """By its number alone it would be another point."""
    path = tmp_path / "lab.db"
    q, same = question(path), question(path)
    asked = q.ask(2)
    assert same.tell(asked[0], 0.5).value == 0.5
    for other in (question(seed=4), question(space=NAMED)):
        theirs = other.ask(2)[1]
        for say in (
            lambda trial: q.tell(trial, 0.1),
            lambda trial: q.fail(trial, "no"),
            q.withdraw,
            lambda trial: q.correct(trial, 0.1),
        ):
            with pytest.raises(ll.InvalidData, match=r"another question: here trial 1 is"):
                say(theirs)
    assert ll.load(path).trials[1].running


def test_a_sheet_of_experiments(tmp_path):
    q = question(tmp_path / "lab.db", NAMED)
    asked = q.ask(3)
    sheet = pd.DataFrame([trial.x for trial in asked])[["oil", "heat", "hours"]]
    sheet["value"] = [0.5, math.nan, 0.7]
    sheet["operator"] = "Ada"
    told = q.tell(sheet)
    assert [t.id for t in told] == [0, 2]
    assert [t.running for t in q.trials] == [False, True, False]
    # The rows that are new only, next week.
    sheet.loc[1, "value"] = 0.6
    assert [t.id for t in q.tell(sheet.iloc[1:2])] == [1]
    belief = q.answer().predict(sheet)
    assert belief.mean.shape == (3,)
    np.testing.assert_array_equal(belief.mean, q.answer().predict([t.x for t in asked]).mean)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.drop(columns="heat"), "lacks the columns 'heat'"),
        (lambda s: s.assign(value=[0.5, "high"]), "Row 1 of the frame.*'high'"),
        (lambda s: s.assign(oil=["a", "c"]), "Row 1 of the frame.*'c'"),
        (lambda s: s.assign(hours=[1.5, 2]), "Row 0 of the frame"),
    ],
)
def test_a_sheet_with_a_mistake_is_told_not_at_all(change, message):
    q = question(space=NAMED)
    sheet = pd.DataFrame({"heat": [30.0, 40.0], "hours": [1, 2], "oil": ["a", "b"], "value": 1.0})
    with pytest.raises(ll.InvalidData, match=message):
        q.tell(change(sheet))
    assert q.trials == ()
    with pytest.raises(ll.InvalidData, match="A frame is told alone"):
        q.tell(sheet, 1.0)


def test_mistakes_change_nothing(tmp_path):
    q = question(tmp_path / "lab.db")
    q.ask(2)
    q.tell(0, 1.0)
    for act, message in (
        (lambda: q.tell(7, 1.0), "Trial 7 is unknown: this question has 2 trials"),
        (lambda: q.tell(-1, 1.0), "Trial -1 is unknown"),
        (lambda: q.tell(0, 2.0), "`correct` changes what was said of it"),
        (lambda: q.tell(1, math.nan), "finite"),
        (lambda: q.tell([0.5, math.nan], 1.0), "finite"),
        (lambda: q.correct(1, 2.0), "has not ended yet"),
        (lambda: q.correct(0), "A correction is a value"),
        (lambda: q.correct(0, 1.0, reason="and none"), "A correction is a value"),
        (lambda: q.correct([0.5, 0.5], 1.0), "A trial is one from ask, or its number"),
        (lambda: q.withdraw(0), "finished already"),
        (lambda: q.keep(tmp_path / "other.db"), "keeps its journal from the start"),
    ):
        with pytest.raises(ll.InvalidData, match=message):
            act()
    assert [t.value for t in q.trials] == [1.0, None]
    assert became(ll.load(tmp_path / "lab.db").trials) == became(q.trials)
    with pytest.raises(ll.InvalidData, match="seed"):
        question(tmp_path / "lab.db", seed=4)
    with pytest.raises(ll.InvalidData, match="cannot be copied to another process"):
        pickle.dumps(q)


def test_two_people_on_one_journal(database):
    """Each knows what the other did at the next ask or tell, and nobody asks a point twice."""
    ada, ben = question(database.where), question(database.where)
    first, second = ada.ask()[0], ben.ask()[0]
    assert (first.id, second.id) == (0, 1)
    ada.tell(1, 0.5)
    with pytest.raises(ll.InvalidData, match="finished already"):
        ben.tell(1, 0.6)
    assert ben.ask(2)[0].id == 2
    ada.withdraw(3)
    ben.catch_up()
    assert became(ada.trials) == became(ben.trials)
    ada.close()
    ben.close()


def test_a_function_takes_part(database):
    """A campaign calls what was asked by hand and is not told yet, and does not wait for people."""
    q = question(database.where)
    asked = q.ask(2)
    q.tell(0, 0.5)
    # The program of the person still runs.
    found = ll.minimize(
        bowl, BOX, method="random", seed=3, budget=4, journal=database.where, progress=False
    )
    assert [t.value for t in found.trials[:2]] == [0.5, bowl(asked[1].x)]
    with pytest.raises(ll.InvalidData, match="finished already"):
        q.tell(1, 0.1)
    assert became(q.trials) == became(found.trials)
    q.close()


def test_corrections_and_withdrawals_count_in_a_campaign(tmp_path):
    """What is withdrawn is no call of the budget."""
    path, options = tmp_path / "lab.db", dict(method="random", seed=3, progress=False)
    q = question(path)
    q.ask(3)
    q.withdraw(1)
    q.fail(0, "spilled")
    q.correct(0, 0.25)
    q.close()
    found = ll.minimize(bowl, BOX, budget=4, journal=path, **options)
    assert [t.value is None for t in found.trials] == [False, True, False, False, False]


def test_a_campaign_wants_a_question_that_keeps_no_journal(tmp_path):
    from leadline.campaign import CampaignOptions, run

    q = question(tmp_path / "lab.db")
    with pytest.raises(ll.InvalidData, match="asked and told by hand"):
        run(q, bowl, CampaignOptions(5))


def test_every_word_is_on_disk_when_it_is_said(tmp_path):
    """The process of a person is killed right after an ask."""
    script = (
        "import os, sys, leadline as ll\n"
        "q = ll.Minimize([(0.0, 1.0)], method='random', seed=3, journal=sys.argv[1])\n"
        "q.ask(2)\nq.tell(0, 0.5)\nos.kill(os.getpid(), 9)\n"
    )
    path = str(tmp_path / "lab.db")
    for ended in (1, 2):
        subprocess.run([sys.executable, "-c", script, path], check=False, timeout=120)
        trials = ll.load(path).trials
        # The second time trial 0 is finished already, and the ask is all that it says.
        assert [t.value for t in trials] == [0.5, None] + [None, None] * (ended - 1)


def test_a_wider_space_on_the_same_journal(database):
    narrow = ll.Space(heat=ll.Real(20.0, 90.0), hours=ll.Integer(1, 8), oil=ll.Choice("a", "b"))
    wide = ll.Space(heat=ll.Real(20.0, 150.0), hours=ll.Integer(0, 8), oil=ll.Choice("a", "b"))
    q = question(database.where, narrow)
    for trial in q.ask(4):
        q.tell(trial, trial.x["heat"])
    hot = q.tell({"heat": 120.0, "hours": 3, "oil": "a"}, 1.0)
    assert hot.outside
    assert q.answer().value > 1.0
    other = question(database.where, narrow)
    wider = question(database.where, wide)
    assert [t.value for t in wider.trials] == [t.value for t in q.trials]
    # What was outside is an answer now.
    assert wider.answer().value == 1.0
    np.testing.assert_allclose(wider.seen().x[-1][0], 100 / 130)
    assert max(trial.x["heat"] for trial in wider.ask(20)) > 90.0
    # Others learn of it, and the journal goes on with the wider space only.
    other.catch_up()
    assert other.space.describe() == wide.describe()
    assert became(other.trials) == became(ll.load(database.where).trials)
    with pytest.raises(ll.InvalidData, match="heat"):
        question(database.where, narrow)
    for each in (q, other, wider):
        each.close()


@pytest.mark.parametrize(
    "space",
    [
        {"heat": ll.Real(20.0, 80.0)},
        {"heat": ll.Real(20.0, 150.0, log=True)},
        {"heat": ll.Real(20.0, 150.0), "more": ll.Real(0.0, 1.0)},
        {"warmth": ll.Real(20.0, 150.0)},
    ],
)
def test_only_bounds_may_widen(space):
    journal = MemoryJournal()
    question(journal, ll.Space(heat=ll.Real(20.0, 90.0)))
    with pytest.raises(ll.InvalidData, match="settings"):
        question(journal, ll.Space(space))


def test_what_was_learned_in_a_smaller_space_is_learned_anew():
    """Length scales are in units of the space."""
    q, wider = question(), question(space=[(0.0, 2.0), (-5.0, 5.0)])
    q.apply(Asked(0, np.array([0.5, 0.0]), {"lengthscale": np.ones(2)}))
    assert q.state()
    q.apply(Widened(wider.space.describe()))
    assert not q.state()


def test_points_outside_of_the_bounds_are_data():
    """Models learn from them; they are no answer, and asks stay inside."""
    q = ll.Minimize(BOX, method=ll.methods.GP(initial=4), seed=0)
    for x in ([1.5, 1.0], [-0.5, 1.0], [0.5, 7.0], [0.5, 1.0], [0.9, -2.0]):
        q.tell(x, x[0] + abs(x[1] - 1.0))
    assert [t.outside for t in q.trials] == [True, True, True, False, False]
    assert "outside of the space" in q.remark(q.trials[0])
    (trial,) = q.ask()
    assert 0.0 <= trial.x[0] <= 1.0
    assert -5.0 <= trial.x[1] <= 5.0
    answer = q.answer()
    assert answer.value == 0.5
    # Beyond the bounds the model knows what it was told there.
    assert abs(answer.predict([[-0.5, 1.0]]).mean[0] + 0.5) < 0.2


@pytest.mark.parametrize("method", ["bore", "lfbo", "tpe", "thompson", "random"])
def test_every_method_takes_points_from_outside(method):
    q = ll.Minimize(BOX, method=method, seed=0)
    rng = np.random.default_rng(0)
    for x in rng.uniform([-0.5, -6.0], [1.5, 6.0], (30, 2)):
        q.tell(x, bowl(x))
    (trial,) = q.ask()
    assert np.all(q.space.encode([trial.x]) == q.space.locate([trial.x]))
    best = q.answer().best
    assert not best.outside
    inside = [t.value for t in q.trials if not t.outside and t.value is not None]
    assert best.value == min(inside) or method == "thompson"


def test_what_a_question_says_of_itself(tmp_path):
    q = question(tmp_path / "lab.db")
    assert "lab.db" in repr(q)
    assert "lab.db" in repr(ll.load(tmp_path / "lab.db"))
    assert repr(question(MemoryJournal())).endswith(", in the journal in memory)")
    q.ask()
    q.withdraw(0)
    assert repr(q.trials[0]).endswith("withdrawn)")
