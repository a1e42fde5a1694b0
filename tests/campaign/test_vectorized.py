"""Functions of several points at once: one call, and a trial for each of its points."""

import concurrent.futures
import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.campaign import functions
from tests.campaign.test_executors import Unknown
from tests.campaign.test_failures import FakeTime
from tests.campaign.toys import Listed, Toy, history, replayed

import leadline as ll
from leadline.boundary import InvalidData
from leadline.campaign import CampaignOptions, MemoryJournal, run
from leadline.campaign import _calls as calls_module
from leadline.campaign._calls import Calls
from leadline.campaign._pool import Pool
from leadline.campaign._tasks import Vectorized

SPACE = ll.Space(kind=ll.Choice("a", "b"), rate=ll.Real(0.0, 1.0))


def campaign(question, f, budget, **options):
    options = {"progress": False, "vectorized": True, **options}
    return run(question, f, CampaignOptions.of(budget, options))


def plain(x):
    return float(x[0] + 2.0 * x[1])


class Sums:
    """The vectorized twin of `plain`, which knows how it was called."""

    def __init__(self):
        self.shapes = []

    def __call__(self, points):
        self.shapes.append(np.shape(points))
        return points[:, 0] + 2.0 * points[:, 1]


@pytest.mark.parametrize(
    ("options", "rows"),
    [({}, [1] * 11), ({"batch": 4}, [4, 4, 3]), ({"batch": 1}, [1] * 11), ({"batch": 20}, [11])],
)
def test_trials_are_those_of_a_plain_function(options, rows):
    f, threads = Sums(), set()

    def watched(points):
        threads.add(threading.current_thread())
        return f(points)

    trials = campaign(Toy(), watched, 11, **options)
    assert history(trials) == history(campaign(Toy(), plain, 11, vectorized=False, **options))
    assert {type(t.value) for t in trials} == {float}
    assert f.shapes == [(n, 2) for n in rows]
    # One call at a time needs no thread of its own.
    assert threads == {threading.current_thread()}


def test_the_answer_of_minimize_is_that_of_a_plain_function():
    options = dict(budget=10, method="random", batch=4, progress=False)
    ours = ll.minimize(Sums(), [(0.0, 1.0)] * 2, vectorized=True, **options)
    other = ll.minimize(plain, [(0.0, 1.0)] * 2, **options)
    assert history(ours.trials) == history(other.trials)
    assert ours.value == other.value


@pytest.mark.parametrize(
    ("batch", "workers", "sizes"),
    [(7, 3, [3, 2, 2]), (6, 3, [2, 2, 2]), (2, 3, [1, 1]), (5, 1, [5]), (None, 3, [1, 1, 1])],
)
def test_workers_share_a_round_evenly_and_in_order(batch, workers, sizes):
    total, seen = sum(sizes), []
    barrier = threading.Barrier(len(sizes))

    def f(points):
        seen.append([int(x) for x in points[:, 0]])
        # Goes on only when the whole round runs.
        barrier.wait(60.0)
        return points[:, 0]

    heard = []
    trials = campaign(
        Listed(total), f, total, batch=batch, workers=workers, callback=lambda t: heard.append(t.id)
    )
    assert [t.value for t in trials] == list(range(total))
    first = np.cumsum([0, *sizes[:-1]])
    parts = [list(range(i, i + n)) for i, n in zip(first, sizes, strict=True)]
    assert sorted(seen) == parts
    # Trials of one call end in their order.
    assert all([i for i in heard if i in part] == part for part in parts)


@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 9))
def test_dealing(waiting, slots, most):
    sizes = Calls(plain, Pool(Unknown(), slots), Vectorized(most)).deal(waiting)
    assert sum(sizes) == min(waiting, slots * most)
    assert len(sizes) == min(waiting, slots)
    assert max(sizes, default=0) - min(sizes, default=0) <= 1
    assert max(sizes, default=0) <= most


def test_points_with_names_are_a_list_of_dicts():
    calls = []

    def f(points):
        calls.append(points)
        return [len(point["kind"]) + point["rate"] for point in points]

    found = ll.minimize(
        f, SPACE, budget=7, method="random", batch=3, vectorized=True, progress=False
    )
    assert [len(points) for points in calls] == [3, 3, 1]
    assert [point for points in calls for point in points] == [t.x for t in found.trials]


