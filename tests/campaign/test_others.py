"""A journal with others: races for trial numbers, and trials whose process died."""

import threading

import numpy as np
import pytest
from tests.campaign.toys import Toy, replayed

from leadline.campaign import CampaignOptions, MemoryJournal, run
from leadline.campaign import _loop as loop_module
from leadline.questions import Asked, Told


def f(x):
    return float(x[0] + 2.0 * x[1])


def campaign(question, f, budget, **options):
    return run(question, f, CampaignOptions.of(budget, {"progress": False, **options}))


class Rival(MemoryJournal):
    """Another process that takes every second trial number just before us, and reports later."""

    def __init__(self, patience=3):
        super().__init__()
        self._theirs, self._reads, self._patience = {}, 0, patience

    def claim(self, asks):
        if asks[0].trial % 2 == 0 and asks[0].trial not in self._theirs:
            other = Asked(asks[0].trial, np.array([0.25, 0.25]))
            self._theirs[other.trial] = self._patience
            assert super().claim([other])
        return super().claim(asks)

    def read(self, after):
        for trial in [t for t, patience in self._theirs.items() if patience == 0]:
            super().finish(Told(trial, -1.0))
        self._theirs = {t: patience - 1 for t, patience in self._theirs.items()}
        return super().read(after)


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"batch": 3}])
def test_a_lost_race_asks_again_and_the_budget_is_everybodys(monkeypatch, options):
    monkeypatch.setattr(loop_module, "_WATCH", 0.001)
    trials = campaign(Toy(), lambda x: 1.0, 9, journal=Rival(), **options)
    assert [t.id for t in trials] == list(range(9))
    assert not any(t.running for t in trials)
    assert {t.value for t in trials} == {1.0, -1.0}


def test_the_callback_hears_only_of_our_trials(monkeypatch):
    monkeypatch.setattr(loop_module, "_WATCH", 0.001)
    heard = []
    trials = campaign(
        Toy(), lambda x: 1.0, 9, journal=Rival(), callback=lambda t: heard.append(t.id)
    )
    assert heard == [t.id for t in trials if t.value == 1.0]


def interrupted_journal():
    """A journal with two trials that ended and two that nobody runs any more."""
    journal, question = MemoryJournal(), Toy()
    journal.open(question.settings())
    journal.claim(question.propose_batch(4))
    journal.finish(Told(0, 0.5))
    journal.finish(Told(2, 0.25))
    journal.release()
    return journal


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"batch": 2}])
def test_trials_that_nobody_runs_are_called_again_before_new_ones(options):
    journal, calls = interrupted_journal(), []
    before = replayed(Toy(), journal).trials
    lock = threading.Lock()

    def f(x):
        with lock:
            calls.append(tuple(x))
        return 1.0

    trials = campaign(Toy(), f, 6, journal=journal, **options)
    assert set(calls[:2]) == {tuple(before[1].x), tuple(before[3].x)}
    assert [t.value for t in trials] == [0.5, 1.0, 0.25, 1.0, 1.0, 1.0]
    assert len(calls) == 4


def test_without_rerun_trials_that_nobody_runs_have_failed():
    journal, heard = interrupted_journal(), []
    trials = campaign(
        Toy(), f, 6, journal=journal, rerun=False, callback=lambda t: heard.append(t.id)
    )
    assert [t.reason for t in trials if t.failed] == ["was running when its process ended"] * 2
    assert [t.id for t in trials if t.failed] == [1, 3]
    assert heard == [1, 3, 4, 5]


def test_a_value_for_a_trial_that_somebody_finished_is_kept_as_late():
    class Stolen(MemoryJournal):
        def finish(self, event):
            if event.trial == 1 and isinstance(event, Told) and event.value != -1.0:
                super().finish(Told(1, -1.0))
            return super().finish(event)

    journal = Stolen()
    trials = campaign(Toy(), lambda x: 1.0, 3, journal=journal)
    assert [t.value for t in trials] == [1.0, -1.0, 1.0]
    assert [(e.trial, e.value) for e in journal._late] == [(1, 1.0)]
