"""Looking at a journal changes nothing in it, whoever uses it meanwhile."""

import sqlite3

import pytest
import sqlalchemy as sa

from leadline.boundary import InvalidData
from leadline.campaign import open_journal
from leadline.journal._tables import OWNERS, RUNNING
from leadline.questions import Asked, Told

SETTINGS = {"verb": "minimize", "space": {"b": 1, "a": [1.5, None]}, "seed": 0}


def rows(journal):
    """Who takes part, and what runs."""
    with journal._database.reading() as connection:
        return [connection.execute(sa.select(table)).all() for table in (OWNERS, RUNNING)]


def test_a_look_at_a_campaign_that_runs(database):
    running = database.journal(SETTINGS)
    assert running.claim([Asked(0, {"x": 1}), Asked(1, {"x": 2})])
    assert running.finish(Told(0, 0.5))
    before = rows(running)
    looking = open_journal(database.where)
    assert looking.settings() == SETTINGS
    assert list(looking.settings()["space"]) == ["b", "a"]
    assert [type(event) for _, event in looking.read(0)] == [Asked, Asked, Told]
    looking.close()
    assert rows(running) == before
    assert running.mine() == {1}


def test_a_look_at_an_empty_database_creates_nothing(database):
    if database.kind == "sqlite":
        with pytest.raises(InvalidData, match="There is no journal"):
            open_journal(database.where).settings()
        assert not database.where.exists()
        sqlite3.connect(database.where).close()
    with pytest.raises(InvalidData, match="is no journal of Leadline"):
        open_journal(database.where).settings()


def test_a_look_at_another_file(tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("This is no database. " * 100)
    with pytest.raises(InvalidData, match="cannot be opened: file is not a database"):
        open_journal(file).settings()


def test_a_journal_in_memory():
    journal = open_journal(None)
    with pytest.raises(InvalidData, match="was not opened yet"):
        journal.settings()
    journal.open(SETTINGS)
    assert journal.settings() == SETTINGS
