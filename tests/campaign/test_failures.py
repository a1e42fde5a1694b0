"""Functions that misbehave: each failure is one trial with its reason, and the campaign goes on."""

import concurrent.futures
import multiprocessing
import threading

import pytest
from tests.campaign import functions
from tests.campaign.toys import Listed, Toy, replayed

from leadline.campaign import CallsFailed, CampaignOptions, MemoryJournal, run
from leadline.campaign import _calls as calls_module
from leadline.campaign._hopeless import hopeless
from leadline.questions import Trial

KINDS = 12


def campaign(question, f, budget, **options):
    return run(question, f, CampaignOptions.of(budget, {"progress": False, **options}))


def check_misbehavior(trials):
    """What `functions.misbehave` did, apart from the exit and the hanging call."""
    assert [t.id for t in trials] == list(range(KINDS))
    assert [t.id for t in trials if not t.failed] == [0, 5, 11]
    assert [t.value for t in trials if not t.failed] == [0.5, 5.0, 11.0]
    assert trials[0].info["pid"] > 0
    assert trials[1].reason == "ValueError: no luck"
    assert "misbehave" in trials[1].traceback
    assert "no luck" in trials[1].traceback
    assert trials[4].reason == "tests.campaign.functions.Stubborn: a: b"
    assert "'six'" in trials[6].reason
    assert trials[7].reason == "A value must be finite, got nan."
    assert trials[7].traceback == ""
    assert trials[8].reason == "SystemExit: 8"
    assert trials[9].reason
    assert trials[10].reason == "TimeoutError: the function's own"


def test_in_worker_processes_a_call_may_even_hang_or_exit(capfd):
    trials = campaign(
        Listed(KINDS),
        functions.misbehave,
        KINDS,
        executor="processes",
        workers=2,
        timeout=3.0,
    )
    check_misbehavior(trials)
    assert trials[2].reason == "its worker process ended with exit code 3"
    assert trials[3].reason == "took longer than timeout=3 s and was ended"
    assert trials[3].seconds > 0.0
    assert len(capfd.readouterr().out) > 1_000_000


@pytest.mark.parametrize("function", [functions.leave, functions.fork_and_leave])
def test_a_worker_process_that_ends_without_an_error_has_failed(function):
    trials = campaign(Listed(5), function, 5, executor="processes", workers=2, timeout=60.0)
    gone = "its worker process ended with exit code 0"
    if function is functions.leave:
        assert [t.reason for t in trials] == ["", gone, gone, "SystemExit", ""]
    else:
        assert [t.reason for t in trials] == ["", gone, "", "", ""]
    assert [t.value for t in trials if not t.failed] == [t.x[0] for t in trials if not t.failed]


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"batch": 3}])
def test_in_threads(options, capsys):
    def f(x):
        if int(x[0]) in (2, 3):
            raise OSError("instead of the exit and the hanging call")
        return functions.misbehave(x)

    check_misbehavior(campaign(Listed(KINDS), f, KINDS, **options))
    assert len(capsys.readouterr().out) > 1_000_000


def test_causes_are_in_the_traceback():
    def f(x):
        try:
            {}["rate"]
        except KeyError as error:
            raise RuntimeError("no rate") from error

    (trial,) = campaign(Toy(), f, 1)
    assert trial.reason == "RuntimeError: no rate"
    assert "KeyError: 'rate'" in trial.traceback


def test_an_error_without_a_text_of_its_own():
    class Odd(Exception):
        def __str__(self):
            raise ValueError

    def f(x):
        raise Odd

    (trial,) = campaign(Toy(), f, 1)
    assert "Odd: <exception str() failed>" in trial.reason


def test_a_check_that_breaks_is_a_failure_of_the_trial():
    (trial,) = campaign(Toy(), lambda x: object(), 1)
    assert trial.reason.startswith("TypeError: float() argument must be")


class FakeTime:
    now = 0.0

    def perf_counter(self):
        return self.now


