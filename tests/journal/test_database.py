"""Journals in SQLite and PostgreSQL: files, URLs, crashes, races."""

import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa
from tests.journal.racer import race
from tests.places import SETTINGS

from leadline.boundary import InvalidData
from leadline.journal import _engine
from leadline.journal._database import DatabaseJournal
from leadline.journal._failed import JournalFailed
from leadline.journal._journal import open_journal
from leadline.journal._stored import store
from leadline.journal._tables import CAMPAIGN, FORMAT, LATE
from leadline.questions import Asked, Failed, Told

ROOT = Path(__file__).parents[2]


def ask(trial):
    return Asked(trial, {"a": 0.5, "b": "x"})


def opened(where):
    journal = DatabaseJournal(where)
    journal.open(SETTINGS)
    return journal


# What can be no journal.


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(InvalidData, match=r"The folder of the journal .*run\.db does not exist"):
        open_journal(tmp_path / "nowhere" / "run.db")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InvalidData, match=r"must be a file, and .* is a folder"):
        open_journal(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InvalidData, match="cannot be written to"):
        opened(tmp_path / "run.db")


def test_a_file_that_cannot_be_made(tmp_path):
    link = tmp_path / "run.db"
    link.symlink_to(tmp_path / "nowhere" / "run.db")
    with pytest.raises(InvalidData, match=r"/run\.db cannot be"):
        opened(link)


