"""A journal in a database: SQLite by a path, PostgreSQL by a URL.

Nothing is kept in this process but what it saw of the heartbeats of others, so any number of
processes may use one journal, and each may die at any moment.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import sqlalchemy as sa

from leadline.boundary import InvalidData
from leadline.journal._engine import Database
from leadline.journal._events import Asked, Corrected, End, Event, Given, Told, Widened
from leadline.journal._failed import JournalFailed
from leadline.journal._heartbeat import Heartbeat
from leadline.journal._journal import Journal, check_next, check_started
from leadline.journal._owner import LIVE, Owner, Watch, new_owner
from leadline.journal._settings import check_same_settings, widens
from leadline.journal._statements import (
    ADD_EVENT,
    ADD_LATE,
    ADD_OWNER,
    ADD_RUNNING,
    BEAT,
    END_RUNNING,
    EVENTS_OF,
    FREE,
    LAST,
    LEAVE,
    LOCK,
    MINE,
    OTHERS,
    READ,
    RUNS,
    SET_CAMPAIGN,
    TAKE,
    UNFINISHED,
)
from leadline.journal._stored import (
    Stored,
    restore,
    restore_settings,
    store,
    store_settings,
)
from leadline.journal._tables import (
    CAMPAIGN,
    FORMAT,
    TABLES,
)


class DatabaseJournal(Journal):
    """Events in a database.

    Args:
        journal: the path of an SQLite file, or a database URL.
        lease: seconds without a heartbeat after which trials of another host are free.
        owner: who we are; by default a new owner of this process.
        clock: seconds, for the lease.
    """

    def __init__(
        self,
        journal: str | os.PathLike,
        lease: float | int = 60.0,
        *,
        owner: Owner | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        if isinstance(lease, bool) or not isinstance(lease, int | float) or not lease > 0:
            raise InvalidData(f"lease must be a positive number of seconds, got {lease!r}.")
        self._database = Database(journal, LOCK)
        self._lease = float(lease)
        self._interval = min(self._lease / 4, 10.0)
        self._owner = owner or new_owner()
        self._joined = False
        self._watch = Watch(clock)
        self._heartbeat = Heartbeat(
            functools.partial(_beat, self._database, self._owner.token), self._interval
        )
        # A journal that is forgotten without `close` runs nothing any more.
        weakref.finalize(self, _abandon, self._owner.token, self._heartbeat, self._database)

    def open(self, settings: dict[str, Any]) -> None:
        """Create the tables, or check that they hold a campaign with these settings."""
        text = store_settings(settings)
        with self._clear_errors():
            with self._database.creating() as connection:
                stored = self._settings_of(_open_tables(connection, text, self._database))
                given = restore_settings(text)
                if widens(stored, given):
                    self._widen(connection, text, given["space"])
                    stored = given
            self._database.opened()
            check_same_settings(stored, given, str(self._database))

    def settings(self) -> dict[str, Any]:
        """The settings in the database, which is not changed."""
        with self._clear_errors(), self._database.looking() as connection:
            if CAMPAIGN.name not in sa.inspect(connection).get_table_names():
                raise InvalidData(f"{self._database} is no journal of Leadline.")
            return self._settings_of(_stored_settings(connection, self._database))

    def read(self, after: int) -> list[tuple[int, Event]]:
        """The events with a number above `after`, in order, with their numbers."""
        with self._database.reading() as connection:
            rows = connection.execute(READ, {"after": after}).all()
        return [(number, self._restored(number, *fields)) for number, *fields in rows]

    def claim(self, asks: list[Asked], ours: bool = True) -> bool:
        """Start trials, all or none; False if somebody else took one of their numbers."""
        rows = [store(ask) for ask in asks]
        now = time.time()
        with self._database.writing() as connection:
            number, trials = connection.execute(LAST).one()
            if not check_next(asks, trials):
                return False
            if ours:
                self._join(connection)
            _add_events(connection, rows, number, "start")
            owner = self._owner.token if ours else None
            running = [dict(trial=row.trial, owner=owner, since=now) for row in rows]
            connection.execute(ADD_RUNNING, running)
        if ours:
            self._stay()
        return True

    def give(self, event: Given) -> bool:
        """Add data that nobody asked for; False if somebody else took its number."""
        row = store(event)
        with self._database.writing() as connection:
            number, trials = connection.execute(LAST).one()
            if not check_next([event], trials):
                return False
            _add_events(connection, [row], number, "start")
        return True

    def finish(self, event: End) -> bool:
        """End a trial, whoever runs it; False if it was finished already."""
        row = store(event)
        with self._database.writing() as connection:
            number, trials = connection.execute(LAST).one()
            if not connection.execute(END_RUNNING, {"ended": row.trial}).rowcount:
                check_started(row.trial, trials)
                return False
            _add_events(connection, [row], number, "end")
        return True

    def correct(self, event: Corrected) -> bool:
        """Say anew what became of a trial; False if it has not ended."""
        row = store(event)
        with self._database.writing() as connection:
            number, trials = connection.execute(LAST).one()
            check_started(row.trial, trials)
            if connection.execute(RUNS, {"of": row.trial}).scalar_one():
                return False
            _add_events(connection, [row], number, _next_phase(connection, row.trial))
        return True

    def late(self, event: Told) -> None:
        """Keep a value that came after its trial was given up."""
        row = store(event)
        with self._database.writing() as connection:
            connection.execute(ADD_LATE, {**row._asdict(), "written": time.time()})

    def adopt(self, limit: int) -> list[int]:
        """Take over trials that nobody runs any more.

        Those are trials that were released, those of a process of this host that is gone, and
        those of another host whose heartbeat stood still for the lease while this process looked.
        """
        others = {"ours": self._owner.token}
        with self._database.reading() as connection:
            rows = connection.execute(OTHERS, others).all()
        if not self._orphans(rows, limit):
            return []
        # Look again with the lock: somebody else may have taken them, or their owner come back.
        with self._database.writing() as connection:
            taken = self._orphans(connection.execute(OTHERS, others).all(), limit)
            if taken:
                self._join(connection)
                now = time.time()
                connection.execute(TAKE, [dict(taken=trial, now=now, **others) for trial in taken])
        if taken:
            self._stay()
        return taken

    def mine(self) -> set[int]:
        """The unfinished trials that are ours."""
        with self._database.reading() as connection:
            return set(connection.execute(MINE, {"token": self._owner.token}).scalars())

    def interrupted(self) -> set[int]:
        """The unfinished trials that were called, by a process that can be seen to be gone."""
        with self._database.reading() as connection:
            rows = connection.execute(OTHERS, {"ours": self._owner.token}).all()
        # Without an owner they were asked by hand.
        called = [row for row in rows if row.owner is not None]
        return {row.trial for row in called if not row.token or _alive(row) is False}

    def unfinished(self) -> int:
        """How many trials are not finished, ours and those of others."""
        with self._database.reading() as connection:
            return connection.execute(UNFINISHED).scalar_one()

    def release(self) -> None:
        """Leave: our unfinished trials are free for anybody at once."""
        try:
            # Not `_joined`: an interrupt may have come between a commit and what followed it.
            if self._owner.token in LIVE and not self._database.failed:
                # Who cannot say that they leave will be missed.
                with contextlib.suppress(JournalFailed), self._database.writing() as connection:
                    connection.execute(FREE, {"token": self._owner.token})
                    connection.execute(LEAVE, {"left": self._owner.token})
        finally:
            self._joined = False
            _forget(self._owner.token, self._heartbeat)

    def close(self) -> None:
        """Leave, and let go of all connections."""
        self.release()
        self._database.close()

    def __str__(self) -> str:
        return str(self._database)

    def _settings_of(self, stored: str) -> dict[str, Any]:
        try:
            return restore_settings(stored)
        except ValueError as error:
            raise InvalidData(f"{self} is damaged: its settings cannot be read.") from error

    def _restored(self, number: int, *fields: Any) -> Event:
        try:
            return restore(Stored(*fields))
        # Whatever the text has become.
        except Exception as error:
            raise JournalFailed(f"{self} is damaged: event {number} cannot be read.") from error

    @contextlib.contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Errors of a database that cannot be used, as `InvalidData`; connections are let go."""
        try:
            yield
        except self._database.errors as error:
            self._database.close()
            reason = self._database.reason(error)
            failed = InvalidData(f"{self._database} cannot be opened: {reason}.")
            raise failed from self._database.cause(error)
        except InvalidData:
            self._database.close()
            raise

    def _widen(self, connection: sa.Connection, settings: str, space: Any) -> None:
        """Take settings with a wider space for the campaign's from now on."""
        row = store(Widened(space))
        connection.execute(SET_CAMPAIGN, {"settings": settings})
        number, _ = connection.execute(LAST).one()
        _add_events(connection, [row], number, _next_phase(connection, row.trial))

    def _join(self, connection: sa.Connection) -> None:
        """Say who we are, before the first trial is ours."""
        if self._joined:
            return
        LIVE.add(self._owner.token)
        now = time.time()
        if not connection.execute(BEAT, {"beating": self._owner.token, "now": now}).rowcount:
            owner = dataclasses.asdict(self._owner)
            connection.execute(ADD_OWNER, {**owner, "interval": self._interval, "heartbeat": now})

    def _stay(self) -> None:
        """What follows the commit of a transaction that joined."""
        self._joined = True
        self._heartbeat.start()

    def _orphans(self, rows: Sequence[Any], limit: int) -> list[int]:
        by_owner: dict[str | None, list[Any]] = {}
        for row in rows:
            by_owner.setdefault(row.token, []).append(row)
        gone = {token for token, theirs in by_owner.items() if not token or self._is_gone(theirs)}
        return [row.trial for row in rows if row.token in gone][:limit]

    def _is_gone(self, theirs: list[Any]) -> bool:
        """Whether an owner is gone, from the rows of all its trials."""
        row = theirs[0]
        alive = _alive(row)
        if alive is not None:
            return not alive
        # Four beats may have been due: an owner with a longer lease than ours beats less often.
        patience = max(self._lease, 4 * row.interval)
        # Who comes back after a long silence may start a trial before the heart beats.
        sign = (row.heartbeat, max(row.since for row in theirs))
        return self._watch.silence(row.token, sign) >= patience


