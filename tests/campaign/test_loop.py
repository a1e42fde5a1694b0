"""The loop: budgets, order, workers, rounds, and what ends a campaign."""

import threading
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.campaign.toys import Listed, Toy, history, replayed

from leadline.boundary import InvalidData
from leadline.campaign import CampaignOptions, MemoryJournal, run
from leadline.campaign import _loop as loop_module
from leadline.questions import Failed, Given, Minimize, Told


def f(x):
    return float(x[0] + 2.0 * x[1])


def campaign(question, f, budget, **options):
    return run(question, f, CampaignOptions.of(budget, {"progress": False, **options}))


def test_sequential_campaign_is_ask_and_tell():
    by_hand = Toy()
    for _ in range(12):
        (trial,) = by_hand.ask()
        by_hand.tell(trial, f(trial.x))
    assert history(campaign(Toy(), f, 12)) == history(by_hand.trials)


@pytest.mark.parametrize(
    "options", [{}, {"workers": 3}, {"batch": 4}, {"executor": "threads", "workers": 2}]
)
def test_a_replay_of_the_journal_is_the_question_that_ran(options):
    def sometimes(x):
        if x[0] < 0.3:
            raise ValueError("too small")
        return f(x), {"twice": 2.0 * x[0]}

    journal, question = MemoryJournal(), Toy()
    trials = campaign(question, sometimes, 15, journal=journal, **options)
    again = replayed(Toy(), journal)
    assert history(again.trials) == history(trials)
    assert [t.id for t in trials] == list(range(15))
    assert any(t.failed for t in trials)
    np.testing.assert_array_equal(again.propose().point, question.propose().point)


@given(st.lists(st.sampled_from(["ask", "tell", "fail", "give"]), max_size=20), st.data())
def test_events_in_their_order_are_all_a_question_depends_on(steps, data):
    live, events = Minimize([(0.0, 1.0)] * 2, method="random", seed=3), []
    for step in steps:
        running = [t.id for t in live.trials if t.running]
        if step == "ask":
            event = live.propose()
        elif step == "give":
            point = np.array(data.draw(st.tuples(st.floats(0, 1), st.floats(0, 1))))
            event = Given(len(live.trials), point, 1.5)
        elif not running:
            continue
        else:
            trial = data.draw(st.sampled_from(running))
            event = Told(trial, data.draw(st.floats(-9, 9))) if step == "tell" else None
            event = event or Failed(trial, "no")
        live.apply(event)
        events.append(event)
    again = Minimize([(0.0, 1.0)] * 2, method="random", seed=3)
    for event in events:
        again.apply(event)
    assert history(again.trials) == history(live.trials)
    np.testing.assert_array_equal(again.propose().point, live.propose().point)


def test_no_more_calls_at_once_than_workers_and_no_fewer():
    together, most, lock, now = threading.Barrier(3), [0], threading.Lock(), set()

    def f(x):
        with lock:
            now.add(threading.get_ident())
            most[0] = max(most[0], len(now))
        # Goes on only when three calls run at once.
        together.wait(60.0)
        with lock:
            now.discard(threading.get_ident())
        return 1.0

    question = Toy()
    assert all(t.value == 1.0 for t in campaign(question, f, 12, workers=3))
    assert most[0] == 3
    assert {n for n, _ in question.batches} == {1}


def test_a_batch_is_asked_jointly_and_awaited():
    question, together = Toy(), threading.Barrier(4)

    def f(x):
        together.wait(60.0)
        return float(x[0])

    assert len(campaign(question, f, 12, batch=4)) == 12
    assert question.batches == [(4, 0)] * 3


def test_a_batch_with_fewer_workers_runs_through_them():
    question, lock, now, most = Toy(), threading.Lock(), [0], [0]

    def f(x):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        threading.Event().wait(0.005)
        with lock:
            now[0] -= 1
        return 0.0

    trials = campaign(question, f, 11, batch=5, workers=2)
    assert len(trials) == 11
    assert not any(t.running for t in trials)
    assert question.batches == [(5, 0), (5, 0), (1, 0)]
    assert most[0] <= 2


def test_the_budget_counts_failures_and_not_data_that_was_given():
    journal = MemoryJournal()
    journal.open(Toy().settings())
    journal.give(Given(0, np.array([0.5, 0.5]), 7.0))

    def never(x):
        raise ValueError("never")

    trials = campaign(Toy(), never, 3, journal=journal)
    assert [t.asked for t in trials] == [False, True, True, True]
    assert [t.reason for t in trials[1:]] == ["ValueError: never"] * 3


def test_a_larger_budget_continues_and_the_same_one_calls_nothing():
    journal, calls = MemoryJournal(), []

    def counted(x):
        calls.append(tuple(x))
        return f(x)

    campaign(Toy(), counted, 5, journal=journal)
    campaign(Toy(), counted, 5, journal=journal)
    campaign(Toy(), counted, 3, journal=journal)
    assert len(calls) == 5
    trials = campaign(Toy(), counted, 12, journal=journal)
    assert len(calls) == len(set(calls)) == 12
    assert history(trials) == history(campaign(Toy(), f, 12))


def test_other_settings_are_an_error():
    journal = MemoryJournal()
    campaign(Toy(), f, 3, journal=journal)
    with pytest.raises(InvalidData, match=r"(?s)seed.*0.*1"):
        campaign(Toy(seed=1), f, 5, journal=journal)


