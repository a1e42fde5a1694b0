"""Modules in files: a description of the tree, and its arrays, in one .npz file.

Nothing is pickled, and reading runs no code of whoever wrote the file (`_description`).
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import secrets
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import equinox as eqx
import jax
import numpy as np

from leadline.boundary import InvalidData
from leadline.numerics._description import describe, restore

# Raised when a change of what is written makes older versions misread a file.
_FORMAT = 1
_HEAD = "leadline"
_ZIP = b"PK"


class Storable(eqx.Module):
    """A module that can be kept in a file."""

    def save(self, path: str | os.PathLike) -> None:
        """Write it to a file, from which `ll.load` makes the same again, to the last bit.

        The file holds arrays and a description of them, and no code; classes of your own must have
        been imported when it is loaded. It replaces an older one of its name once it is complete,
        and nothing else that is called so.
        """
        path = Path(path)
        _require_replaceable(path)
        arrays: list[np.ndarray] = []

        def keep(array: np.ndarray) -> int:
            arrays.append(array)
            return len(arrays) - 1

        tree = describe(self, keep, type(self).__name__)
        outline = restore(tree, lambda _: np.zeros(()))
        if jax.tree.structure(outline) != jax.tree.structure(self):
            raise InvalidData(f"{type(self).__name__} cannot be written down completely.")
        version = importlib.metadata.version("leadline")
        head = {"written_by": version, "format": _FORMAT, "module": tree}
        text = np.frombuffer(json.dumps(head, allow_nan=False).encode(), np.uint8)
        named = {f"array_{i}": array for i, array in enumerate(arrays)}
        write_whole(path, lambda f: np.savez(f, allow_pickle=False, **{_HEAD: text}, **named))


def is_archive(path: Path) -> bool:
    """Whether there is such a file, as far as its first bytes tell."""
    try:
        with path.open("rb") as file:
            return file.read(len(_ZIP)) == _ZIP
    except (OSError, ValueError):
        return False


def load_module(path: Path) -> Any:
    """The module that was saved to a file."""
    if not zipfile.is_zipfile(path):
        raise InvalidData(f"{path} is damaged, and cannot be read: it is no complete archive.")
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            if _HEAD not in file:
                raise InvalidData(f"{path} is an archive, but not one that Leadline has saved.")
            head = json.loads(file[_HEAD].tobytes())
            _require_format(path, head)
            found = restore(head["module"], lambda i: file[f"array_{i}"])
            if not isinstance(found, Storable):
                raise InvalidData(f"{path} describes no model.")
            return found
    except InvalidData:
        raise
    # Whatever else goes wrong: the file holds other bytes than were written.
    except Exception as error:
        raise InvalidData(f"{path} is damaged, and cannot be read: {error}") from error


def _require_replaceable(path: Path) -> None:
    """Refuse to replace what is no archive: a journal, say, with all of its calls."""
    if path.is_file() and path.stat().st_size and not is_archive(path):
        raise InvalidData(f"{path} is there, and is no model: it is not replaced by one.")


def _require_format(path: Path, head: Any) -> None:
    if head["format"] > _FORMAT:
        raise InvalidData(
            f"{path} was written by Leadline {head['written_by']}: its format is {head['format']}, "
            f"and this version reads formats up to {_FORMAT}."
        )


def write_whole(path: Path, write: Callable[[BinaryIO], Any]) -> None:
    """Write a file that is there completely or not at all: others may read it at any time."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with part.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise InvalidData(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
