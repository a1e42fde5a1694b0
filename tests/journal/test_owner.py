"""Who runs a trial, and when it is free for others."""

import contextlib
import dataclasses
import gc
import os
import subprocess
import sys
import threading
import time
import types

import psutil
import pytest
import sqlalchemy as sa
from tests.places import SETTINGS

from leadline.journal._heartbeat import Heartbeat
from leadline.journal._owner import LIVE, Owner, Watch, new_owner, this_host
from leadline.journal._tables import OWNERS
from leadline.questions import Asked, Told

ELSEWHERE = Owner("elsewhere", "another-host", os.getpid(), 1.0)


def ask(trial):
    return Asked(trial, {"a": 0.5, "b": "x"})


@contextlib.contextmanager
def sleeping():
    """A process of this host that does nothing."""
    code = "import sys; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-S", "-c", code], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def owner_in(process):
    """An owner in another process of this host."""
    born = psutil.Process(process.pid).create_time()
    born -= psutil.boot_time() if sys.platform == "linux" else 0.0
    return Owner("other", this_host(), process.pid, born)


class Clock:
    """A clock that moves when a test says so."""

    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


def beat(journal, heartbeat):
    """Let all owners beat, without waiting for it."""
    with journal._database.writing() as connection:
        connection.execute(sa.update(OWNERS).values(heartbeat=heartbeat))


def heartbeats(journal):
    with journal._database.reading() as connection:
        return connection.execute(sa.select(OWNERS.c.heartbeat)).scalars().all()


def waited_for(happened):
    """Whether something happens within a minute."""
    until = time.monotonic() + 60
    while not happened() and time.monotonic() < until:
        time.sleep(0.005)
    return happened()


def test_this_process_is_alive_while_its_journal_is():
    owner = new_owner()
    assert owner.alive() is False
    LIVE.add(owner.token)
    assert owner.alive() is True
    assert dataclasses.replace(owner, born=owner.born - 100).alive() is False
    LIVE.discard(owner.token)
    assert owner.alive() is False


def test_another_host_cannot_be_seen():
    assert ELSEWHERE.alive() is None


def test_a_process_that_cannot_be_looked_up_may_be_alive(monkeypatch):
    def hidden(pid):
        raise psutil.NoSuchProcess(pid)

    monkeypatch.setattr(psutil, "Process", hidden)
    assert Owner("other", this_host(), os.getpid(), 1.0).alive() is None


def test_a_killed_process_is_gone_at_once_and_a_living_one_is_not(database):
    with sleeping() as process:
        other = database.journal(owner=owner_in(process))
        assert other.claim([ask(0), ask(1)])
        journal = database.journal()
        assert journal.adopt(5) == []
        process.kill()
        # It is dead, and its parent, this test, has not taken note of that.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert journal.adopt(1) == [0]
        process.wait()
        assert journal.adopt(5) == [1]
    assert journal.mine() == {0, 1}


def test_calls_of_a_killed_process_are_interrupted(database):
    with sleeping() as process:
        other = database.journal(owner=owner_in(process))
        assert other.claim([ask(0), ask(1)])
        # Whoever asked by hand calls the function in their own time.
        assert database.journal().claim([ask(2)], ours=False)
        assert database.journal(owner=ELSEWHERE).claim([ask(3)])
        looking = database.make()
        assert looking.interrupted() == set()
        process.kill()
        process.wait()
        assert looking.interrupted() == {0, 1}
        assert other.finish(Told(1, 1.0))
        journal = database.journal()
        assert journal.adopt(1) == [0]
        assert looking.interrupted() == set()
        looking.close()


def test_a_pid_that_now_is_another_process_is_gone_at_once(database):
    with sleeping() as process:
        owner = owner_in(process)
        other = database.journal(owner=dataclasses.replace(owner, born=owner.born - 100))
        assert other.claim([ask(0)])
        assert database.journal().adopt(5) == [0]


def test_a_forgotten_journal_of_this_process_is_gone_at_once(database):
    other = database.make()
    other.open(SETTINGS)
    assert other.claim([ask(0)])
    journal = database.journal()
    assert journal.adopt(5) == []
    del other
    gc.collect()
    assert journal.adopt(5) == [0]


def test_another_host_is_given_its_lease(database):
    clock = Clock()
    assert database.journal(owner=ELSEWHERE).claim([ask(0)])
    journal = database.journal(clock=clock)
    # Its clock may say anything: only that the heartbeat stands still counts.
    beat(journal, 5.0)
    assert journal.adopt(5) == []
    clock.now += 59
    assert journal.adopt(5) == []
    beat(journal, 4.0)
    clock.now += 59
    assert journal.adopt(5) == []
    clock.now += 59.9
    assert journal.adopt(5) == []
    clock.now += 0.1
    assert journal.adopt(5) == [0]
    assert journal.adopt(5) == []


