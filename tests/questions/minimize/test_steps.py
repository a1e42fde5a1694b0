"""Numbers with steps in campaigns: every ask can be set, and data that cannot are still data."""

import numpy as np
import pytest

import leadline as ll
from leadline.ratios import MLP
from leadline.search import unseen

# A small network, so that tests are about asks.
QUICK = MLP(hidden=(8,), learning_rate=0.05, steps=40, members=2, bootstrap=True)
METHODS = [
    ll.methods.GP(initial=4),
    ll.methods.Thompson(features=64, initial=4),
    ll.methods.BORE(QUICK, initial=4),
    ll.methods.LFBO(QUICK, initial=4),
    ll.methods.TPE(initial=4),
    ll.methods.Random(),
]
OVEN = ll.Space(
    heat=ll.Real(20, 90, step=0.5),
    share=ll.Real(0.01, 1, log=True, decimals=2),
    constraint=lambda p: bool(p["heat"] % 0.5 == 0 and p["share"] == round(p["share"], 2)),
)


def loss(p):
    return (p["heat"] / 100 - 0.7995) ** 2 + (np.log10(p["share"]) + 1) ** 2


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_every_method_asks_for_what_can_be_set(method):
    """Beside data between two steps, the best of which is no answer."""
    question = ll.Minimize(OVEN, method=method, seed=0)
    best = question.tell({"heat": 79.95, "share": 0.1}, 0.0)
    for heat, share in ((79.96, 0.1004), (30.0, 0.5), (55.123, 0.02)):
        question.tell({"heat": heat, "share": share}, loss({"heat": heat, "share": share}))
    assert best.outside
    assert best.x["heat"] == 79.95
    for size in (1, 2):
        for trial in question.ask(size):
            OVEN.encode([trial.x])
            assert (trial.x["heat"] * 2) % 1 == 0
            assert repr(trial.x["share"]) == repr(round(trial.x["share"], 2))
            question.tell(trial, loss(trial.x))
    points = [tuple(t.x.values()) for t in question.trials]
    assert len(set(points)) == len(points)
    assert not question.answer().best.outside
    assert question.answer().value == min(t.value for t in question.trials if not t.outside)


@pytest.mark.slow
def test_points_chosen_together_can_be_set():
    question = ll.Minimize(OVEN, method=ll.methods.GP(batch="joint", initial=4), seed=0)
    for heat, share in ((79.95, 0.1), (30.0, 0.5), (55.123, 0.02), (70.0, 0.2)):
        question.tell({"heat": heat, "share": share}, loss({"heat": heat, "share": share}))
    points = [trial.x for trial in question.ask(3)]
    assert OVEN.decode(OVEN.encode(points)) == points
    assert len({tuple(point.values()) for point in points}) == 3


def test_noise_does_not_make_data_between_steps_an_answer():
    question = ll.Minimize(OVEN, method=METHODS[0], seed=0)
    for k, heat in enumerate((30.0, 45.3, 45.3, 45.3, 50.0, 70.0)):
        for noise in (0.1, -0.1):
            value = abs(heat - 45.0) / 10 + noise * (1 + k % 3)
            question.tell({"heat": heat, "share": 0.1}, value)
    question.ask()
    assert question.method.recommend(question.space, question.seen(), question.state()) is not None
    found = question.answer()
    assert found.best.x["heat"] == found.x["heat"] == 50.0
    # Of two calls at one point it is the first, whichever was luckier.
    assert (found.recommended.id, found.best.id) == (8, 9)


def test_steps_are_used_up():
    space = ll.Space(p=ll.Real(0, 1, step=0.25))
    question = ll.Minimize(space, method="random", seed=0)
    question.tell({"p": 0.3}, 1.0)
    assert {trial.x["p"] for trial in question.ask(5)} == {0.0, 0.25, 0.5, 0.75, 1.0}
    with pytest.raises(ll.questions.Exhausted):
        question.ask()
    assert unseen(space, space.every(), question.key()) is None


def test_an_answer_of_data_from_outside_alone():
    question = ll.Minimize(OVEN, method="random")
    question.tell({"heat": 79.95, "share": 0.1}, 0.5)
    assert question.answer().x is None
    assert "outside of the space" in repr(question.answer())


def test_a_journal_keeps_steps_and_widens(tmp_path):
    where = tmp_path / "oven.db"
    narrow, wide = ({"heat": ll.Real(20, high, step=0.5)} for high in (90, 90.5))
    question = ll.Minimize(ll.Space(narrow), method="random", journal=where)
    asked = [trial.x for trial in question.ask(3)]
    question.close()
    question = ll.Minimize(ll.Space(wide), method="random", journal=where)
    assert [trial.x for trial in question.trials] == asked
    question.close()
    assert ll.load(where).space == ll.Space(wide)
    for other in (ll.Real(20, 100), ll.Real(19.8, 90.8, step=0.5), ll.Real(20, 91, step=0.25)):
        with pytest.raises(ll.InvalidData, match="settings"):
            ll.Minimize(ll.Space(heat=other), method="random", journal=where)
