"""Places for journals: memory, an SQLite file, and a schema of its own in PostgreSQL."""

import dataclasses
import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from leadline.journal._database import DatabaseJournal
from leadline.journal._journal import Journal
from leadline.journal._memory import MemoryJournal

SETTINGS = {
    "verb": "minimize",
    "space": {"parameters": {"a": {"low": 0.0, "high": 1.0}, "b": {"options": ["x", "y"]}}},
    "seed": 0,
}


@dataclasses.dataclass
class Place:
    """Where a journal is; `journal()` opens it once more, as another process would."""

    kind: str
    where: str | Path | None
    make: Callable[..., Journal]
    made: list[Journal] = dataclasses.field(default_factory=list)

    def journal(self, settings: dict[str, Any] = SETTINGS, **options: Any) -> Any:
        journal = self.make(**options)
        # One that cannot be opened must be closed too.
        self.made.append(journal)
        journal.open(settings)
        return journal


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request, tmp_path):
    """Any journal."""
    yield from _places(request.param, tmp_path)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    """A journal in a database."""
    yield from _places(request.param, tmp_path)


@pytest.fixture
def postgresql(tmp_path):
    """A journal in PostgreSQL."""
    yield from _places("postgresql", tmp_path)


def _places(kind, folder):
    if kind == "memory":
        journal = MemoryJournal()
        yield Place(kind, None, lambda: journal)
        return
    if kind == "sqlite":
        place = _database_place(kind, folder / "run.db")
        yield place
    else:
        server = os.environ.get("LEADLINE_TEST_POSTGRES")
        if not server:
            pytest.skip("needs a PostgreSQL server: set LEADLINE_TEST_POSTGRES to its URL")
        url = sa.make_url(server).set(drivername="postgresql+psycopg")
        schema = f"journal_{uuid.uuid4().hex}"
        engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(sa.text(f"CREATE SCHEMA {schema}"))
            own = url.update_query_dict({"options": f"-csearch_path={schema}"})
            place = _database_place(kind, own.render_as_string(hide_password=False))
            yield place
            for journal in place.made:
                journal.close()
            connection.execute(sa.text(f"DROP SCHEMA {schema} CASCADE"))
        engine.dispose()
    for journal in place.made:
        journal.close()


def _database_place(kind, where):
    return Place(kind, where, lambda **options: DatabaseJournal(where, **options))
