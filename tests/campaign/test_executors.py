"""Executors: our threads and processes, and anybody's."""

import concurrent.futures
import functools
import gc
import multiprocessing
import threading
import weakref

import numpy as np
import pytest
from tests.campaign import functions
from tests.campaign.toys import Listed, Toy, history, replayed

from leadline.boundary import InvalidData
from leadline.campaign import CampaignOptions, ExecutorFailed, MemoryJournal, run


def campaign(question, f, budget, **options):
    return run(question, f, CampaignOptions.of(budget, {"progress": False, **options}))


def where(x):
    thread = threading.current_thread()
    return 0.0, {"thread": thread.name, "daemon": thread.daemon}


def test_one_call_at_a_time_runs_in_the_calling_thread():
    trials = campaign(Toy(), where, 2)
    assert {t.info["thread"] for t in trials} == {threading.current_thread().name}


@pytest.mark.parametrize(
    "options", [{"workers": 2}, {"batch": 2}, {"timeout": 60.0}, {"executor": "threads"}]
)
def test_several_calls_or_a_timeout_use_daemon_threads(options):
    assert all(t.info["daemon"] for t in campaign(Toy(), where, 4, **options))


def test_a_campaign_may_run_outside_the_main_thread():
    answers = []
    thread = threading.Thread(target=lambda: answers.append(campaign(Toy(), where, 3)))
    thread.start()
    thread.join()
    assert len(answers[0]) == 3


def test_workers_import_nothing_of_ours():
    trials = campaign(Toy(), functions.modules, 1, executor="processes")
    assert trials[0].info == {"loaded": []}


def test_workers_are_other_processes_and_leave_with_the_campaign(tmp_path):
    f = functools.partial(functions.remember, str(tmp_path))
    trials = campaign(Toy(), f, 6, executor="processes", workers=2)
    calls = [path.read_text() for path in tmp_path.iterdir()]
    assert sorted(calls) == sorted(repr(t.value) for t in trials)
    assert not [p for p in multiprocessing.active_children() if p.name == "leadline-worker"]


def test_a_function_that_does_not_pickle_is_one_error_before_any_call():
    journal = MemoryJournal()
    with pytest.raises(InvalidData, match=r"(?s)top level of a module.*lambda"):
        campaign(Toy(), lambda x: 0.0, 3, executor="processes", journal=journal)
    assert journal.read(0) == []
    with (
        concurrent.futures.ProcessPoolExecutor(1) as executor,
        pytest.raises(InvalidData, match="top level of a module"),
    ):
        campaign(Toy(), lambda x: 0.0, 3, executor=executor)


def test_a_function_that_workers_cannot_load_ends_the_campaign(capfd):
    """The module exists here only; nothing is written down as a failure of the function."""
    journal = MemoryJournal()
    with pytest.raises(ExecutorFailed, match=r"(?s)cannot load the function.*safe in the journal"):
        campaign(Toy(), _only_here(), 3, executor="processes", journal=journal)
    assert "only_here" in capfd.readouterr().err
    (trial,) = replayed(Toy(), journal).trials
    assert trial.running
    assert journal.adopt(5) == [0]


def _only_here():
    import sys
    import types

    module = types.ModuleType("only_here")
    exec("def f(x):\n    return 0.0", module.__dict__)
    sys.modules["only_here"] = module
    return module.f


def test_a_pool_of_the_standard_library_is_used_and_left_open():
    with concurrent.futures.ThreadPoolExecutor(3) as executor:
        trials = campaign(Toy(), functions.first, 7, executor=executor)
        assert [t.value for t in trials] == [float(t.x[0]) for t in trials]
        assert executor.submit(int, "3").result() == 3


def test_a_process_pool_of_the_standard_library():
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as executor:
        trials = campaign(Toy(), functions.first, 3, executor=executor)
        assert [t.value for t in trials] == [float(t.x[0]) for t in trials]


