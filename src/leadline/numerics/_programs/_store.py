"""Compiled programs on the disk, found without tracing anything.

JAX's own cache knows a program by what tracing gives, and tracing takes as long as many an ask.
This one knows it by its signature: the function, the structure and shapes of its arguments, and
their constants. That is enough as long as nothing else decides what a program does, so all else is
part of the folder's name: Leadline's source, the versions of what it is built on, the processor and
JAX's settings. A call whose arguments hold anything that is not Leadline's own, such as a kernel
that a user wrote, has no signature here: nobody could tell when its code has changed.

Programs are kept beside JAX's own, in a folder of the same trust: who can write there can run code
here. Where JAX keeps none, none are kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import os
import pickle
import platform
import shutil
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import jax
import numpy as np

_OWN = "leadline"
_PARTS = ("jax", "jaxlib", "equinox", "numpy")
# A folder of programs that were not used for so many days belongs to a version that is gone.
_DAYS = 60
_CONTAINERS = (tuple, list, dict, type(None))
_LENGTH = struct.Struct("<Q")


class _Foreign(Exception):
    """Part of a call is not Leadline's own."""


class _Hits(threading.local):
    """How many programs JAX has found in its own cache, in this thread."""

    count = 0


_hits = _Hits()


def _listen(event: str, **_: Any) -> None:
    _hits.count += event == "/jax/compilation_cache/cache_hits"


jax.monitoring.register_event_listener(_listen)


class Stored:
    """The place of one program on the disk, which may be empty.

    Attributes:
        version: of everything that a program depends on besides its signature.
    """

    def __init__(self, path: Path):
        self._path, self.version = path, path.parent.name

    @functools.cached_property
    def outline(self) -> Any:
        """What the program answers; None if it is not there."""
        try:
            with self._path.open("rb") as file:
                (length,) = _LENGTH.unpack(file.read(_LENGTH.size))
                return pickle.loads(file.read(length))
        except Exception:  # whatever cannot be read is not there
            return None

    def load(self) -> Any:
        """What runs it."""
        from jax.experimental import serialize_executable

        _prepare_lapack()
        data = self._path.read_bytes()
        (length,) = _LENGTH.unpack_from(data)
        payload, *trees = pickle.loads(memoryview(data)[_LENGTH.size + length :])
        return serialize_executable.deserialize_and_load(payload, *trees)

    def compile(self, outline: Any, lowered: Any) -> Any:
        """What runs a program that is not there yet; it is written down, if it can be."""
        from jax.experimental import serialize_executable

        before = _hits.count
        run = lowered.compile()
        # What JAX has loaded itself cannot be written again: parts of it would be missing.
        if _hits.count > before or not _is_plain(outline.tree):
            return run
        try:
            head = pickle.dumps(outline)
            body = pickle.dumps(serialize_executable.serialize(run))
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Never half a file: another process may read it at any time.
            with tempfile.NamedTemporaryFile(dir=self._path.parent, delete=False) as file:
                file.write(_LENGTH.pack(len(head)) + head + body)
            os.replace(file.name, self._path)
        except Exception:  # a disk that is full, a program that calls back into Python
            self.forget()
        return run

    def forget(self) -> None:
        """Leave the place empty."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def find_stored(fun: Callable[..., Any], call: Any, options: Any) -> Stored | None:
    """The place of a call's program; None if it has none."""
    config: Any = jax.config
    folder = config.jax_compilation_cache_dir
    if not folder or not config.jax_enable_compilation_cache:
        return None
    try:
        text = _signature(fun, call, options)
    except _Foreign:
        return None
    kind = hashlib.sha256("\n".join([*_environment(), *_settings()]).encode()).hexdigest()[:16]
    home = Path(folder) / "leadline-programs"
    _tidy(home, kind)
    return Stored(home / kind / hashlib.sha256(text.encode()).hexdigest()[:32])


def _signature(fun: Callable[..., Any], call: Any, options: Any) -> str:
    """The text that tells programs apart."""
    shapes = [(tuple(a.shape), str(a.dtype)) for a in call.arrays]
    parts = (_constant(fun), _structure(call.tree), call.places, shapes, options)
    return repr((*parts, [_constant(c) for c in call.constants]))


def _structure(tree: Any) -> Any:
    """A description of the structure of arguments, which is the same in every process."""
    data = tree.node_data()
    if data is None:
        return "*" if tree.num_leaves else "None"
    kind, extra = data
    children = [_structure(child) for child in tree.children()]
    if kind in _CONTAINERS:
        return kind.__name__, _constant(extra), children
    return _name(kind), _constant(extra), children


def _constant(value: Any) -> Any:
    """A description of a value that is no array."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return type(value).__name__, repr(value)
    if isinstance(value, tuple | list):
        return type(value).__name__, [_constant(v) for v in value]
    if isinstance(value, frozenset):
        return "frozenset", sorted(repr(_constant(v)) for v in value)
    if isinstance(value, np.dtype):
        return "dtype", str(value)
    if isinstance(value, type | FunctionType):
        return _name(value)
    # What Equinox puts where a field is not set.
    if type(value).__module__.startswith("equinox.") and repr(value) == "Missing":
        return "missing"
    raise _Foreign


def _name(value: type | FunctionType) -> str:
    """The full name of a class or function of our own."""
    name = f"{value.__module__}.{value.__qualname__}"
    if value.__module__.partition(".")[0] != _OWN or "<" in value.__qualname__:
        raise _Foreign
    return name


def _is_plain(tree: Any) -> bool:
    """Whether the structure of an answer is of tuples, lists and the like: others do not pickle."""
    data = tree.node_data()
    if data is not None and data[0] not in _CONTAINERS and not hasattr(data[0], "_fields"):
        return False
    return all(_is_plain(child) for child in tree.children())


@functools.cache
def _environment() -> tuple[str, ...]:
    """What a program depends on besides its signature, and does not change within a process."""
    versions = [f"{part} {importlib.metadata.version(part)}" for part in _PARTS]
    devices = [f"{d.platform} {d.device_kind} {d.id}" for d in jax.devices()]
    return (_source(), sys.version, *versions, *devices, _processor())


def _settings() -> list[str]:
    """Settings that tracing and compiling depend on."""
    config: Any = jax.config
    values = [f"{name} {value}" for name, value in sorted(config.values.items()) if _matters(name)]
    return [*values, os.environ.get("XLA_FLAGS", "")]


def _matters(setting: str) -> bool:
    return not any(word in setting for word in ("cache", "dir", "log", "dump", "traceback"))


@functools.cache
def _source() -> str:
    """A fingerprint of Leadline's own code."""
    found = hashlib.sha256()
    root = Path(__file__).parents[2]
    for path in sorted(root.rglob("*.py")):
        found.update(str(path.relative_to(root)).encode())
        found.update(path.read_bytes())
    return found.hexdigest()


def _processor() -> str:
    """What the processor can do, on which compiled code depends."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    told = sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))})
    return " ".join([platform.machine(), platform.processor(), *told])


@functools.cache
def _prepare_lapack() -> None:
    """Let JAX find the routines of LAPACK, which it does when it lowers a program."""
    jax.jit(jax.lax.linalg.cholesky).lower(jax.ShapeDtypeStruct((1, 1), np.float64))


@functools.cache
def _tidy(home: Path, kind: str) -> None:
    """Mark the folder in use, and remove those that nobody has used for long."""
    try:
        (home / kind).mkdir(parents=True, exist_ok=True, mode=0o700)
        os.utime(home / kind)
        for folder in home.iterdir():
            if time.time() - folder.stat().st_mtime > _DAYS * 86400:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return
