"""Connections to the database of a journal.

SQLite files are for one machine: its write-ahead log needs memory that all processes share. Several
machines share a PostgreSQL database.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event, exc

from leadline.boundary import InvalidData
from leadline.journal._address import database_url
from leadline.journal._failed import JournalFailed
from leadline.journal._file import File
from leadline.journal._shown import shown_place, without_passwords

# Seconds to wait for another process that writes, or for a server that does not answer.
_PATIENCE = 30.0
# The same for psycopg, in seconds and milliseconds, where a network swallows what is sent.
_LIMITS = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
# SQLite could not write, or not make the files that it needs to read.
_NOT_WRITABLE = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
_WRITES = "leadline_writes"
_CREATING = 7809631


class Database:
    """Transactions that read, and transactions that write, one after the other.

    A write holds the lock of the whole campaign from its begin to its commit. So the numbers that
    it gives to events grow in the order of commits, and no reader meets a gap that is filled later.

    Args:
        journal: the path of an SQLite file, or a database URL.
        lock: a statement that takes the campaign's lock, for databases with many writers.
    """

    def __init__(self, journal: str | os.PathLike, lock: sa.Executable):
        self._journal, self._lock = journal, lock
        url = database_url(journal)
        self.sqlite = url.get_backend_name() == "sqlite"
        self._file = File(Path(url.database or "")) if self.sqlite else None
        self._engine = self._reader = _engine_of(url)
        self._writer = self._engine.execution_options(**{_WRITES: True})
        # What goes wrong in there.
        driver: Any = self._engine.dialect.dbapi
        self.errors = (exc.SQLAlchemyError, driver.Error)
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._closed = 0
        # Whether the last transaction failed; beats do not count.
        self.failed = False
        # Who has waited for a server in vain does not wait again, until it answers.
        self._in_vain = False

    @contextlib.contextmanager
    def creating(self) -> Iterator[sa.Connection]:
        """A transaction that may create tables."""
        folder = self._file.path.parent if self._file else None
        if folder and not os.access(folder, os.W_OK):
            raise InvalidData(f"The folder of the journal {self.place} cannot be written to.")
        with self._writer.connect() as connection, connection.begin():
            if not self.sqlite:
                # There is no row to lock yet, so all who create lock the same number.
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_CREATING)))
            yield connection

    def opened(self) -> None:
        """Keep SQLite's write-ahead log from now on: readers and a writer do not wait."""
        if self._file is None:
            return
        self._file.begin()
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
        if self._file is not None:
            self._file.require()
            self._find_reader(self._file)
            self._file.begin()
        with self._reader.connect() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """A transaction that writes nothing."""
        with self._transaction(self._reader) as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """A transaction that holds the campaign's lock; it is on disk after the block."""
        with self._transaction(self._writer) as connection:
            if not self.sqlite:
                connection.execute(self._lock)
            yield connection

    @contextlib.contextmanager
    def beating(self) -> Iterator[sa.Connection]:
        """A transaction that writes beside the campaign's lock, where the database can do that.

        It waits for no server that is away.
        """
        with self._transaction(self._writer, waits=False) as connection:
            yield connection

    def close(self) -> None:
        """Let go of all connections; those in use go when their transactions end."""
        self._closed += 1
        self._engine.dispose()
        self._drop_copy()

    def reason(self, error: BaseException) -> str:
        """What a database said, in a sentence without its end, and without passwords."""
        said = " ".join(str(getattr(error, "orig", None) or error).split())
        if not self.sqlite:
            said = without_passwords(said, self._journal)
        return said.rstrip(".? ")

    def cause(self, error: BaseException) -> BaseException | None:
        """What a traceback may show beside our own error: drivers of servers quote URLs."""
        return getattr(error, "orig", None) or error if self.sqlite else None

    @contextlib.contextmanager
    def _transaction(self, engine: sa.Engine, waits: bool = True) -> Iterator[sa.Connection]:
        before, pool = self._closed, self._engine.pool
        if self._file is not None:
            self._file.check()
        try:
            with self._connect(engine, waits) as connection, connection.begin():
                yield connection
            self.failed &= not waits
        except self.errors as error:
            self.failed |= waits
            failed = JournalFailed(f"{self} failed: {self.reason(error)}.")
            raise failed from self.cause(error)
        finally:
            # A heart may beat while the journal is closed. Its connection then comes back to a pool
            # that nobody will look at again.
            if self._closed != before:
                pool.dispose()
                self._engine.dispose()

    def _connect(self, engine: sa.Engine, waits: bool) -> sa.Connection:
        """A connection, from a server that may be away for a moment."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                connection = engine.connect()
                self._in_vain = False
                return connection
            except exc.OperationalError:
                if not waits or self._in_vain:
                    raise
                if time.monotonic() > until:
                    self._in_vain = True
                    raise
                time.sleep(0.5)

    def _find_reader(self, file: File) -> None:
        """Read the file where it is, or a copy if SQLite cannot."""
        self._drop_copy()
        if file.shared:
            try:
                with self._engine.connect() as connection, connection.begin():
                    connection.exec_driver_sql("SELECT 1 FROM sqlite_master")
                return
            except exc.OperationalError as error:
                if getattr(error.orig, "sqlite_errorcode", 0) & 0xFF not in _NOT_WRITABLE:
                    raise
        self._copy = file.copy()
        path = Path(self._copy.name) / file.path.name
        self._reader = _engine_of(sa.URL.create("sqlite", database=str(path)))

    def _drop_copy(self) -> None:
        if self._copy is not None:
            self._reader.dispose()
            self._copy.cleanup()
        self._reader, self._copy = self._engine, None

    @property
    def place(self) -> str:
        """Where it is, for everybody to read."""
        return str(self._file.path) if self._file else shown_place(self._journal)

    def __str__(self) -> str:
        return f"The journal {self.place}"


def _engine_of(url: sa.URL) -> sa.Engine:
    sqlite = url.get_backend_name() == "sqlite"
    options: dict[str, Any] = {"connect_args": {"timeout": _PATIENCE, "check_same_thread": False}}
    if not sqlite:
        limits = _LIMITS if url.get_driver_name() == "psycopg" else {}
        limits = {name: limit for name, limit in limits.items() if name not in url.query}
        # A connection may break between two calls that are hours apart: test it before use.
        options = {
            "pool_pre_ping": True,
            "isolation_level": "READ COMMITTED",
            "connect_args": limits,
        }
    try:
        engine = sa.create_engine(url, hide_parameters=True, **options)
    except ImportError as error:
        raise ImportError(
            "A journal in PostgreSQL needs a driver: pip install 'leadline[postgres]'."
        ) from error
    # A driver, or something else in the URL, that SQLAlchemy does not know.
    except exc.SQLAlchemyError:
        raise InvalidData(
            "The journal's URL cannot be read: its driver is not known. Begin it with "
            "postgresql://."
        ) from None
    if sqlite:
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        event.listen(engine, "connect", _set_up_postgresql)
    return engine


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