def test_a_process_that_just_came_waits_for_a_whole_lease(database):
    clock = Clock()
    assert database.journal(owner=ELSEWHERE).claim([ask(0)])
    journal = database.journal(clock=clock, lease=5.0)
    # Its lease is 60 s, so it beats every 10 s: 5 s without a beat would say nothing.
    assert journal.adopt(5) == []
    clock.now += 39
    assert journal.adopt(5) == []
    clock.now += 1
    assert journal.adopt(5) == [0]


def test_whoever_was_given_up_too_early_may_still_finish_first(database):
    clock = Clock()
    other = database.journal(owner=ELSEWHERE)
    assert other.claim([ask(0), ask(1)])
    journal = database.journal(clock=clock)
    assert journal.adopt(5) == []
    clock.now += 60
    assert journal.adopt(5) == [0, 1]
    assert other.mine() == set()
    assert other.finish(Told(0, 1.0))
    assert not journal.finish(Told(0, 2.0))
    assert journal.finish(Told(1, 2.0))
    assert not other.finish(Told(1, 1.0))
    assert [event.value for _, event in journal.read(2)] == [1.0, 2.0]
    assert other.claim([ask(2)])
    assert other.mine() == {2}
    assert journal.adopt(5) == []


def test_a_beat_between_two_looks_keeps_the_trial(database, monkeypatch):
    """The owner comes back after the first look of `adopt` and before it holds the lock."""
    clock = Clock()
    assert database.journal(owner=ELSEWHERE).claim([ask(0)])
    journal = database.journal(clock=clock)
    assert journal.adopt(5) == []
    clock.now += 60
    writing = journal._database.writing

    def slow():
        monkeypatch.undo()
        beat(journal, 5.0)
        return writing()

    monkeypatch.setattr(journal._database, "writing", slow)
    assert journal.adopt(5) == []


def test_several_who_adopt_at_once_get_each_trial_once(database):
    first = database.journal()
    assert first.claim([ask(trial) for trial in range(40)])
    first.release()
    journals = [database.journal() for _ in range(4)]
    taken = [[] for _ in journals]

    def take(journal, mine):
        while found := journal.adopt(3):
            mine += found

    threads = [
        threading.Thread(target=take, args=pair) for pair in zip(journals, taken, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(trial for mine in taken for trial in mine) == list(range(40))
    assert [journal.mine() for journal in journals] == [set(mine) for mine in taken]


def test_the_heart_beats_from_the_first_trial_until_release(database):
    journal = database.journal(lease=0.04)
    assert heartbeats(journal) == []
    assert journal.claim([ask(0)])
    [before] = heartbeats(journal)
    assert waited_for(lambda: heartbeats(journal) != [before])
    journal.release()
    assert heartbeats(journal) == []
    assert journal.adopt(1) == [0]
    [before] = heartbeats(journal)
    assert waited_for(lambda: heartbeats(journal) != [before])


def test_a_beat_under_way_while_the_journal_closes_leaves_no_connection_open(database):
    journal = database.journal()
    with journal._database.beating() as connection:
        raw = connection.connection.dbapi_connection
        connection.execute(sa.select(OWNERS.c.heartbeat))
        journal.close()
        # A transaction goes on to its end.
        connection.execute(sa.select(OWNERS.c.heartbeat))
    with pytest.raises(Exception, match="closed"):
        raw.execute("SELECT 1")


def test_the_interval_is_a_quarter_of_the_lease_and_at_most_ten_seconds(database):
    for lease, interval in [(60.0, 10.0), (8.0, 2.0), (1, 0.25)]:
        assert database.journal(lease=lease)._interval == interval


def test_a_heart_goes_on_after_a_beat_that_failed():
    beats = []

    def fails():
        beats.append(1)
        raise RuntimeError("database is locked")

    heartbeat = Heartbeat(fails, 0.001)
    heartbeat.start()
    heartbeat.start()
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("leadline-heartbeat") == 1
    assert waited_for(lambda: len(beats) > 3)
    heartbeat.stop()
    heartbeat.stop()
    assert waited_for(lambda: "leadline-heartbeat" not in [t.name for t in threading.enumerate()])


def test_silence_counts_from_the_first_look():
    clock = Clock()
    watch = Watch(clock)
    assert watch.silence("a", 1.0) == 0.0
    clock.now += 7
    assert watch.silence("a", 1.0) == 7.0
    assert watch.silence("b", 1.0) == 0.0
    assert watch.silence("a", 0.5) == 0.0
    clock.now += 2
    assert watch.silence("a", 0.5) == 2.0


def test_containers_with_the_name_of_their_machine_are_other_hosts(monkeypatch):
    stat = os.stat

    def seen_from(namespace):
        def fake(path, *args, **kwargs):
            if path != "/proc/self/ns/pid":
                return stat(path, *args, **kwargs)
            return types.SimpleNamespace(st_ino=namespace)

        monkeypatch.setattr(os, "stat", fake)
        return this_host()

    here = seen_from(1)
    assert seen_from(1) == here
    assert seen_from(2) != here
