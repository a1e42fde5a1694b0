"""The file of a journal in SQLite: whether it is still there, and a copy for who may only look.

While a database is in use, SQLite keeps two files beside it: `-wal` has what was written last, and
`-shm` is memory that all processes share. Whoever cannot make them cannot read, so where nothing
may be written a look is one at a copy, with its `-wal`: nothing that is on disk is left out.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from leadline.boundary import InvalidData
from leadline.journal._failed import JournalFailed

# A copy is taken again while somebody writes, so often.
_TRIES = 20
_BESIDE = ("", "-wal", "-journal")


class File:
    """A file that a journal reads and writes."""

    def __init__(self, path: Path):
        self.path = path
        self._identity: tuple[int, int] | None = None

    def require(self) -> None:
        """Raise `InvalidData` if there is no file: SQLite would make an empty one."""
        if not self.path.exists():
            raise InvalidData(f"There is no journal {self.path}.")

    def begin(self) -> None:
        """From now on it has to be this file, which is open."""
        self.check()
        self._identity = _identity(self.path)

    def check(self) -> None:
        """Raise `JournalFailed` if the file is gone: SQLite would go on writing into nowhere."""
        if self._identity not in (None, _identity(self.path)):
            raise JournalFailed(
                f"The journal {self.path} was deleted while it was in use, or another file took "
                "its place."
            )

    @property
    def writable(self) -> bool:
        """Whether this process may write the file, and make others beside it."""
        return os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)

    @property
    def shared(self) -> bool:
        """Whether SQLite can read it where it is: what it needs may be made, or is there."""
        return self.writable or _beside(self.path, "-shm").exists()

    def copy(self) -> tempfile.TemporaryDirectory[str]:
        """A folder with a copy of the file, as it was at one moment, under its own name."""
        for _ in range(_TRIES):
            before = self._marks()
            folder = tempfile.TemporaryDirectory(prefix="leadline-")
            try:
                for suffix in _BESIDE:
                    source = _beside(self.path, suffix)
                    if source.exists():
                        shutil.copyfile(source, Path(folder.name) / source.name)
            except OSError as error:
                folder.cleanup()
                raise InvalidData(
                    f"The journal {self.path} cannot be read: {error.strerror}."
                ) from error
            if self._marks() == before:
                return folder
            folder.cleanup()
            time.sleep(0.05)
        raise InvalidData(
            f"The journal {self.path} is being written, and to look at it meanwhile needs the "
            "right to write in its folder."
        )

    def _marks(self) -> list[Any]:
        """What changes when somebody writes."""
        found: list[Any] = []
        for suffix in (*_BESIDE, "-shm"):
            try:
                stat = _beside(self.path, suffix).stat()
                found.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
            except OSError:
                found.append(None)
        return found


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another of the same name; None if there is none."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino
