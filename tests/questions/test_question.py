"""The contract: a fold over events, the same live and replayed."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leadline as ll
from leadline.questions import Asked, Failed, Given, Told

BOX = [(0.0, 1.0), (-5.0, 5.0)]


def same(one, other):
    """Whether two questions are the same, bit for bit."""
    assert len(one.trials) == len(other.trials)
    for a, b in zip(one.trials, other.trials, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
        assert (a.id, a.value, a.reason, a.asked) == (b.id, b.value, b.reason, b.asked)
    assert set(one.state()) == set(other.state())
    for name, value in one.state().items():
        np.testing.assert_array_equal(value, other.state()[name])


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from("atfg"), st.integers(0, 10**6)), max_size=25))
def test_replayed_events_give_the_live_question(steps):
    live = ll.Minimize(BOX, method="random", seed=3)
    events = []

    def do(event):
        events.append(event)
        live.apply(event)

    for kind, number in steps:
        running = [t for t in live.trials if t.running]
        if kind == "g":
            point = np.array([number / 10**6, number / 10**6])
            do(Given(len(live.trials), point, float(number)))
        elif kind == "a" or not running:
            do(live.propose())
        elif kind == "t":
            do(Told(running[number % len(running)].id, number / 7.0))
        else:
            do(Failed(running[number % len(running)].id, "no luck"))
    replayed = ll.Minimize(BOX, method="random", seed=3)
    for event in events:
        replayed.apply(event)
    same(live, replayed)
    one, two = live.propose(), replayed.propose()
    np.testing.assert_array_equal(one.point, two.point)


def test_points_asked_at_once_are_those_asked_one_by_one():
    at_once, one_by_one = ll.Minimize(BOX, seed=4), ll.Minimize(BOX, seed=4)
    at_once.ask(8)
    for _ in range(8):
        one_by_one.ask()
    same(at_once, one_by_one)


def test_a_proposal_changes_nothing():
    question = ll.Minimize(BOX, seed=1)
    question.ask(2)
    events = question.propose_batch(3)
    assert [e.trial for e in events] == [2, 3, 4]
    assert len(question.trials) == 2


def test_events_out_of_order_are_errors():
    question = ll.Minimize(BOX, seed=0)
    (trial,) = question.ask()
    with pytest.raises(ll.InvalidData, match="Trials start in order: the next is 1, got 5"):
        question.apply(Asked(5, trial.x))
    with pytest.raises(ll.InvalidData, match="Trial 7 is unknown"):
        question.apply(Told(7, 1.0))
    question.tell(trial, 1.0)
    with pytest.raises(ll.InvalidData, match="finished already"):
        question.tell(trial, 2.0)
    with pytest.raises(ll.InvalidData, match="finished already"):
        question.fail(trial, "too late")
    with pytest.raises(ll.InvalidData, match="Trial 3 is unknown: this question has 1 trials"):
        question.fail(3, "no trial")
    with pytest.raises(ll.InvalidData, match="at least 1 point"):
        question.ask(0)
    for n in ("8", 8.0, True, None):
        with pytest.raises(ll.InvalidData, match="whole number of points"):
            question.ask(n)


def test_trials_say_what_became_of_them():
    question = ll.Minimize(BOX, seed=0)
    told, failed, running = question.ask(3)
    told = question.tell(told, np.float32(0.5), info={"loss": [1, 2]})
    failed = question.fail(failed, "out of memory")
    given_ = question.tell([0.5, 0.0], 0.25)
    assert told.value == 0.5
    assert isinstance(told.value, float)
    assert told.info == {"loss": [1, 2]}
    assert failed.failed
    assert failed.value is None
    assert failed.reason == "out of memory"
    assert running.running
    assert not given_.asked
    assert "running" in repr(running)
    assert "out of memory" in repr(failed)
    assert "4 trials, 1 running, 1 failed" in repr(question)


def test_a_point_that_changes_later_does_not_change_its_trial():
    question = ll.Minimize(BOX, seed=0)
    point = np.array([0.5, 0.0])
    question.tell(point, 1.0)
    point[:] = 0.1
    np.testing.assert_array_equal(question.trials[0].x, [0.5, 0.0])


@pytest.mark.parametrize("seed", [-1, 1.0, 1.5, "0", True, 2**63, 2**70])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(ll.InvalidData, match="seed must be a whole number"):
        ll.Minimize(BOX, seed=seed)
    # The types of verbs are checked in tests, and then what is no number does not get in.
    if isinstance(seed, int):
        with pytest.raises(ll.InvalidData, match="seed must be a whole number"):
            ll.minimize(lambda x: 0.0, BOX, budget=2, seed=seed)


def test_settings_are_json_and_tell_questions_apart():
    space = ll.Space(rate=ll.Real(1e-4, 1, log=True), kind=ll.Choice("a", "b"))
    questions = [
        ll.Minimize(space),
        ll.Maximize(space),
        ll.Minimize(space, seed=1),
        ll.Minimize(space, method="random"),
        ll.Minimize(space, method=ll.methods.GP(initial=7)),
        ll.Minimize(BOX),
    ]
    texts = [json.dumps(q.settings(), sort_keys=True) for q in questions]
    assert len(set(texts)) == len(texts)