def test_the_function_gets_a_copy_of_the_points():
    def spoil(points):
        points[:] = np.nan
        return np.zeros(len(points))

    def spoil_dicts(points):
        for point in points:
            point["rate"] = np.nan
        return np.zeros(len(points))

    assert all(np.isfinite(t.x).all() for t in campaign(Toy(), spoil, 4, batch=4))
    found = ll.minimize(
        spoil_dicts, SPACE, budget=4, method="random", vectorized=True, progress=False
    )
    assert all(np.isfinite(t.x["rate"]) for t in found.trials)


class Arrays:
    """What another library's array has: a length, and a way to become NumPy's."""

    def __init__(self, values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype)


@pytest.mark.parametrize("kind", [list, tuple, np.array, np.float32, Arrays])
def test_values_are_an_array_a_list_or_a_tuple(kind):
    for batch in (2, 3):
        trials = campaign(Listed(6), lambda p: kind([float(x) for x in p[:, 0]]), 6, batch=batch)
        assert [t.value for t in trials] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_each_value_may_have_info_of_its_own():
    def f(points):
        return [(x, {"twice": 2 * x}) if x else x for x in points[:, 0].tolist()]

    trials = campaign(Listed(3), f, 3, batch=3)
    assert [t.value for t in trials] == [0.0, 1.0, 2.0]
    assert [dict(t.info) for t in trials] == [{}, {"twice": 2.0}, {"twice": 4.0}]


def test_each_value_may_have_constraint_values():
    """A round of two in a tuple too: it holds two values, and is no value of one."""

    def f(points):
        return tuple((x.sum(), [1.0 - x.sum(), x[0] - 0.5], {"n": len(points)}) for x in points)

    options = dict(budget=6, method="random", constraints=2, batch=2, progress=False)
    ours = ll.minimize(f, [(0.0, 1.0)] * 2, vectorized=True, **options)
    other = ll.minimize(functions.limited, [(0.0, 1.0)] * 2, **options)
    same = [result.to_frame().drop(columns=["seconds", "info"]) for result in (ours, other)]
    assert same[0].equals(same[1])
    assert {t.info["n"] for t in ours.trials} == {2}


@pytest.mark.parametrize(
    ("returned", "got"),
    [
        ([1.0, 2.0], r"got 2: \[1\.0, 2\.0\]"),
        (np.zeros((4, 3)), "got 4: "),
        ([], r"got 0: \[\]"),
        (5.0, r"in an array, a list or a tuple; got 5\.0"),
        (None, "in an array, a list or a tuple; got None"),
        ("one", "in an array, a list or a tuple; got 'one'"),
        ({"a": 1, "b": 2, "c": 3}, "in an array, a list or a tuple; got {'a'"),
    ],
)
def test_another_number_of_values_fails_all_trials_of_the_call(returned, got):
    def f(points):
        return returned if 4.0 in points[:, 0] else points[:, 0]

    trials = campaign(Listed(9), f, 9, batch=3)
    assert [t.id for t in trials if t.failed] == [3, 4, 5]
    (reason,) = {t.reason for t in trials if t.failed}
    with pytest.raises(
        AssertionError, match=f"^With vectorized=True a call with 3 points must return 3 .*{got}"
    ):
        raise AssertionError(reason)


def test_an_error_fails_all_trials_of_the_call_with_its_traceback():
    def f(points):
        if 4.0 in points[:, 0]:
            raise ValueError("no luck")
        return points[:, 0]

    trials = campaign(Listed(9), f, 9, batch=3)
    assert [t.reason for t in trials] == [""] * 3 + ["ValueError: no luck"] * 3 + [""] * 3
    assert all("in f" in t.traceback for t in trials[3:6])


def test_an_error_while_values_are_read_is_a_failure_too():
    class Odd:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("still on the device")

    trials = campaign(Listed(4), lambda points: Odd(), 4, batch=2)
    assert [t.reason for t in trials] == ["RuntimeError: still on the device"] * 4