def test_a_file_that_is_no_database(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("Remember the milk. " * 100)
    with pytest.raises(InvalidData, match=r"notes\.txt cannot be opened: file is not a database"):
        opened(path)
    assert path.read_text() == "Remember the milk. " * 100


def test_a_database_of_somebody_else_is_left_alone(tmp_path):
    path = tmp_path / "studies.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE studies (id INTEGER)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(InvalidData, match=r"no journal of Leadline: .* with the tables studies"):
        opened(path)
    assert path.read_bytes() == before


def test_a_journal_of_a_newer_version(database):
    journal = database.journal()
    with journal._database.writing() as connection:
        connection.execute(sa.update(CAMPAIGN).values(format=FORMAT + 1))
    with pytest.raises(InvalidData, match=f"newer version of Leadline: its format is {FORMAT + 1}"):
        database.journal()


@pytest.mark.parametrize(
    ("journal", "says"),
    [
        ("", "needs the path of a file"),
        (":memory:", "needs the path of a file"),
        ("sqlite://", "needs the path of a file"),
        ("mysql://localhost/runs", "SQLite file or a PostgreSQL database, got a URL of 'mysql'"),
        ("postgresql://host:port/runs", "URL cannot be read"),
    ],
)
def test_addresses_that_are_no_journal(journal, says):
    with pytest.raises(InvalidData, match=says):
        open_journal(journal)


@pytest.mark.parametrize("lease", [0, -1.0, float("nan"), True])
def test_a_lease_is_a_positive_number(tmp_path, lease):
    with pytest.raises(InvalidData, match="lease must be a positive number of seconds"):
        DatabaseJournal(tmp_path / "run.db", lease)


def test_a_server_that_does_not_answer_is_an_error_at_once():
    with pytest.raises(InvalidData, match="cannot be opened") as error:
        opened("postgresql://somebody:secret@127.0.0.1:1/runs")
    assert "secret" not in str(error.value)


def test_a_missing_driver_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        with pytest.raises(ImportError, match=r"pip install 'leadline\[postgres\]'"):
            open_journal(f"{scheme}://localhost/runs")


# What can.


def test_an_empty_file_becomes_a_journal(tmp_path):
    path = tmp_path / "run.db"
    path.touch()
    opened(path).close()
    opened(path).close()


def test_names_of_files_are_taken_as_they_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("with space.db", "what?mode=ro", "100%.db", "a#b.db", "~/home.db"):
        opened(name).close()
    names = {"with space.db", "what?mode=ro", "100%.db", "a#b.db", "home.db"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_relative_path_stays_the_same_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    journal = opened("run.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    journal.claim([ask(0)])
    journal.close()
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_sqlite_is_on_disk_when_it_says_so(tmp_path):
    journal = opened(tmp_path / "run.db")
    with journal._database.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
    journal.close()


def test_another_program_may_read_the_tables(tmp_path):
    journal = opened(tmp_path / "run.db")
    journal.claim([ask(0)])
    journal.finish(Failed(0, "no memory"))
    journal.close()
    connection = sqlite3.connect(tmp_path / "run.db")
    rows = connection.execute("SELECT number, trial, phase, kind FROM leadline_events").fetchall()
    connection.close()
    assert rows == [(1, 0, "start", "asked"), (2, 0, "end", "failed")]


def test_late_values_are_kept(database):
    journal = database.journal()
    journal.claim([ask(0)])
    journal.finish(Failed(0, "took longer than timeout=5 s"))
    journal.late(Told(0, 1.5))
    with journal._database.reading() as connection:
        [row] = connection.execute(sa.select(LATE)).all()
    assert (row.trial, row.body) == (0, store(Told(0, 1.5)).body)


# Crashes.


def test_a_write_that_is_cut_short_leaves_nothing(database, monkeypatch):
    journal = database.journal()
    assert journal.claim([ask(0)])
    monkeypatch.setattr("leadline.journal._database.ADD_RUNNING", sa.text("no SQL at all"))
    with pytest.raises(JournalFailed, match=r"The journal .* failed: .*syntax error"):
        journal.claim([ask(1), ask(2)])
    monkeypatch.undo()
    assert len(journal.read(0)) == 1
    assert journal.unfinished() == 1
    assert journal.claim([ask(1), ask(2)])


def test_an_interrupt_after_the_commit_does_not_keep_the_trial(database, monkeypatch):
    journal, other = database.journal(), database.journal()

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(journal, "_stay", interrupted)
    with pytest.raises(KeyboardInterrupt):
        journal.claim([ask(0)])
    monkeypatch.undo()
    assert journal.mine() == {0}
    assert journal.claim([ask(1)])
    journal.release()
    assert other.adopt(5) == [0, 1]


def test_broken_connections_are_made_again(postgresql):
    journal = postgresql.journal()
    assert journal.claim([ask(0)])
    pid = sa.select(sa.func.pg_backend_pid())
    other = postgresql.journal()
    with journal._database.reading() as connection:
        theirs = connection.execute(pid).scalar_one()
    with other._database.reading() as connection:
        assert connection.execute(sa.select(sa.func.pg_terminate_backend(theirs, 10_000))).scalar()
    assert journal.finish(Told(0, 1.0))
    with journal._database.reading() as connection:
        assert connection.execute(pid).scalar_one() != theirs


def test_a_host_that_goes_in_the_middle_of_a_write_does_not_keep_the_lock(postgresql):
    journal = postgresql.journal()
    with journal._database.reading() as connection:
        timeout = sa.text("SHOW idle_in_transaction_session_timeout")
        assert connection.execute(timeout).scalar_one() == "1min"


def test_a_server_that_is_away_for_a_moment_is_waited_for(database, monkeypatch):
    journal = database.journal()
    connect, waits = sa.Engine.connect, []

    def away(engine):
        if len(waits) < 3:
            raise sa.exc.OperationalError("", {}, Exception("the server is starting up"))
        return connect(engine)

    monkeypatch.setattr(sa.Engine, "connect", away)
    monkeypatch.setattr(_engine.time, "sleep", waits.append)
    assert journal.claim([ask(0)])
    assert len(waits) == 3
    waits.clear()
    monkeypatch.setattr(_engine, "_PATIENCE", -1.0)
    with pytest.raises(JournalFailed, match="starting up"):
        journal.finish(Told(0, 1.0))
    # Who waited in vain does not wait again.
    monkeypatch.setattr(_engine, "_PATIENCE", 30.0)
    with pytest.raises(JournalFailed, match="starting up"):
        journal.finish(Told(0, 1.0))
    assert waits == []
    monkeypatch.undo()
    assert journal.finish(Told(0, 1.0))


# Races.


def check_race(where, names, count):
    """Each trial started and ended once, in order, and all by whom they should."""
    journal = opened(where)
    events = journal.read(0)
    journal.close()
    assert [number for number, _ in events] == list(range(1, 2 * len(names) * count + 1))
    started = [event.trial for _, event in events if isinstance(event, Asked)]
    told = [event for _, event in events if isinstance(event, Told)]
    assert started == list(range(len(names) * count))
    assert sorted(event.trial for event in told) == started
    assert all(event.value == event.trial for event in told)
    assert sorted(event.info["name"] for event in told) == sorted(names * count)


def race_of_processes(where, names, count):
    command = [sys.executable, "-m", "tests.journal.racer", str(where), str(count)]
    processes = [
        subprocess.Popen(
            [*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        for name in names
    ]
    try:
        for process in processes:
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        return [int(process.communicate(timeout=300)[0]) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_processes_that_race_for_numbers_lose_nothing(tmp_path):
    """The journal does not exist when they begin."""
    race_of_processes(tmp_path / "run.db", ["a", "b"], 40)
    check_race(tmp_path / "run.db", ["a", "b"], 40)


@pytest.mark.slow
def test_many_processes_that_race_for_numbers_lose_nothing(database):
    lost = race_of_processes(database.where, ["a", "b", "c", "d"], 100)
    check_race(database.where, ["a", "b", "c", "d"], 100)
    # Else they ran one after the other, and the test says nothing.
    assert sum(lost) > 0


def test_threads_that_race_for_numbers_lose_nothing(database):
    """Each with a journal of its own, which no two of them may create; another one reads."""
    errors, done = [], threading.Event()

    def guarded(work, *args):
        try:
            work(*args)
        except BaseException as error:
            errors.append(error)

    def read():
        journal = opened(database.where)
        seen = 0
        while not done.is_set():
            for number, _ in journal.read(seen):
                # Numbers are given in the order of commits: no gap that is filled later.
                assert number == seen + 1
                seen = number
        journal.close()

    writers = [
        threading.Thread(target=guarded, args=(race, database.where, 25, name)) for name in "abc"
    ]
    reader = threading.Thread(target=guarded, args=(read,))
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    reader.join()
    assert errors == []
    check_race(database.where, ["a", "b", "c"], 25)
