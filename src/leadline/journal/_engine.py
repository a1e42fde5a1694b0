"""Connections to the database of a journal.

SQLite files are for one machine: its write-ahead log needs memory that all processes share. Several
machines share a PostgreSQL database.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, exc

from leadline.boundary import InvalidData

# Seconds to wait for another process that writes, or for a server that does not answer.
_PATIENCE = 30.0
_WRITES = "leadline_writes"
_CREATING = 7809631


def database_url(journal: str | os.PathLike) -> sa.URL:
    """The URL for a path or a URL; `InvalidData` if it can be no journal."""
    text = os.fspath(journal)
    if "://" not in text:
        return _file_url(text)
    try:
        url = sa.make_url(text)
    except (exc.ArgumentError, ValueError) as error:
        raise InvalidData(f"The journal's URL cannot be read: {error}") from error
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    backend = url.get_backend_name()
    if backend == "sqlite":
        return _file_url(url.database or "")
    if backend != "postgresql":
        raise InvalidData(
            f"A journal is an SQLite file or a PostgreSQL database, got a URL of {backend!r}."
        )
    return url


def _file_url(text: str) -> sa.URL:
    if text in ("", ":memory:"):
        raise InvalidData("A journal needs the path of a file; journal=None keeps it in memory.")
    path = Path(text).expanduser().absolute()
    if path.is_dir():
        raise InvalidData(f"The journal must be a file, and {path} is a folder.")
    if not path.parent.is_dir():
        raise InvalidData(f"The folder of the journal {path} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise InvalidData(f"The folder of the journal {path} cannot be written to.")
    return sa.URL.create("sqlite", database=str(path))


class Database:
    """Transactions that read, and transactions that write, one after the other.

    A write holds the lock of the whole campaign from its begin to its commit. So the numbers that
    it gives to events grow in the order of commits, and no reader meets a gap that is filled later.

    Args:
        url: where.
        lock: a statement that takes the campaign's lock, for databases with many writers.
    """

    def __init__(self, url: sa.URL, lock: sa.Executable):
        self.sqlite = url.get_backend_name() == "sqlite"
        self._url = url
        self._lock = lock
        options: dict[str, Any] = (
            {"connect_args": {"timeout": _PATIENCE, "check_same_thread": False}}
            if self.sqlite
            # A connection may break between two calls that are hours apart: test it before use.
            else {"pool_pre_ping": True, "isolation_level": "READ COMMITTED"}
        )
        try:
            self._engine = sa.create_engine(url, hide_parameters=True, **options)
        except ImportError as error:
            raise ImportError(
                "A journal in PostgreSQL needs a driver: pip install 'leadline[postgres]'."
            ) from error
        self._writer = self._engine.execution_options(**{_WRITES: True})
        self._closed = 0
        if self.sqlite:
            event.listen(self._engine, "connect", _set_up_sqlite)
            event.listen(self._engine, "begin", _begin_sqlite)
        else:
            event.listen(self._engine, "connect", _set_up_postgresql)

    @contextlib.contextmanager
    def creating(self) -> Iterator[sa.Connection]:
        """A transaction that may create tables."""
        with self._writer.connect() as connection, connection.begin():
            if not self.sqlite:
                # There is no row to lock yet, so all who create lock the same number.
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATING)))
            yield connection

    def opened(self) -> None:
        """Keep SQLite's write-ahead log from now on: readers and a writer do not wait."""
        if not self.sqlite:
            return
        until = time.monotonic() + _PATIENCE
        with contextlib.closing(self._engine.raw_connection()) as connection:
            while True:
                try:
                    connection.cursor().execute("PRAGMA journal_mode=WAL").fetchall()
                    return
                # SQLite's own waiting does not cover this change.
                except sqlite3.OperationalError:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.02)

    @contextlib.contextmanager
    def looking(self) -> Iterator[sa.Connection]:
        """A transaction that writes nothing, to a database that must be there now."""
        if self.sqlite and not Path(self._url.database or "").exists():
            # SQLite would make an empty file.
            raise InvalidData(f"There is no journal {self._url.database}.")
        with self._engine.connect() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that writes nothing."""
        with self._transaction(self._engine) as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that holds the campaign's lock; it is on disk after the block."""
        with self.beating() as connection:
            if not self.sqlite:
                connection.execute(self._lock)
            yield connection

    @contextlib.contextmanager
    def beating(self) -> Iterator[sa.Connection]:
        """A transaction that writes beside the campaign's lock, where the database can do that."""
        with self._transaction(self._writer) as connection:
            yield connection

    def close(self) -> None:
        """Let go of all connections; those in use go when their transactions end."""
        self._closed += 1
        self._engine.dispose()

    @contextlib.contextmanager
    def _transaction(self, engine: sa.Engine) -> Iterator[sa.Connection]:
        before, pool = self._closed, self._engine.pool
        try:
            with _connect(engine) as connection, connection.begin():
                yield connection
        finally:
            # A heart may beat while the journal is closed. Its connection then comes back to a pool
            # that nobody will look at again.
            if self._closed != before:
                pool.dispose()
                self._engine.dispose()

    def __str__(self) -> str:
        where = self._url.database if self.sqlite else self._url.render_as_string()
        return f"The journal {where}"


def _connect(engine: sa.Engine) -> sa.Connection:
    """A connection, from a server that may be away for a moment."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return engine.connect()
        except exc.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.5)


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    # We begin transactions ourselves: the driver would begin them too late for reads.
    connection.isolation_level = None
    # Each commit is on the disk before it returns; on macOS that needs one more word.
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA fullfsync=ON")


def _begin_sqlite(connection: sa.Connection) -> None:
    # A transaction that will write takes the lock at once, and so never has to give up later.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _set_up_postgresql(connection: Any, _record: Any) -> None:
    # A host that goes in the middle of a write would keep the campaign's lock for hours.
    connection.cursor().execute("SET idle_in_transaction_session_timeout = '1min'")
    connection.commit()
