"""Constraint values on their way through a campaign: calls, failures, and the journal."""

import json
import re

import numpy as np
import pytest
from tests.campaign.functions import limited
from tests.campaign.toys import replayed

from leadline.boundary import InvalidData
from leadline.campaign import MemoryJournal, maximize, minimize
from leadline.journal._stored import (
    Stored,
    restore,
    restore_settings,
    store,
    store_settings,
)
from leadline.questions import Given, Minimize, Told, question_from_settings

BOX = [(0.0, 1.0)] * 2


def summary(trials):
    return [(t.id, tuple(t.x), t.value, t.constraints, t.reason) for t in trials]


def run(f=limited, budget=12, constraints=2, **options):
    return minimize(f, BOX, budget=budget, method="random", constraints=constraints, **options)


def test_the_answer_is_the_best_allowed_call():
    answer = run(budget=40)
    allowed = [t for t in answer.trials if t.constraints[0] <= 0 and t.constraints[1] <= 0]
    assert 0 < len(allowed) < 40
    assert answer.value == min(t.value for t in allowed) > min(t.value for t in answer.trials)
    np.testing.assert_array_equal(answer.x, answer.best.x)
    up = maximize(limited, BOX, budget=40, method="random", constraints=2)
    assert up.value == max(t.value for t in allowed)


def test_it_is_ask_and_tell():
    question = Minimize(BOX, "random", 0, 2)
    for _ in range(12):
        (trial,) = question.ask()
        question.tell(trial, limited(trial.x))
    assert summary(run().trials) == summary(question.trials)


def test_anything_else_worth_keeping_comes_last():
    for f in (
        lambda x: (*limited(x), {"note": "a"}),
        lambda x: (limited(x), {"note": "a"}),
    ):
        answer = run(f)
        assert summary(answer.trials) == summary(run().trials)
        assert {t.info["note"] for t in answer.trials} == {"a"}


@pytest.mark.parametrize(
    ("returned", "constraints", "reason"),
    [
        (0.5, 2, "must be a pair"),
        ((0.5, {"note": "a"}), 2, "must be a pair, .* got 0.5"),
        ((0.5, [0.1]), 2, "got 1"),
        ((0.5, [0.1, float("nan")]), 2, "A constraint value must be finite, got nan"),
        ((0.5, [0.1, float("inf")]), 2, "A constraint value must be finite, got inf"),
        ((0.5, [0.1]), 0, "constraints= is missing"),
        ((0.5, [0.1], {"note": "a"}), 0, "constraints= is missing"),
    ],
)
def test_what_cannot_be_used_is_a_failed_trial(returned, constraints, reason):
    answer = run(lambda x: returned, budget=3, constraints=constraints)
    assert len(answer.trials) == 3
    for trial in answer.trials:
        assert trial.failed
        assert not trial.allowed
        assert trial.constraints == ()
        assert re.search(reason, trial.reason)


def test_in_threads_and_processes():
    answer = run(workers=3)
    assert {t.constraints for t in answer.trials} == {t.constraints for t in run().trials}
    answer = run(budget=4, executor="processes", workers=2)
    assert summary(answer.trials) == summary(run(budget=4).trials)


@pytest.mark.parametrize("event", [Told(3, [0.1, -0.2, 0.3]), Given(3, [0.1, 0.2], [1.0, 2.0])])
def test_events_there_and_back(event):
    stored = store(event)
    assert json.loads(stored.body)["value"] == event.value
    assert restore(stored).value == event.value


def test_a_journal_continues_and_replays(place):
    settings = Minimize(BOX, "random", 0, 2).settings()
    first = run(budget=6, journal=place.journal(settings))
    answer = run(budget=12, journal=place.journal(settings))
    assert summary(answer.trials) == summary(run().trials)
    assert summary(first.trials) == summary(answer.trials)[:6]
    again = place.journal(settings)
    question = replayed(question_from_settings(again.settings()), again)
    assert question.constraints == 2
    assert summary(question.trials) == summary(answer.trials)
    assert question.best() == answer.best.id


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        (2, 3, "constraints: 2 in the journal, 3 given now"),
        (2, 0, "constraints: 2 in the journal, not given now"),
        (0, 2, "constraints: not in the journal, 2 given now"),
    ],
)
def test_other_constraints_are_other_settings(before, now, message):
    journal = MemoryJournal()
    values = [0.1] * before
    run(lambda x: (1.0, values) if before else 1.0, 2, before, journal=journal)
    with pytest.raises(InvalidData, match=message):
        run(budget=4, constraints=now, journal=journal)


# What was written before there were constraints.
OLD_SETTINGS = (
    '{"verb":"minimize","space":{"named":false,"parameters":{"x0":{"type":"real","low":0.0,'
    '"high":1.0,"log":false},"x1":{"type":"real","low":0.0,"high":1.0,"log":false}},'
    '"constraint":null},"method":{"name":"random"},"seed":0}'
)
OLD_TOLD = Stored(0, "told", '{"value":0.25,"seconds":1.5,"info":{"note":"a"}}', None)


def test_old_journals_open():
    question = Minimize(BOX, "random")
    assert store_settings(question.settings()) == OLD_SETTINGS
    again = question_from_settings(restore_settings(OLD_SETTINGS))
    again.ask()
    trial = again.apply(restore(OLD_TOLD))
    assert (trial.value, trial.constraints, trial.allowed) == (0.25, (), True)
    assert store(restore(OLD_TOLD)) == OLD_TOLD
