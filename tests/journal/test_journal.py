"""What every journal does: in memory, in SQLite, in PostgreSQL."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.journal import random_events
from tests.journal.random_events import same
from tests.places import SETTINGS

from leadline.boundary import InvalidData
from leadline.journal._journal import open_journal
from leadline.journal._memory import MemoryJournal
from leadline.questions import Asked, Failed, Given, Told


def ask(trial):
    return Asked(trial, {"a": 0.5, "b": "x"})


def ids(journal, after=0):
    """Numbers, kinds and trials of the events."""
    return [(n, type(event).__name__, event.trial) for n, event in journal.read(after)]


def test_events_are_numbered_as_they_were_written(place):
    journal = place.journal()
    assert journal.read(0) == []
    assert journal.claim([ask(0), ask(1)])
    assert journal.finish(Told(1, 0.1))
    assert journal.give(Given(2, {"a": 0.1, "b": "y"}, 2.0))
    assert journal.finish(Failed(0, "out of memory", "Traceback ...", 1.5))
    expected = [(1, "Asked", 0), (2, "Asked", 1), (3, "Told", 1), (4, "Given", 2), (5, "Failed", 0)]
    for reader in (journal, place.journal()):
        assert ids(reader) == expected
        assert ids(reader, after=3) == expected[3:]
        assert reader.read(5) == []


def test_what_was_read_is_what_was_written(place):
    written = [
        Asked(0, np.array([0.1, -0.0]), {"w": np.eye(2)}, {"ei": -math.inf}),
        Told(0, -math.inf, {"curve": np.arange(3), "note": "é\0"}, 0.25),
        Given(1, {"a": 1 / 3, "b": None}, np.array([np.nan, 1.0]), {}),
    ]
    journal = place.journal()
    assert journal.claim(written[:1])
    assert journal.finish(written[1])
    assert journal.give(written[2])
    events = [event for _, event in place.journal().read(0)]
    assert all(map(same, events, written))


steps = st.lists(
    st.lists(random_events.asked, min_size=1, max_size=3)
    | random_events.given
    | st.tuples(st.integers(0, 5), random_events.told | random_events.failed),
    min_size=1,
    max_size=6,
)


def test_random_lists_of_events_come_back(place):
    """One journal for all examples: each reads what it added, through another one."""
    journal, other = place.journal(), place.journal()
    trials = number = 0

    @settings(max_examples=40)
    @given(steps)
    def check(steps):
        nonlocal trials, number
        before, running, written = journal.unfinished(), [], []
        for step in steps:
            if isinstance(step, list):
                asks = [dataclasses.replace(ask, trial=trials + i) for i, ask in enumerate(step)]
                assert journal.claim(asks)
                running += [ask.trial for ask in asks]
                trials += len(asks)
                written += asks
            elif isinstance(step, Given):
                written.append(dataclasses.replace(step, trial=trials))
                assert journal.give(written[-1])
                trials += 1
            elif running:
                which, event = step
                trial = running.pop(which % len(running))
                written.append(dataclasses.replace(event, trial=trial))
                assert journal.finish(written[-1])
        back = other.read(number)
        assert [n for n, _ in back] == list(range(number + 1, number + 1 + len(written)))
        assert all(same(one, event) for one, (_, event) in zip(written, back, strict=True))
        number += len(written)
        assert journal.mine() >= set(running)
        assert other.unfinished() == before + len(running)

    check()


def test_a_taken_number_is_not_claimed(place):
    journal, other = place.journal(), place.journal()
    assert journal.claim([ask(0)])
    assert not other.claim([ask(0)])
    assert not other.claim([ask(0), ask(1)])
    assert not other.give(Given(0, {"a": 0.1, "b": "y"}, 2.0))
    assert ids(other) == [(1, "Asked", 0)]
    assert other.unfinished() == 1
    assert other.claim([ask(1), ask(2)])


@pytest.mark.parametrize("numbers", [[], [1], [0, 2], [0, 0], [-1]])
def test_trials_start_in_order_and_without_gaps(place, numbers):
    with pytest.raises(InvalidData, match="Trials start in order and without gaps: the next is 0"):
        place.journal().claim([ask(number) for number in numbers])


def test_a_trial_is_finished_once(place):
    journal, other = place.journal(), place.journal()
    assert journal.claim([ask(0)])
    assert other.finish(Told(0, 1.0))
    assert not journal.finish(Told(0, 2.0))
    assert not journal.finish(Failed(0, "late"))
    assert journal.give(Given(1, {"a": 0.1, "b": "y"}, 2.0))
    assert not journal.finish(Told(1, 3.0))
    assert ids(journal) == [(1, "Asked", 0), (2, "Told", 0), (3, "Given", 1)]
    assert journal.read(1)[0][1].value == 1.0
    with pytest.raises(InvalidData, match="Trial 2 never started: there are 2 trials"):
        journal.finish(Told(2, 1.0))


def test_late_values_are_not_events(place):
    journal = place.journal()
    assert journal.claim([ask(0)])
    assert journal.finish(Failed(0, "took longer than timeout=5 s"))
    journal.late(Told(0, 1.0, {"curve": np.arange(3.0)}, 7.0))
    journal.late(Told(0, 1.0))
    assert ids(journal) == [(1, "Asked", 0), (2, "Failed", 0)]


def test_released_trials_are_adopted_at_once_by_one(place):
    journal, other, third = place.journal(), place.journal(), place.journal()
    assert journal.claim([ask(0), ask(1), ask(2), ask(3)])
    assert journal.finish(Told(1, 1.0))
    assert journal.mine() == {0, 2, 3}
    assert journal.adopt(10) == []
    journal.release()
    assert journal.mine() == set()
    assert other.unfinished() == 3
    assert other.adopt(2) == [0, 2]
    assert third.adopt(2) == [3]
    assert third.adopt(2) == other.adopt(2) == []
    assert other.unfinished() == 3
    assert other.mine() >= {0, 2}
    assert other.finish(Told(0, 1.0))
    assert ids(other)[-1] == (6, "Told", 0)


def test_whoever_left_may_come_back(place):
    journal = place.journal()
    assert journal.claim([ask(0)])
    for _ in range(2):
        journal.release()
        journal.release()
        assert journal.mine() == set()
        assert journal.adopt(1) == [0]
        assert journal.mine() == {0}
    assert journal.claim([ask(1)])
    assert journal.mine() == {0, 1}


def test_calls_that_were_left_are_interrupted_until_somebody_takes_them(place):
    journal = place.journal()
    assert journal.claim([ask(0)], ours=False)
    assert journal.claim([ask(1), ask(2)])
    assert journal.interrupted() == set()
    journal.release()
    assert journal.interrupted() == {1, 2}
    assert journal.finish(Told(2, 0.5))
    assert journal.interrupted() == {1}
    assert journal.adopt(5) == [0, 1]
    assert journal.interrupted() == set()
    assert journal.mine() == {0, 1}


def changed(path, value):
    """The settings with one changed."""
    *parents, key = path
    given = {k: dict(v) if isinstance(v, dict) else v for k, v in SETTINGS.items()}
    given["space"] = {
        "parameters": {k: dict(v) for k, v in SETTINGS["space"]["parameters"].items()}
    }
    inner = given
    for parent in parents:
        inner = inner[parent]
    if value is None:
        del inner[key]
    else:
        inner[key] = value
    return given


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (["seed"], 1, "seed: 0 in the journal, 1 given now"),
        (["seed"], False, "seed: 0 in the journal, False given now"),
        (["seed"], None, "seed: 0 in the journal, not given now"),
        (["method"], "gp", "method: not in the journal, 'gp' given now"),
        (
            ["space", "parameters", "a", "high"],
            math.inf,
            "space.parameters.a.high: 1.0 in the journal, inf given now",
        ),
        (
            ["space", "parameters", "b", "options"],
            ["x", "z"],
            "space.parameters.b.options[1]: 'y' in the journal, 'z' given now",
        ),
        (
            ["space", "parameters", "b", "options"],
            ["x"],
            "space.parameters.b.options: ['x', 'y'] in the journal, ['x'] given now",
        ),
    ],
)
def test_other_settings_are_an_error_that_says_what_differs(place, path, value, says):
    place.journal()
    place.journal()
    with pytest.raises(InvalidData) as error:
        place.journal(changed(path, value))
    assert "other settings" in str(error.value)
    # One line for the one difference, between the first and the last.
    assert str(error.value).splitlines()[1:-1] == [f"  {says}"]


def test_the_order_of_parameters_is_a_setting(place):
    place.journal()
    parameters = dict(reversed(SETTINGS["space"]["parameters"].items()))
    with pytest.raises(InvalidData, match=r"the order of space.parameters: a, b in .*, b, a given"):
        place.journal({**SETTINGS, "space": {"parameters": parameters}})


def test_nothing_changes_after_other_settings(place):
    place.journal().claim([ask(0)])
    with pytest.raises(InvalidData):
        place.journal(changed(["seed"], 1))
    assert ids(place.journal()) == [(1, "Asked", 0)]


def test_open_journal_takes_what_a_caller_may_say(tmp_path):
    memory = open_journal(None)
    assert isinstance(memory, MemoryJournal)
    assert open_journal(memory) is memory
    for journal in (tmp_path / "a.db", str(tmp_path / "b.db"), f"sqlite:///{tmp_path}/c.db"):
        opened = open_journal(journal)
        opened.open(SETTINGS)
        opened.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.db", "b.db", "c.db"]