def _alive(row: Any) -> bool | None:
    """Whether the owner of a running trial can still run it; None if that cannot be seen."""
    return Owner(row.token, row.host, row.pid, row.born).alive()


def _open_tables(connection: sa.Connection, settings: str, database: Database) -> str:
    """The settings in the database; those given if it was empty."""
    tables = sa.inspect(connection).get_table_names()
    if CAMPAIGN.name not in tables:
        if tables and database.sqlite:
            raise InvalidData(
                f"{database} is no journal of Leadline: it is a database with the tables "
                f"{', '.join(sorted(tables))}."
            )
        TABLES.create_all(connection)
        row = dict(id=1, format=FORMAT, settings=settings, created=time.time())
        connection.execute(sa.insert(CAMPAIGN), row)
        return settings
    stored = _stored_settings(connection, database)
    # Older versions that read what we may write now have to say that they cannot.
    connection.execute(SET_CAMPAIGN.where(CAMPAIGN.c.format < FORMAT).values(format=FORMAT))
    return stored


def _stored_settings(connection: sa.Connection, database: Database) -> str:
    """The settings in the tables of a campaign, if this version can read them."""
    version = connection.execute(sa.select(CAMPAIGN.c.format)).scalar_one()
    if version > FORMAT:
        raise InvalidData(
            f"{database} was written by a newer version of Leadline: its format is {version}, and "
            f"this version reads formats up to {FORMAT}."
        )
    return connection.execute(sa.select(CAMPAIGN.c.settings)).scalar_one()


def _add_events(connection: sa.Connection, rows: list[Stored], last: int, phase: str) -> None:
    now = time.time()
    connection.execute(
        ADD_EVENT,
        [
            dict(number=number, phase=phase, written=now, **row._asdict())
            for number, row in enumerate(rows, start=last + 1)
        ],
    )


def _next_phase(connection: sa.Connection, trial: int) -> str:
    """The phase of a further event of a trial, or of none: as many letters as columns hold."""
    return f"+{connection.execute(EVENTS_OF, {'of': trial}).scalar_one()}"


def _beat(database: Database, token: str) -> None:
    with database.beating() as connection:
        connection.execute(BEAT, {"beating": token, "now": time.time()})


def _forget(token: str, heartbeat: Heartbeat) -> None:
    LIVE.discard(token)
    heartbeat.stop()


def _abandon(token: str, heartbeat: Heartbeat, database: Database) -> None:
    _forget(token, heartbeat)
    database.close()
