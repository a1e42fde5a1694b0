"""The question of a journal, with all its trials."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest
import sqlalchemy as sa

import leadline as ll
from leadline.campaign import MemoryJournal
from leadline.journal._database import DatabaseJournal
from leadline.journal._tables import CAMPAIGN
from leadline.questions import Asked

BOX = [(0.0, 1.0)] * 2


def bowl(x):
    return float(np.sum((x - 0.3) ** 2))


def campaign(journal, verb=ll.minimize, budget=6):
    return verb(bowl, BOX, budget=budget, method="random", journal=journal, progress=False)


@pytest.mark.parametrize("verb", [ll.minimize, ll.maximize])
def test_the_answer_and_the_next_ask_are_those_of_the_campaign(tmp_path, verb):
    path = tmp_path / "run.db"
    answer = campaign(str(path), verb)
    before = path.read_bytes()
    loaded = ll.load(path)
    assert loaded.verb == verb.__name__
    assert loaded.answer().value == answer.value
    np.testing.assert_array_equal([t.x for t in loaded.trials], [t.x for t in answer.trials])
    # Looking changes nothing, and asking goes into the journal.
    assert path.read_bytes() == before
    asked = loaded.ask()[0]
    loaded.tell(asked, 0.5)
    loaded.close()
    whole = verb(bowl, BOX, budget=7, method="random", progress=False)
    np.testing.assert_array_equal(asked.x, whole.trials[6].x)
    assert campaign(str(path), verb, 7).trials[6].value == 0.5


def test_a_journal_in_memory():
    journal = MemoryJournal()
    answer = campaign(journal)
    assert ll.load(journal).answer().value == answer.value
    # It is still open, and goes on.
    assert len(campaign(journal, budget=8).trials) == 8


def test_calls_whose_process_ended_do_not_run(tmp_path):
    path = tmp_path / "run.db"
    journal = DatabaseJournal(path)
    question = ll.Minimize(BOX, "random", journal=journal)
    by_hand, pending = question.ask(2)
    journal.claim([Asked(2, np.array([0.5, 0.5])), Asked(3, np.array([0.25, 0.5]))])
    running = ll.load(path)
    assert "4 running" in running.counts()
    assert running.remark(running.trials[3]) == "running"
    # As far as others can see, a process ends like this.
    journal.close()
    loaded = ll.load(path)
    assert loaded.counts() == "4 trials: 0 with a value, 0 failed, 2 running, 2 interrupted"
    assert "4 trials, 2 running, 2 interrupted, 0 failed" in repr(loaded)
    remarks = [loaded.remark(trial) for trial in loaded.trials]
    ended = "interrupted: its process ended, and the next run calls it again"
    assert remarks == ["running", "running", ended, ended]
    # It is called, and so was what was asked by hand.
    loaded.tell(by_hand, 1.0)
    assert "1 running, 2 interrupted" in loaded.counts()
    loaded.close()
    assert not any(trial.running for trial in campaign(str(path), budget=5).trials)
    assert "0 running" in ll.load(path).counts()
    assert pending.id == 1


COUNT = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(*connection.execute("select count(*) from leadline_events").fetchone())
connection.close()
"""


def events_seen_by_another_process(path):
    """How many there are; when it closes the file, SQLite tidies up if nobody else has it open."""
    command = [sys.executable, "-c", COUNT, str(path)]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


def test_loading_takes_no_locks_from_a_journal_that_is_open_here(tmp_path):
    """Otherwise others would remove its log of writes, and what is written then would be lost."""
    path = tmp_path / "run.db"
    question = ll.Minimize(BOX, "random", journal=path)
    question.ask(2)
    ll.load(path)
    assert events_seen_by_another_process(path) == 2
    question.tell(0, 0.5)
    assert events_seen_by_another_process(path) == 3
    question.close()
    assert ll.load(path).trials[0].value == 0.5


def test_files_that_are_no_journals(tmp_path):
    with pytest.raises(ll.InvalidData, match="There is no journal"):
        ll.load(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()
    empty, text, other = (tmp_path / name for name in ("empty.db", "text.db", "other.db"))
    empty.touch()
    text.write_text("rate = 0.1\n" * 200)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("create table people (name text)")
    for path in (empty, other):
        with pytest.raises(ll.InvalidData, match="no journal of Leadline"):
            ll.load(path)
    with pytest.raises(ll.InvalidData, match="cannot be opened"):
        ll.load(text)


def test_a_journal_of_a_newer_version(tmp_path):
    path = tmp_path / "run.db"
    campaign(str(path))
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.execute(sa.update(CAMPAIGN).values(format=99))
    engine.dispose()
    with pytest.raises(ll.InvalidData, match="its format is 99"):
        ll.load(path)


def test_a_verb_that_nobody_knows():
    journal = MemoryJournal()
    journal.open({"verb": "minimise", "seed": 0})
    with pytest.raises(ll.InvalidData, match="Did you mean 'minimize'"):
        ll.load(journal)