def test_the_future_of_a_call_with_a_wrong_number_of_values_is_let_go():
    """The error would keep the frames that it went through, and those the future."""
    futures = []

    class Watched(Unknown):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            futures.append(weakref.ref(future))
            return future

    gc.disable()
    try:
        trials = campaign(Listed(4), lambda points: [], 4, batch=2, executor=Watched())
        assert not any(future() for future in futures)
    finally:
        gc.enable()
    assert len(futures) == 2
    assert all(t.failed for t in trials)


def test_a_value_that_is_refused_fails_its_own_trial():
    def f(points):
        values = list(points[:, 0])
        values[1:3] = [np.nan, "two"]
        return values

    trials = campaign(Listed(4), f, 4, batch=4)
    assert [t.value for t in trials] == [0.0, None, None, 3.0]
    assert trials[1].reason == "A value must be finite, got nan."
    assert "'two'" in trials[2].reason


def test_the_seconds_of_a_call_are_shared(monkeypatch):
    clock = FakeTime()
    monkeypatch.setattr(calls_module, "time", clock)

    def f(points):
        clock.now += 6.0
        return points[:, 0]

    trials = campaign(Listed(7), f, 7, batch=4)
    assert [t.seconds for t in trials] == [1.5] * 4 + [2.0] * 3


def test_late_values_are_kept_for_each_trial_and_not_used(monkeypatch):
    """The second call returns only after it was given up, and the third starts after that."""
    clock, given_up, threads = FakeTime(), threading.Event(), []
    monkeypatch.setattr(calls_module, "time", clock)

    def f(points):
        if 2.0 in points[:, 0]:
            threads.append(threading.current_thread())
            clock.now += 100.0
            given_up.wait(60.0)
        return points[:, 0]

    def callback(trial):
        if trial.id == 3:
            given_up.set()
            threads[0].join()

    journal = MemoryJournal()
    trials = campaign(Listed(6), f, 6, batch=2, timeout=0.1, journal=journal, callback=callback)
    assert [t.value for t in trials] == [0.0, 1.0, None, None, 4.0, 5.0]
    assert {t.reason for t in trials[2:4]} == {"took longer than timeout=0.1 s and was given up"}
    assert [t.seconds for t in trials[2:4]] == [50.0, 50.0]
    assert [(event.trial, event.value) for event in journal._late] == [(2, 2.0), (3, 3.0)]
    assert replayed(Listed(6), journal).trials[3].failed


def test_in_worker_processes_a_call_may_hang_or_exit():
    trials = campaign(
        Listed(10),
        functions.misbehave_together,
        10,
        executor="processes",
        batch=4,
        workers=2,
        timeout=3.0,
    )
    reasons = [t.reason for t in trials]
    assert reasons[2:4] == ["took longer than timeout=3 s and was ended"] * 2
    assert reasons[6:8] == ["its worker process ended with exit code 3"] * 2
    assert [t.value for t in trials if not t.failed] == [0.0, 1.0, 4.0, 5.0, 8.0, 9.0]
    assert trials[2].seconds > 0.0


def test_a_round_in_processes_is_one_process():
    trials = campaign(Listed(6), functions.together, 6, executor="processes", batch=3)
    assert [t.value for t in trials] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert len({t.info["pid"] for t in trials}) == 1
    assert {t.info["points"] for t in trials} == {3}


def test_a_foreign_executor_shares_a_round_as_far_as_its_size_is_known():
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        trials = campaign(Listed(6), functions.together, 6, executor=executor, batch=6)
        assert {t.info["points"] for t in trials} == {3}
        trials = campaign(Listed(6), functions.together, 6, executor=executor, batch=6, workers=1)
        assert {t.info["points"] for t in trials} == {6}
    executor = Unknown()
    campaign(Listed(6), functions.together, 6, executor=executor, batch=3)
    assert executor.calls == 2


class Stops(MemoryJournal):
    """A disk that is full after so many values."""

    def __init__(self, values):
        super().__init__()
        self.left = values

    def finish(self, event):
        if not self.left:
            raise OSError("full")
        self.left -= 1
        return super().finish(event)


