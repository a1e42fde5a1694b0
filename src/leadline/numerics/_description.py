"""Modules as JSON, and back, without running any code of whoever wrote it.

A module is the name of its class and its fields; JSON has no arrays, tuples, sets, infinities or
NaN, which are objects with one key:

    {"class": "leadline.kernels.Matern52", "fields": {"lengthscale": {"array": ...}, ...}}
    {"array": ...}    {"numpy": ...}    {"tuple": [...]}    {"set": [...]}    {"float": "-inf"}

What stands for an array is up to the caller: its numbers as lists, or where they are kept. A class
goes by the module that shows it, so that private files may move. It is found there, among modules
of Leadline or those that have been imported already, and only if it is a class of modules (or, of
Leadline, of named tuples); its fields are set, and its constructor does not run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import math
import sys
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import numpy as np

from leadline.boundary import InvalidData, home_of, shorten

_OURS = "leadline"
# Booleans, whole numbers, floats and complex numbers.
_NUMBERS = "biufc"


def _as_lists(array: np.ndarray) -> Any:
    return describe(array.tolist())


def _from_lists(numbers: Any) -> np.ndarray:
    return np.asarray(restore(numbers))


def describe(value: Any, keep: Callable[[np.ndarray], Any] = _as_lists, name: str = "it") -> Any:
    """What JSON can hold of a module, or of what a field of one may be.

    Args:
        value: a module, array, number, text, None, or a tuple, list or set of such.
        keep: what stands for an array; lists of its numbers, if it is not said.
        name: of the value, for errors.
    """

    def parts(named: Any) -> dict[Any, Any]:
        return {key: describe(part, keep, f"{name}.{key}") for key, part in named}

    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, jax.Array | np.ndarray | np.generic):
        # JAX's random keys have a dtype that is none of NumPy's.
        if isinstance(value.dtype, np.dtype) and value.dtype.kind in _NUMBERS:
            kind = "array" if isinstance(value, jax.Array) else "numpy"
            return {kind: keep(np.asarray(value))}
    elif isinstance(value, eqx.Module):
        there = [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)]
        fields = parts((key, getattr(value, key)) for key in there)
        return {"class": _name_of(type(value)), "fields": fields}
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        fields = parts(value._asdict().items())  # pyright: ignore[reportAttributeAccessIssue]
        return {"class": _name_of(type(value)), "fields": fields}
    elif isinstance(value, list | tuple):
        items = list(parts(enumerate(value)).values())
        return items if isinstance(value, list) else {"tuple": items}
    elif isinstance(value, frozenset):
        return {"set": sorted(describe(each, keep, name) for each in value)}
    raise InvalidData(
        f"Numbers, texts, arrays and modules of them can be written down, but {name} is "
        f"{shorten(value)} of type {type(value).__name__}. A function can be, as a module: a class "
        "that derives from equinox.Module and has a __call__."
    )


def restore(description: Any, kept: Callable[[Any], np.ndarray] = _from_lists) -> Any:
    """What was described.

    Args:
        description: from `describe`.
        kept: the array that something stands for.
    """
    if isinstance(description, list):
        return [restore(each, kept) for each in description]
    if not isinstance(description, dict):
        return description
    if description.keys() == {"class", "fields"}:
        fields = {key: restore(each, kept) for key, each in description["fields"].items()}
        return _made(_class_of(description["class"]), fields)
    ((kind, inside),) = description.items()
    if kind == "array":
        return jax.device_put(kept(inside))
    if kind == "numpy":
        return kept(inside)
    if kind == "tuple":
        return tuple(restore(each, kept) for each in inside)
    if kind == "set":
        return frozenset(inside)
    if kind == "float":
        return float(inside)
    raise InvalidData(f"Nothing that is described has the key {kind!r}.")


def is_described(value: Any) -> bool:
    """Whether a value among settings describes a module."""
    return isinstance(value, dict) and value.keys() == {"class", "fields"}


def _name_of(kind: type) -> str:
    return f"{home_of(kind)}.{kind.__qualname__}"


def _class_of(name: str) -> type:
    """The class of this name, if it is one of modules."""
    if "<locals>" in name:
        raise InvalidData(
            f"The class {name} is defined inside of a function, where nobody finds it again: "
            "define it in a module."
        )
    home, _, own = name.rpartition(".")
    ours = home.split(".")[0] == _OURS
    if ours and home not in sys.modules and not any(p.startswith("_") for p in home.split(".")):
        with contextlib.suppress(ImportError):
            importlib.import_module(home)
    if home not in sys.modules:
        raise InvalidData(
            f"The class {name} is needed, and no module {home!r} has been imported: import what "
            "defines it first."
        )
    shown = vars(sys.modules[home]).get(own)
    # A private class is in one of the files of its package, whichever that is.
    inside = (m for key, m in list(sys.modules.items()) if key.startswith(f"{home}._"))
    hidden = (vars(m).get(own) for m in inside)
    for kind in (shown, *hidden):
        if isinstance(kind, type) and _name_of(kind) == name and _is_plain(kind, ours):
            return kind
    raise InvalidData(f"The module {home!r} has no class {own!r} of modules.")


def _is_plain(kind: type, ours: bool) -> bool:
    return issubclass(kind, eqx.Module) or (ours and issubclass(kind, tuple))


def _made(kind: type, fields: dict[str, Any]) -> Any:
    """An object with these fields; those that it had not yet when it was written have defaults."""
    if issubclass(kind, tuple):
        return kind(**fields)
    known = {f.name: f.default for f in dataclasses.fields(kind)}
    missing = {key: value for key, value in known.items() if key not in fields}
    if dataclasses.MISSING in missing.values() or not fields.keys() <= known.keys():
        raise InvalidData(
            f"{kind.__name__} has the fields {', '.join(known)}, and not {', '.join(fields)}: it "
            "was written by another version."
        )
    made = object.__new__(kind)
    for key, value in {**missing, **fields}.items():
        object.__setattr__(made, key, value)
    return made