def test_a_pool_that_breaks_ends_the_campaign_with_its_trials_in_the_journal():
    spawn, journal = multiprocessing.get_context("spawn"), MemoryJournal()
    with (
        concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as executor,
        pytest.raises(ExecutorFailed, match=r"(?s)BrokenProcessPool.*safe in the journal"),
    ):
        campaign(Toy(), functions.die, 5, executor=executor, journal=journal)
    trials = replayed(Toy(), journal).trials
    assert trials[0].failed
    assert "terminated abruptly" in trials[0].reason
    assert len(trials) == 2
    assert trials[1].running
    assert history(campaign(Toy(), lambda x: 1.0, 5, journal=journal))[0] == history(trials)[0]


def test_without_a_journal_the_error_says_that_trials_are_lost():
    executor = concurrent.futures.ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(ExecutorFailed, match=r"(?s)after shutdown.*are lost: journal= keeps them"):
        campaign(Toy(), functions.first, 2, executor=executor)


class Unknown(concurrent.futures.Executor):
    """Runs calls at once, and says nothing of how many it can run."""

    def __init__(self):
        self.calls = 0

    def submit(self, fn, /, *args, **kwargs):
        self.calls += 1
        future = concurrent.futures.Future()
        future.set_result(fn(*args, **kwargs))
        return future


def test_an_executor_of_unknown_size_needs_a_number_of_workers():
    executor = Unknown()
    with pytest.raises(InvalidData, match=r"Unknown runs at once is not known: give workers="):
        campaign(Toy(), functions.first, 4, executor=executor)
    assert executor.calls == 0
    assert len(campaign(Toy(), functions.first, 4, executor=executor, workers=2)) == 4
    assert len(campaign(Toy(), functions.first, 4, executor=executor, batch=2)) == 4


def test_a_call_that_the_executor_cancels_has_failed():
    class Cancels(Unknown):
        def submit(self, fn, /, *args, **kwargs):
            future = concurrent.futures.Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    trials = campaign(Toy(), functions.first, 3, executor=Cancels(), workers=1)
    assert [t.reason for t in trials] == ["was cancelled by the executor"] * 3


def test_the_future_of_a_call_that_ended_is_let_go():
    """Dask would make the call again if the worker that holds its value died."""
    futures, alive = [], []

    class Watched(Unknown):
        def submit(self, fn, /, *args, **kwargs):
            alive.append(sum(future() is not None for future in futures))
            future = super().submit(fn, *args, **kwargs)
            futures.append(weakref.ref(future))
            return future

    gc.disable()
    try:
        campaign(Toy(), functions.first, 5, executor=Watched(), workers=1)
    finally:
        gc.enable()
    assert alive == [0] * 5
    assert not any(future() for future in futures)


@pytest.mark.slow
def test_dask(tmp_path):
    """A cluster of two processes: its threads are counted, and equal points are called again."""
    distributed = pytest.importorskip("distributed")

    class Twice(Listed):
        """Asks the same point every time."""

        def propose(self):
            return type(super().propose())(len(self._trials), np.zeros(2))

    f = functools.partial(functions.remember, str(tmp_path))
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            host="127.0.0.1",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        executor = client.get_executor()
        trials = campaign(Twice(100), f, 8, executor=executor)
        assert [t.value for t in trials] == [0.0] * 8
        assert len(list(tmp_path.iterdir())) == 8
        assert len({path.name.partition("-")[0] for path in tmp_path.iterdir()}) == 2
        trials = campaign(Listed(100), functions.misbehave, 2, executor=executor, batch=2)
        assert trials[0].info["pid"] > 0
        assert trials[1].reason == "ValueError: no luck"
        assert "misbehave" in trials[1].traceback
        # Three calls wait for each worker, and their time counts from their own begin.
        trials = campaign(Listed(6), functions.nap, 6, executor=executor, workers=6, timeout=2.9)
        assert [t.value for t in trials] == [t.x[0] for t in trials]
        assert all(1.0 <= t.seconds < 2.9 for t in trials)
        assert client.submit(int, "3").result() == 3