def test_a_thread_that_hangs_is_given_up_and_holds_no_slot(monkeypatch):
    clock, never = FakeTime(), threading.Event()
    monkeypatch.setattr(calls_module, "time", clock)

    def f(x):
        if int(x[0]) in (1, 2):
            clock.now += 100.0
            never.wait(600.0)
        return float(x[0])

    trials = campaign(Listed(6), f, 6, timeout=0.1)
    never.set()
    assert [t.reason for t in trials[1:3]] == [
        "took longer than timeout=0.1 s and was given up"
    ] * 2
    assert [t.value for t in trials] == [0.0, None, None, 3.0, 4.0, 5.0]


def test_a_late_value_is_kept_and_not_used(monkeypatch):
    """The second call returns only after it was given up, and the third starts after that."""
    clock, given_up, threads = FakeTime(), threading.Event(), []
    monkeypatch.setattr(calls_module, "time", clock)

    def f(x):
        if int(x[0]) == 1:
            threads.append(threading.current_thread())
            clock.now += 100.0
            given_up.wait(60.0)
        return float(x[0])

    def callback(trial):
        if trial.failed:
            given_up.set()
            threads[0].join()

    journal = MemoryJournal()
    trials = campaign(Listed(4), f, 4, timeout=0.1, journal=journal, callback=callback)
    assert [t.value for t in trials] == [0.0, None, 2.0, 3.0]
    assert [(event.trial, event.value) for event in journal._late] == [(1, 1.0)]
    assert replayed(Listed(4), journal).trials[1].failed


class TickingTime(FakeTime):
    """100 s go by with each look at the clock, until somebody has looked ten times."""

    looks = 0

    def __init__(self, then):
        self.then = then

    def perf_counter(self):
        if self.looks < 10:
            self.looks += 1
            self.now += 100.0
            if self.looks == 10:
                self.then()
        return self.now


def test_time_in_the_queue_of_an_executor_is_not_the_calls_own(monkeypatch):
    gate = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        executor.submit(gate.wait, 60.0)
        monkeypatch.setattr(calls_module, "time", TickingTime(gate.set))
        trials = campaign(Listed(2), functions.first, 2, executor=executor, workers=2, timeout=0.2)
        gate.set()
    assert [t.value for t in trials] == [0.0, 1.0]
    assert all(0.0 <= t.seconds < 100.0 for t in trials)


def test_time_in_the_queue_of_a_process_pool_is_not_the_calls_own(monkeypatch, tmp_path):
    """The pool says of one call more than it has processes that it runs."""
    gate = tmp_path / "gate"
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as executor:
        executor.submit(functions.wait_for, str(gate))
        monkeypatch.setattr(calls_module, "time", TickingTime(gate.touch))
        trials = campaign(Listed(2), functions.first, 2, executor=executor, workers=2, timeout=0.2)
        gate.touch()
    assert [t.value for t in trials] == [0.0, 1.0]
    assert all(0.0 <= t.seconds < 100.0 for t in trials)


def test_a_call_in_an_executor_of_others_is_given_up_once_it_has_begun(monkeypatch):
    never, begun = threading.Event(), threading.Event()

    def f(x):
        if int(x[0]) == 1:
            begun.set()
            never.wait(60.0)
        return float(x[0])

    class Looking(FakeTime):
        """Time stands still until the call has been seen to run."""

        def perf_counter(self):
            self.now += 0.01 if begun.is_set() else 0.0
            return self.now

    monkeypatch.setattr(calls_module, "time", Looking())
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        trials = campaign(Listed(3), f, 3, executor=executor, workers=1, timeout=0.05)
        never.set()
    assert trials[1].reason == "took longer than timeout=0.05 s and was given up"
    assert [t.value for t in trials] == [0.0, None, 2.0]


def never(x):
    raise ValueError(f"no luck at {x[0]:.3g}: {x}")