@pytest.mark.parametrize("vectorized", [True, False])
def test_only_trials_without_an_outcome_are_called_again(vectorized):
    """The journal goes on with or without `vectorized`; what is called again is one call."""
    journal, f = Stops(6), Sums()
    with pytest.raises(OSError, match="full"):
        campaign(Toy(), f, 12, batch=4, journal=journal)
    assert f.shapes == [(4, 2)] * 2
    journal.left, again = 99, Sums()
    trials = campaign(
        Toy(),
        again if vectorized else plain,
        12,
        batch=4,
        journal=journal,
        vectorized=vectorized,
    )
    assert again.shapes == ([(2, 2), (4, 2)] if vectorized else [])
    assert history(trials) == history(campaign(Toy(), plain, 12, batch=4, vectorized=False))


def test_without_rerun_they_have_failed():
    journal, f = Stops(6), Sums()
    with pytest.raises(OSError, match="full"):
        campaign(Toy(), f, 12, batch=4, journal=journal)
    journal.left = 99
    trials = campaign(Toy(), f, 12, batch=4, journal=journal, rerun=False)
    assert [t.id for t in trials if t.failed] == [6, 7]
    assert f.shapes == [(4, 2)] * 3


DYING = """
import os, sys
import numpy as np
import leadline as ll
from leadline.journal._database import DatabaseJournal

finish, left = DatabaseJournal.finish, [6]

def dying(journal, event):
    if not left[0]:
        os._exit(9)
    left[0] -= 1
    return finish(journal, event)

DatabaseJournal.finish = dying
ll.minimize(lambda p: p.sum(axis=1), [(0.0, 1.0)] * 2, budget=12, method="random", batch=4,
            vectorized=True, journal=sys.argv[1], progress=False)
"""


def test_a_process_that_dies_between_two_values_of_a_call(tmp_path):
    journal, calls = str(tmp_path / "run.db"), []

    def f(points):
        calls.extend(map(tuple, points))
        return points.sum(axis=1)

    done = subprocess.run([sys.executable, "-c", DYING, journal], timeout=120.0)
    assert done.returncode == 9
    options = dict(budget=12, method="random", batch=4, vectorized=True, progress=False)
    found = ll.minimize(f, [(0.0, 1.0)] * 2, journal=journal, **options)
    assert calls == [tuple(t.x) for t in found.trials[6:]]
    alone = ll.minimize(f, [(0.0, 1.0)] * 2, **options)
    assert history(found.trials) == history(alone.trials)


def test_an_interrupt_leaves_the_trials_of_the_call_for_the_next_run():
    journal, calls = MemoryJournal(), []

    def f(points):
        calls.append(len(points))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return points.sum(axis=1)

    trials = campaign(Toy(), f, 9, batch=3, journal=journal)
    assert [t.running for t in trials] == [False] * 3 + [True] * 3
    trials = campaign(Toy(), f, 9, batch=3, journal=journal)
    assert calls == [3, 3, 3, 3]
    assert history(trials) == history(campaign(Toy(), f, 9, batch=3))


def test_calls_that_have_not_begun_are_withdrawn_and_not_failed():
    """The executor runs one call, and the campaign believes that it runs two."""
    journal, never = MemoryJournal(), threading.Event()

    def f(points):
        if 0.0 in points[:, 0]:
            # The loop waits, and is interrupted there.
            interrupts.set()
            never.wait(60.0)
        return points[:, 0]

    class Interrupted(Calls):
        def wait(self, seconds):
            interrupts.wait(60.0)
            raise KeyboardInterrupt

    interrupts = threading.Event()
    with (
        concurrent.futures.ThreadPoolExecutor(1) as executor,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr("leadline.campaign._loop.Calls", Interrupted)
        trials = campaign(Listed(4), f, 4, batch=4, workers=2, executor=executor, journal=journal)
        never.set()
    assert [t.running for t in trials] == [True] * 4
    assert journal.adopt(9) == [0, 1, 2, 3]


@pytest.mark.parametrize("value", ["no", 8, None])
def test_the_option_is_true_or_false(value):
    with pytest.raises(InvalidData, match="vectorized must be True or False, got"):
        CampaignOptions.of(5, {"vectorized": value})
