"""Journals that fail in the middle of a campaign: what is in them is said, and nothing is lost."""

import contextlib
import glob
import os
import resource
import shutil
import sqlite3
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from tests.campaign.toys import Toy
from tests.cli.calls import run as leadline_run
from tests.cli.conftest import folder  # noqa: F401 (a fixture)

import leadline as ll
from leadline.campaign import CampaignOptions, JournalFailed, MemoryJournal, run
from leadline.journal import _engine
from leadline.journal._database import DatabaseJournal

ROOT = Path(__file__).parents[2]
BOX = [(0.0, 1.0)] * 2
LIMIT = 600_000


def first(x):
    return float(x[0])


def campaign(journal, f=first, budget=8, **options):
    return run(
        Toy(), f, CampaignOptions.of(budget, {"journal": journal, "progress": False, **options})
    )


def after(trials, happens):
    """A callback that makes something happen once a trial has ended."""
    return lambda trial: happens() if trial.id == trials else None


def failure(*args, **options):
    """The error of a campaign whose journal fails."""
    with pytest.raises(JournalFailed) as caught:
        campaign(*args, **options)
    return caught.value


@contextlib.contextmanager
def full_disk():
    """No file may grow beyond a limit meanwhile, as where there is no room for more."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def large_at(numbers):
    """A function that returns more than there is room for, at some of its calls; and its log."""
    calls = []

    def f(x):
        calls.append(first(x))
        size = LIMIT // 8 if len(calls) - 1 in numbers else 1
        return first(x), {"large": np.zeros(size)}

    return f, calls


def test_a_full_disk(tmp_path):
    path = tmp_path / "run.db"
    f, calls = large_at([4])
    with full_disk():
        error = failure(path, f)
    said = str(error)
    assert f"The journal {path} failed: " in said
    assert "5 trials had been written to it, 4 of which have ended" in said
    assert said.count("Trial(") == 1
    assert "Not written: Trial(4, x=" in said
    assert repr(calls[4]) in said
    assert [trial.value for trial in error.trials] == calls
    # With more room the same call goes on, and makes no call again but the one that was lost.
    trials = campaign(path)
    assert len(calls) == 5
    assert [trial.value for trial in trials[:5]] == calls


def test_values_of_several_calls_that_are_not_written(tmp_path):
    barrier = threading.Barrier(2)

    def f(x):
        barrier.wait(60)
        return first(x), {"large": np.zeros(LIMIT // 8)}

    with full_disk():
        error = failure(tmp_path / "run.db", f, workers=2)
    values = [trial.value for trial in error.trials]
    assert len(values) == 2
    # One may have come before the other.
    lost = [value for value in values if value is not None]
    assert lost
    assert all(repr(value) in str(error) for value in lost)


def test_a_full_database_ends_the_command_with_a_line(folder, monkeypatch):  # noqa: F811
    monkeypatch.setattr(DatabaseJournal, "finish", _full)
    done = leadline_run(budget=3)
    assert done.exit_code == 1
    assert done.stderr.startswith("leadline: The journal run.db failed: full. 1 trials had been")
    assert "Not written: Trial(0, x={'rate': " in done.stderr


def _full(journal, event):
    raise JournalFailed("The journal run.db failed: full.")


def deleted(path):
    return path.unlink


def replaced(path):
    def happens():
        shutil.copy(path, f"{path}.copy")
        os.replace(f"{path}.copy", path)

    return happens


@pytest.mark.parametrize("lose", [deleted, replaced])
def test_a_file_that_goes_while_it_is_used(tmp_path, lose):
    path = tmp_path / "run.db"
    error = failure(path, callback=after(3, lose(path)))
    assert f"The journal {path} was deleted while it was in use, or another" in str(error)
    # Whatever happened, it is all here.
    assert [trial.value is not None for trial in error.trials[:4]] == [True] * 4
    assert path.exists() == (lose is replaced)


def test_a_file_that_goes_while_calls_run(tmp_path):
    path = tmp_path / "run.db"

    def f(x):
        path.unlink()
        return first(x)

    error = failure(path, f)
    (trial,) = error.trials
    assert f"Not written: {trial!r}" in str(error)
    assert trial.value == first(trial.x)
    assert not path.exists()


def test_a_damaged_page(tmp_path):
    path = tmp_path / "run.db"

    def damage():
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = path.stat().st_size
        with open(path, "r+b") as file:
            file.seek(4096)
            file.write(b"\xa5" * (size - 4096))

    error = failure(path, callback=after(3, damage))
    assert f"The journal {path} failed: database disk image is malformed." in str(error)
    assert [trial.value is not None for trial in error.trials[:4]] == [True] * 4


def test_a_damaged_event(tmp_path):
    path = tmp_path / "run.db"
    campaign(path, budget=3)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE leadline_events SET body = '{' WHERE number = 4")
    assert f"The journal {path} is damaged: event 4 cannot be read" in str(failure(path))
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE leadline_campaign SET settings = '{'")
    with pytest.raises(ll.InvalidData, match="is damaged: its settings cannot be read"):
        ll.load(path)


class FailsOnce(MemoryJournal):
    """A journal that does not take the third value, at first."""

    failed = False

    def finish(self, event):
        if event.trial == 2 and not self.failed:
            self.failed = True
            raise JournalFailed("The journal failed: the connection was lost.")
        return super().finish(event)


def test_a_value_is_written_after_all_if_the_journal_comes_back():
    journal = FailsOnce()
    error = failure(journal)
    assert "Not written" not in str(error)
    assert [event.value for event in journal._events[1::2]] == [t.value for t in error.trials]
    assert len(campaign(journal)) == 8


def test_a_campaign_waits_for_a_server_once(database, monkeypatch):
    connect, waits = sa.Engine.connect, []

    def away(engine):
        raise sa.exc.OperationalError("", {}, Exception("connection refused"))

    def gone(x):
        monkeypatch.setattr(sa.Engine, "connect", away)
        return first(x)

    clock = [0.0]

    def sleep(seconds):
        waits.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(_engine, "time", _Time(clock, sleep))
    error = failure(database.where, gone)
    monkeypatch.setattr(sa.Engine, "connect", connect)
    assert "failed: connection refused. 1 trials had been written to it" in str(error)
    assert f"Not written: {error.trials[0]!r}" in str(error)
    assert 30.0 <= sum(waits) < 32.0


class _Time:
    """A clock that moves when somebody sleeps."""

    def __init__(self, clock, sleep):
        self._clock, self.sleep = clock, sleep

    def monotonic(self):
        return self._clock[0]


# By hand.


def question_that_was_closed(path):
    question = ll.Minimize(BOX, "random", journal=path)
    question.ask(2)
    question.close()
    return question


def test_a_question_by_hand_whose_disk_is_full(tmp_path):
    path = tmp_path / "lab.db"
    question = ll.Minimize(BOX, "random", journal=path)
    asked = question.ask(2)
    large = {"large": np.zeros(LIMIT // 8)}
    with full_disk():
        with pytest.raises(JournalFailed) as caught:
            question.tell(asked[1], 0.1234567890123, large)
        said = str(caught.value)
        assert f"The journal {path} failed" in said
        assert (
            "2 trials had been written to it, 0 of which have ended. Not written: Trial(1" in said
        )
        assert "value=0.1234567890123" in said
        assert caught.value.trials[1].value == 0.1234567890123
        assert question.trials[1].running
        question.tell(asked[0], 0.5)
    question.tell(asked[1], 0.1234567890123, large)
    question.close()
    assert [trial.value for trial in ll.load(path).trials] == [0.5, 0.1234567890123]


def test_a_question_by_hand_whose_file_is_gone(tmp_path):
    path = tmp_path / "lab.db"
    question = ll.Minimize(BOX, "random", journal=path)
    asked = question.ask(1)[0]
    path.unlink()
    for say in (question.ask, lambda: question.tell(asked, 0.5)):
        with pytest.raises(JournalFailed, match=r"lab\.db was deleted.* 1 trials had been written"):
            say()
    assert not path.exists()
    assert question.trials[0].running


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize(("seed", "asked"), [(0, 1), (1, 1), (1, 5)])
def test_a_question_by_hand_whose_file_is_another_one_now(tmp_path, loaded, seed, asked):
    """While nobody had it open, somebody began anew; what is in the new one is theirs."""
    path = tmp_path / "lab.db"
    question = question_that_was_closed(path)
    question = ll.load(path) if loaded else question
    path.unlink()
    theirs = ll.Minimize(BOX, "random", seed=seed, journal=path)
    theirs.ask(asked)
    theirs.close()
    for say in (question.ask, lambda: question.tell(0, 0.5), lambda: question.fail([0, 1], "no")):
        with pytest.raises(JournalFailed, match=r"lab\.db is not the one.* 2 trials had been"):
            say()
    assert [trial.running for trial in ll.load(path).trials] == [True] * asked


def test_a_question_by_hand_whose_file_went_while_it_was_closed(tmp_path):
    path = tmp_path / "lab.db"
    question = question_that_was_closed(path)
    path.unlink()
    for say in (question.ask, lambda: question.tell(0, 0.5)):
        with pytest.raises(JournalFailed, match=r"no journal .*lab\.db.* 2 trials had been"):
            say()
    assert not path.exists()


def test_a_copy_that_took_the_place_of_a_journal_is_as_good(tmp_path):
    path = tmp_path / "lab.db"
    question = question_that_was_closed(path)
    shutil.copy(path, tmp_path / "copy.db")
    path.unlink()
    shutil.move(tmp_path / "copy.db", path)
    assert question.tell(0, 0.5).value == 0.5
    assert ll.load(path).trials[0].value == 0.5


# A server of its own.


@pytest.fixture
def server():
    """A PostgreSQL server, and how to stop it."""
    if not (shutil.which("initdb") or glob.glob("/usr/lib/postgresql/*/bin/initdb")):
        pytest.skip("needs PostgreSQL")
    env = {name: value for name, value in os.environ.items() if name != "LEADLINE_TEST_POSTGRES"}
    command = [ROOT / ".ci" / "postgres", "sh", "-c", 'echo "$LEADLINE_TEST_POSTGRES"; cat']
    with subprocess.Popen(
        command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def stop():
            process.stdin.close()
            process.wait()

        yield process.stdout.readline().strip(), stop
        stop()


@pytest.mark.slow
def test_a_server_that_stops(server, monkeypatch):
    url, stop = server
    monkeypatch.setattr(_engine, "_PATIENCE", 0.0)
    with_schema = [f"{url}&options=-csearch_path%3D{name}" for name in ("pg_temp", "public")]
    question = ll.Minimize(BOX, "random", journal=with_schema[1])
    asked = question.ask(2)
    question.tell(asked[0], 0.5)

    def stops(x):
        stop()
        return first(x)

    error = failure(with_schema[0], stops)
    assert f"Not written: {error.trials[0]!r}" in str(error)
    with pytest.raises(JournalFailed, match=r"postgresql://.* failed: .* 2 trials had") as caught:
        question.tell(asked[1], 0.25)
    assert "1 of which have ended" in str(caught.value)
