"""The database that a path or a URL means."""

from __future__ import annotations

import os
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import exc

from leadline.boundary import InvalidData
from leadline.journal._shown import HINT, is_path


def database_url(journal: str | os.PathLike) -> sa.URL:
    """The URL for a path or a URL; `InvalidData` if it can be no journal."""
    text = os.fspath(journal)
    if is_path(text):
        return _file_url(text)
    try:
        url = sa.make_url(text)
    # These quote what they cannot read.
    except (exc.ArgumentError, ValueError):
        url = None
    # The rest of a password with an @ in it is no host.
    if url is None or "@" in (url.host or ""):
        raise InvalidData(f"The journal's URL cannot be read. {HINT}")
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
    return sa.URL.create("sqlite", database=str(path))