class FakeTime(types.SimpleNamespace):
    now = 0.0

    def monotonic(self):
        return self.now


@pytest.mark.parametrize(("options", "calls"), [({}, 3), ({"batch": 2, "workers": 1}, 3)])
def test_no_call_starts_after_the_seconds_are_over(monkeypatch, options, calls):
    clock = FakeTime()
    monkeypatch.setattr(loop_module, "time", clock)

    def f(x):
        clock.now += 10.0
        return 0.0

    trials = campaign(Toy(), f, 50, seconds=25.0, **options)
    assert sum(t.value == 0.0 for t in trials) == calls


def test_calls_in_flight_are_awaited_when_the_seconds_are_over(monkeypatch):
    clock, together = FakeTime(), threading.Barrier(3)
    monkeypatch.setattr(loop_module, "time", clock)

    def f(x):
        together.wait(60.0)
        clock.now = 10.0
        return 0.0

    trials = campaign(Toy(), f, 50, seconds=5.0, workers=3)
    assert [t.value for t in trials] == [0.0] * 3


def test_the_callback_hears_of_every_trial_and_may_end_the_campaign():
    heard, question = [], Toy()

    def callback(trial):
        heard.append(trial.id)
        assert question.trials[trial.id] is trial
        return len(heard) == 4

    assert len(campaign(question, f, 50, callback=callback)) == 4
    assert heard == [0, 1, 2, 3]


def test_calls_in_flight_are_awaited_when_the_callback_ends_the_campaign():
    together = threading.Barrier(3)

    def f(x):
        together.wait(60.0)
        return 0.0

    trials = campaign(Toy(), f, 50, workers=3, callback=lambda trial: True)
    assert 3 <= len(trials) <= 5
    assert not any(t.running for t in trials[:3])


def test_a_callback_that_returns_something_by_chance_ends_nothing():
    assert len(campaign(Toy(), f, 5, callback=lambda trial: 17)) == 5
    assert len(campaign(Toy(), f, 5, callback=lambda trial: np.bool_(True))) == 1


def test_an_error_in_the_callback_comes_through_and_nothing_is_lost():
    journal = MemoryJournal()

    def callback(trial):
        if trial.id == 3:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        campaign(Toy(), f, 9, journal=journal, callback=callback)
    assert len(replayed(Toy(), journal).trials) == 4
    assert journal.mine() == set()
    assert history(campaign(Toy(), f, 9, journal=journal)) == history(campaign(Toy(), f, 9))


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"batch": 3}])
def test_a_space_without_more_points_ends_the_campaign(options):
    trials = campaign(Listed(6), lambda x: float(x[0]), 20, **options)
    assert [t.value for t in trials] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"batch": 4}])
def test_the_campaign_ends_when_no_ask_is_worth_a_call(options):
    settings = CampaignOptions(50, progress=False, **options)
    trials = run(Toy(), f, settings, worth_asking=lambda ask: ask.trial < 7)
    assert len(trials) == 7
    assert not any(t.running for t in trials)


def test_an_ask_that_is_not_worth_it_while_calls_run_may_be_later():
    """With two calls running an ask is refused; when one has ended, it is asked again."""
    question, last = Toy(), threading.Event()

    def worth_asking(ask):
        return sum(t.running for t in question.trials) < 2 and ask.trial < 6

    def f(x):
        last.wait(0.01)
        return 0.0

    trials = run(question, f, CampaignOptions(50, workers=4, progress=False), worth_asking)
    assert len(trials) == 6


def test_the_function_gets_a_copy_of_the_point():
    seen = []

    def spoil(x):
        seen.append(x.copy())
        x[:] = np.nan
        return 0.0

    for trial, x in zip(campaign(Toy(), spoil, 4), seen, strict=True):
        np.testing.assert_array_equal(trial.x, x)


def test_info_is_kept_with_the_trial():
    trials = campaign(Toy(), lambda x: (1.0, {"epochs": 3}), 2)
    assert [dict(t.info) for t in trials] == [{"epochs": 3}] * 2
    # A pair that is not a value with a dict is no value.
    assert all(t.failed for t in campaign(Toy(), lambda x: (1.0, 2.0), 2))


def test_trials_know_how_long_they_took():
    assert all(t.seconds >= 0.0 for t in campaign(Toy(), f, 2))


def test_a_question_that_has_trials_is_refused():
    question = Toy()
    question.ask()
    with pytest.raises(InvalidData, match="without trials"):
        campaign(question, f, 3)


def test_a_function_that_is_none_is_refused():
    with pytest.raises(InvalidData, match="callable, got float"):
        campaign(Toy(), 1.0, 3)


def test_a_budget_below_the_design_is_refused():
    with pytest.raises(InvalidData, match=r"(?s)budget=3 is less than the 5 calls"):
        campaign(Minimize([(0.0, 1.0)], method="gp"), f, 3)


def test_an_error_in_the_question_frees_the_trials():
    class Broken(Toy):
        def propose(self):
            if len(self._trials) == 3:
                raise ZeroDivisionError("bug")
            return super().propose()

    journal = MemoryJournal()
    with pytest.raises(ZeroDivisionError, match="bug"):
        campaign(Broken(), f, 9, journal=journal)
    assert len(replayed(Toy(), journal).trials) == 3
