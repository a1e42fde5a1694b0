"""Ctrl-C: the answer so far, and a journal that continues."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from tests.campaign.runner import hear_interrupts
from tests.campaign.toys import Toy, history, replayed

from leadline.campaign import CampaignOptions, MemoryJournal, minimize, run
from leadline.campaign._interrupts import uninterrupted

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True, scope="module")
def hearing():
    before = signal.getsignal(signal.SIGINT)
    hear_interrupts()
    yield
    signal.signal(signal.SIGINT, before)


def campaign(question, f, budget, **options):
    return run(question, f, CampaignOptions.of(budget, {"progress": False, **options}))


def f(x):
    return float(x[0] + x[1])


def interrupted_at(number):
    calls = []

    def f(x):
        calls.append(x)
        if len(calls) == number:
            raise KeyboardInterrupt
        return float(x[0] + x[1])

    return f


def test_an_interrupt_in_the_calling_thread_returns_the_answer_so_far():
    journal = MemoryJournal()
    trials = campaign(Toy(), interrupted_at(4), 9, journal=journal)
    assert [t.running for t in trials] == [False, False, False, True]
    assert history(trials) == history(replayed(Toy(), journal).trials)
    assert history(campaign(Toy(), f, 9, journal=journal)) == history(campaign(Toy(), f, 9))


@pytest.mark.parametrize(
    ("number", "ended"), [(1, "No call has"), (2, "1 call has"), (4, "3 calls have")]
)
def test_an_interrupt_says_how_much_the_answer_knows(capsys, number, ended):
    box = [(0.0, 1.0)] * 2
    answer = minimize(interrupted_at(number), box, budget=9, method="random")
    said = f"Interrupted: this is the answer so far. {ended} ended.\n"
    assert capsys.readouterr() == ("", said)
    assert (answer.best is None) == (number == 1)
    if number == 1:
        assert repr(answer).endswith("no value after 1 trials, 1 not finished. No call has ended.")
    minimize(interrupted_at(number), box, budget=9, method="random", progress=False)
    assert capsys.readouterr() == ("", "")


def test_an_interrupt_in_a_worker_thread_is_a_failure_of_its_call():
    trials = campaign(Toy(), interrupted_at(2), 5, workers=2)
    assert sorted(t.reason for t in trials) == ["", "", "", "", "KeyboardInterrupt"]


def test_a_signal_while_threads_run_keeps_what_ended():
    """One call ends, whether the loop saw it yet or not; then another sends the signal."""
    turns, never, done = iter(["return", "signal"]), threading.Event(), []

    def f(x):
        with lock:
            turn = next(turns, "hang")
        if turn == "return":
            done.append(threading.current_thread())
            return 1.0
        if turn == "signal":
            while not done:
                time.sleep(0.001)
            done[0].join()
            os.kill(os.getpid(), signal.SIGINT)
        never.wait(60.0)

    lock, journal = threading.Lock(), MemoryJournal()
    trials = campaign(Toy(), f, 9, workers=2, journal=journal)
    never.set()
    assert [t.value for t in trials if not t.running] == [1.0]
    assert history(trials) == history(replayed(Toy(), journal).trials)
    assert sorted(journal.adopt(99)) == [t.id for t in trials if t.running]


def test_an_interrupt_in_the_callback_returns_the_answer_so_far():
    def callback(trial):
        if trial.id == 2:
            raise KeyboardInterrupt

    assert len(campaign(Toy(), f, 9, callback=callback)) == 3


def test_a_step_that_must_not_be_left_half_done_is_not():
    steps = []
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("whole")
        steps.append("never")
    assert steps == ["whole"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_comes_before_an_interrupt():
    with pytest.raises(ValueError, match="first"), uninterrupted():  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        raise ValueError("first")


def test_a_programs_own_handler_is_left_alone():
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    try:
        with uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            assert heard == [True]
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("case", "running"),
    [
        pytest.param("calling thread", 1, marks=pytest.mark.slow),
        ("threads", 2),
        pytest.param("processes", 2, marks=pytest.mark.slow),
    ],
)
def test_ctrl_c_of_a_process(tmp_path, case, running):
    journal, log = tmp_path / "run.db", tmp_path / "log"
    log.touch()
    command = [sys.executable, "-m", "tests.campaign.runner", case, str(journal), str(log)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        while len(log.read_text().splitlines()) < running:
            assert process.poll() is None, process.communicate()[1]
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120.0)
    assert process.returncode == 0, err
    assert "Interrupted: this is the answer so far. No call has ended." in err
    before = json.loads(out)
    assert [runs for *_, runs in before] == [True] * running
    for pid in {int(line) for line in log.read_text().splitlines()} - {process.pid}:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    answer = minimize(f, [(0.0, 1.0)] * 2, budget=6, method="random", journal=journal)
    assert [t.x.tobytes().hex() for t in answer.trials[:running]] == [x for x, *_ in before]
    assert len(answer.trials) == 6
    assert not any(t.running or t.failed for t in answer.trials)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_worker_processes_say_nothing_when_their_campaign_ends(tmp_path, number):
    """Ctrl-C on a terminal is for every process, here while the workers start; a kill for one."""
    journal, log = tmp_path / "run.db", tmp_path / "log"
    log.touch()
    command = [sys.executable, "-m", "tests.campaign.runner", "quiet", str(journal), str(log)]
    with subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        if number == signal.SIGKILL:
            while len(log.read_text().splitlines()) < 2:
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            process.kill()
            for pid in log.read_text().split():
                os.kill(int(pid), signal.SIGTERM)
        else:
            while len(_workers(process.pid)) < 2:
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            os.killpg(process.pid, number)
        # The workers and Python's tracker of semaphores hold it open until they have ended.
        assert process.communicate(timeout=120.0)[1] == ""
    assert process.returncode == (-number if number == signal.SIGKILL else 0)


def _workers(pid):
    children = psutil.Process(pid).children()
    return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
