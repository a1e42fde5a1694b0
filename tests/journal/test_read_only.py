"""Looking where nothing may be written: everything on disk is seen, and nothing is left behind."""

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from tests.places import SETTINGS

import leadline as ll
from leadline.boundary import InvalidData
from leadline.journal._database import DatabaseJournal
from leadline.journal._file import File
from leadline.questions import Asked, Told

NOBODY = 65534
BOX = [(0.0, 1.0)] * 2


@pytest.fixture
def place():
    """A folder that everybody may look into, unlike those of pytest."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)
        os.chmod(folder, 0o755)


@contextlib.contextmanager
def nothing_may_be_written(folder, folder_too=True):
    """Meanwhile this process has no rights but to read what is in a folder."""
    for file in folder.iterdir():
        file.chmod(0o444)
    folder.chmod(0o555 if folder_too else 0o777)
    root = os.geteuid() == 0
    if root:
        os.setresuid(NOBODY, NOBODY, 0)
    try:
        assert os.access(folder, os.W_OK) != folder_too
        yield
    finally:
        if root:
            os.setresuid(0, 0, 0)
        folder.chmod(0o755)


def written(path, trials=3):
    """A journal with some trials that is still open."""
    journal = DatabaseJournal(path)
    journal.open(SETTINGS)
    for trial in range(trials):
        assert journal.claim([Asked(trial, {"a": 0.5, "b": "x"})])
        assert journal.finish(Told(trial, float(trial)))
    return journal


def values(path):
    """What somebody sees who looks."""
    journal = DatabaseJournal(path)
    try:
        assert journal.settings() == SETTINGS
        return [event.value for _, event in journal.read(0) if isinstance(event, Told)]
    finally:
        journal.close()


def files(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def left_by_a_kill(journal, folder, suffixes):
    """The files of a journal whose process was killed before it moved anything out of `-wal`."""
    folder.mkdir()
    for suffix in ("", *suffixes):
        shutil.copy(f"{journal}{suffix}", f"{folder / 'run.db'}{suffix}")


def test_a_journal_that_nobody_uses(place):
    written(place / "run.db").close()
    before = files(place)
    assert list(before) == ["run.db"]
    with nothing_may_be_written(place):
        assert values(place / "run.db") == [0.0, 1.0, 2.0]
    assert files(place) == before


@pytest.mark.parametrize("suffixes", [["-wal"], ["-wal", "-shm"]])
def test_what_is_only_in_the_log_of_writes_is_seen(place, suffixes):
    journal = written(place / "run.db")
    left_by_a_kill(place / "run.db", place / "killed", suffixes)
    journal.close()
    killed = place / "killed"
    before = files(killed)
    # It is in there and nowhere else.
    shutil.copy(killed / "run.db", place / "without.db")
    assert values(place / "without.db") == []
    with nothing_may_be_written(killed):
        assert values(killed / "run.db") == [0.0, 1.0, 2.0]
    assert files(killed) == before


def test_a_journal_that_somebody_else_writes(place):
    journal = written(place / "run.db")
    with nothing_may_be_written(place):
        assert values(place / "run.db") == [0.0, 1.0, 2.0]
        # Its own files were open before.
        assert journal.claim([Asked(3, {"a": 0.5, "b": "x"})])
        assert journal.finish(Told(3, 3.0))
        assert values(place / "run.db") == [0.0, 1.0, 2.0, 3.0]
    journal.close()


def test_whoever_may_not_write_leaves_nothing_in_a_folder_of_all(place):
    written(place / "run.db").close()
    with nothing_may_be_written(place, folder_too=False):
        assert values(place / "run.db") == [0.0, 1.0, 2.0]
    assert [file.name for file in place.iterdir()] == ["run.db"]


def test_load_and_a_question_that_goes_on(place):
    path = place / "run.db"
    ll.minimize(lambda x: float(x[0]), BOX, budget=4, method="random", journal=path)
    with nothing_may_be_written(place):
        question = ll.load(path)
        assert len(question.trials) == 4
        with pytest.raises(InvalidData, match=r"run\.db cannot be written to"):
            question.ask()
        with pytest.raises(InvalidData, match=r"run\.db cannot be written to"):
            ll.Minimize(BOX, "random", journal=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_copies_are_removed_and_taken_again_while_somebody_writes(place, monkeypatch):
    path = place / "run.db"
    journal = written(path)
    left_by_a_kill(path, place / "other", ["-wal"])
    folders, copyfile = [], shutil.copyfile

    def meanwhile(source, target):
        """Somebody writes while the first copy is taken."""
        folders.append(Path(target).parent)
        copyfile(source, target)
        if len(folders) == 1:
            assert journal.claim([Asked(3, {"a": 0.5, "b": "x"})])
            journal.finish(Told(3, 3.0))

    monkeypatch.setattr(shutil, "copyfile", meanwhile)
    monkeypatch.setattr(File, "shared", False)
    assert values(path) == [0.0, 1.0, 2.0, 3.0]
    assert len(set(folders)) == 2
    assert not any(folder.exists() for folder in folders)
    journal.close()


def test_a_journal_that_never_stands_still(place, monkeypatch):
    path = place / "run.db"
    written(path).close()
    monkeypatch.setattr(File, "shared", False)
    monkeypatch.setattr(File, "_marks", lambda self: [object()])
    monkeypatch.setattr("leadline.journal._file.time.sleep", lambda seconds: None)
    with pytest.raises(InvalidData, match=r"run\.db is being written, and to look at it"):
        values(path)