@pytest.mark.parametrize("options", [{}, {"workers": 3}, {"batch": 4}, {"executor": "processes"}])
def test_calls_that_all_fail_the_same_way_end_the_campaign(options):
    journal = MemoryJournal()
    f = functions.unlucky if options.get("executor") else never
    with pytest.raises(
        CallsFailed,
        match=r"(?s)No call has.*the last 5 failed the same way: ValueError: no luck at .*"
        r"max_failures=None.*safe in the journal",
    ):
        campaign(Toy(), f, 50, max_failures=5, journal=journal, **options)
    trials = replayed(Toy(), journal).trials
    assert 5 <= len(trials) <= 8
    assert all(t.failed for t in trials)
    assert journal.mine() == set()


def test_ten_failures_are_enough_and_none_never_are():
    asked = []
    with pytest.raises(CallsFailed, match="trials so far are lost: journal= keeps them"):
        campaign(Toy(), lambda x: asked.append(x), 50)
    assert len(asked) == 10
    assert len(campaign(Toy(), never, 15, max_failures=None)) == 15


def test_a_journal_counts_and_the_function_may_have_been_mended():
    journal, values = MemoryJournal(), []
    campaign(Toy(), never, 4, journal=journal, max_failures=5)
    with pytest.raises(CallsFailed):
        campaign(Toy(), never, 50, journal=journal, max_failures=5)
    assert len(replayed(Toy(), journal).trials) == 5
    with pytest.raises(CallsFailed):
        campaign(Toy(), never, 50, journal=journal, max_failures=5)
    assert len(replayed(Toy(), journal).trials) == 6

    def mended(x):
        values.append(1.0)
        return 1.0 if len(values) < 2 else never(x)

    assert len(campaign(Toy(), mended, 20, journal=journal, max_failures=5)) == 20


def test_a_value_that_was_given_is_a_value():
    trials = campaign(Toy(), never, 9, max_failures=3, given=[([0.5, 0.5], 1.0)])
    assert len(trials) == 10


def test_failures_of_different_kinds_are_not_the_same():
    def f(x):
        calls.append(x)
        raise (KeyError if len(calls) % 3 else ValueError)(len(calls))

    calls = []
    assert len(campaign(Toy(), f, 12, max_failures=3)) == 12
    with pytest.raises(CallsFailed):
        campaign(Toy(), f, 12, max_failures=2)


@pytest.mark.parametrize(
    ("reasons", "alike"),
    [
        (["ValueError: a", "ValueError: b"], True),
        (["ValueError: a", "KeyError: a"], False),
        (["took longer than timeout=3 s and was ended"] * 2, True),
        (["ended with exit code -11", "ended with exit code 137"], True),
        (["ended with exit code 1", "was cancelled by the executor"], False),
        (["A value must be finite, got nan."] * 2, True),
        (["must be 2 values, got 1e-05", "must be 2 values, got -0.25"], True),
    ],
)
def test_what_the_same_way_is(reasons, alike):
    trials = [Trial(i, None, reason=reason) for i, reason in enumerate(reasons)]
    assert (hopeless(trials, 2) is trials[-1]) == alike
    assert hopeless([*trials, Trial(2, None)], 3) is None


def test_a_call_that_runs_may_still_return_a_value():
    """The first call returns after three others have failed."""
    failures, failed = [], threading.Event()

    def f(x):
        if int(x[0]) == 0:
            failed.wait(60.0)
            return 1.0
        if not failed.is_set():
            failures.append(x)
            if len(failures) == 3:
                failed.set()
            raise ValueError("no luck")
        return 2.0

    trials = campaign(Listed(8), f, 8, workers=2, max_failures=3)
    assert [t.value for t in trials] == [1.0, None, None, None, 2.0, 2.0, 2.0, 2.0]


def test_a_callback_may_end_it_before():
    trials = campaign(Toy(), never, 9, max_failures=3, callback=lambda trial: trial.id == 2)
    assert len(trials) == 3
