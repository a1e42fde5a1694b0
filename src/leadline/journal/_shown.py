"""How the place of a journal is shown: never with a password.

A URL may hold one after its user or anywhere in its query, and if it is not written right, its
password may stand where a host or a number is looked for. So what is shown is not the URL without
its password, but those parts of it that cannot be one; of a URL that can be read in two ways,
nothing but its beginning.
"""

from __future__ import annotations

import os
import re
from typing import Any
from urllib.parse import parse_qsl, unquote, unquote_plus

# A URL that can be read in one way only: what parts it, or an escape, stands nowhere else.
_PLAIN = re.compile(
    r"(?P<scheme>[A-Za-z]\w*)(?:\+\w+)?://"
    r"(?:(?P<user>[^:/?#@%]*)(?::(?P<password>[^/?#@]*))?@)?"
    r"(?P<host>\[[^\]/?#@]*\]|[^:/?#@%]*)(?::(?P<port>\d*))?"
    r"(?:/(?P<database>[^:/?#@%;&=]*))?"
    r"(?:\?(?P<query>[^?#@]*))?"
)
# What else somebody may take for a URL: one without its beginning or its colon, a `Path` of one,
# which joins slashes, and what PostgreSQL takes beside URLs. A letter with a colon is a drive.
_NO_PATH = re.compile(
    r"://|^(?:postgres|postgresql)(?:\+\w+)?(?::|/+[^/]*:.*@)|^[a-z]\w+(?:\+\w+)?:/|"
    r"^(?![a-z]:[/\\])[^/]*:.*@.*/|"
    r"(?:^|\s)(?:password|passfile|sslpassword)\s*=",
    re.IGNORECASE,
)
# What of a query is shown; a `dbname` may be a whole connection string.
_PLACES = ("host", "hostaddr", "port", "dbname", "user")
_PLACE = re.compile(r"[\w./,:-]*")
# In what a driver says, other words of the query are as good as the value of a password.
_HARMLESS = ("sslmode", "connect_timeout")
_HIDDEN = "***"
# What every message says that cannot quote a URL.
HINT = (
    "It is written postgresql://user:password@host:port/database; in a password, @ is %40, : is "
    "%3A, / is %2F, ? is %3F and # is %23. Better keep it in ~/.pgpass or PGPASSWORD."
)


def is_path(text: str) -> bool:
    """Whether this is the path of a file, and not a URL or what somebody took for one."""
    return _NO_PATH.search(text) is None


def shown_place(journal: str | os.PathLike) -> str:
    """A path as it is, and of a URL what cannot be a password."""
    text = os.fspath(journal)
    if is_path(text):
        return text
    plain = _PLAIN.fullmatch(text)
    if plain is None:
        scheme = re.match(r"(\w+)(?:\+\w+)?://", text)
        return f"{scheme[1] if scheme else 'URL'}://{_HIDDEN}"
    user, host, port = (plain[name] for name in ("user", "host", "port"))
    where = (f"{user}@" if user else "") + host + (f":{port}" if port else "")
    pairs = parse_qsl(plain["query"] or "")
    named = "&".join(f"{name}={value}" for name, value in pairs if _is_place(name, value))
    database = "" if plain["database"] is None else f"/{plain['database']}"
    return f"{plain['scheme']}://{where}{database}" + (f"?{named}" if named else "")


def shown_journal(journal: Any) -> str:
    """What a caller gave as a journal, as a `repr` shows it."""
    if isinstance(journal, str | os.PathLike) and not is_path(os.fspath(journal)):
        return repr(shown_place(journal))
    return repr(journal)


def without_passwords(said: str, journal: str | os.PathLike) -> str:
    """What a database or its driver said about a journal, for everybody to read."""
    text = os.fspath(journal)
    if is_path(text):
        return said
    plain = _PLAIN.fullmatch(text)
    if plain is None:
        return f"what the database says may quote a password, and is not shown. {HINT}"
    secrets = {plain["password"] or ""}
    for part in (plain["query"] or "").split("&"):
        name, _, value = part.partition("=")
        if name not in _HARMLESS and not _is_place(name, unquote_plus(value)):
            secrets.add(value)
    secrets |= {way(secret) for secret in secrets for way in (unquote, unquote_plus)}
    for secret in sorted(secrets - {""}, key=len, reverse=True):
        said = said.replace(secret, _HIDDEN)
    return said


def _is_place(name: str, value: str) -> bool:
    return name in _PLACES and _PLACE.fullmatch(value) is not None
