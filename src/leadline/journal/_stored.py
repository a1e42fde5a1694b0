"""Events as text and bytes, and back.

An event becomes a JSON text and, if it holds arrays, one blob: its arrays as .npy files, one after
the other. Nothing is pickled, so reading a journal runs no code of whoever wrote it.

JSON has no arrays, tuples, infinities or NaN. They are objects with one key:

    {"$array": 3}    {"$tuple": [1, 2]}    {"$float": "-inf"}

A key of the caller that begins with `$` gets a second one. Floats are written with the fewest
digits that read back as the same float.

Points, values and states come back as they were. What is in `info` and is of no such type is kept
as its `repr`: a value that was paid for is not lost because of what came with it.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from leadline.boundary import InvalidData
from leadline.journal._events import (
    Asked,
    Corrected,
    Event,
    Failed,
    Given,
    Told,
    Widened,
    Withdrawn,
)

# Six letters at most: columns of older journals in PostgreSQL hold no more.
_KINDS: dict[str, type[Event]] = {
    "asked": Asked,
    "given": Given,
    "told": Told,
    "failed": Failed,
    "gone": Withdrawn,
    "edited": Corrected,
    "space": Widened,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
# Booleans, whole numbers, floats, complex numbers, texts and dates: .npy holds these exactly.
_PLAIN_ARRAYS = "biufcSUMm"


# The number that stands where an event is of no trial.
NO_TRIAL = -1


class Stored(NamedTuple):
    """An event on its way to or from a database."""

    trial: int
    kind: str
    body: str
    arrays: bytes | None


def store(event: Event) -> Stored:
    """The event as text and bytes; `InvalidData` if its point, value or state cannot be stored."""
    arrays: list[np.ndarray] = []
    fields = dict(vars(event))
    trial, info = fields.pop("trial", NO_TRIAL), fields.pop("info", None)
    body = _tree(fields, arrays, _refuse)
    if info is not None:
        body["info"] = _info(info, arrays)
    return Stored(int(trial), _NAMES[type(event)], _text(body), _npy(arrays))


def restore(stored: Stored) -> Event:
    """The event that was stored."""
    fields = _parse(stored.body, _from_npy(stored.arrays))
    if stored.trial != NO_TRIAL:
        fields["trial"] = stored.trial
    return _KINDS[stored.kind](**fields)


def are_same(event: Event, other: Event) -> bool:
    """Whether a journal keeps two events as the same."""
    return event is other or store(event) == store(other)


def store_settings(settings: Mapping[str, Any]) -> str:
    """The settings of a question as text."""
    arrays: list[np.ndarray] = []
    tree = _tree(settings, arrays, _refuse)
    if arrays:
        raise InvalidData("Settings hold JSON values; an array among them must become a list.")
    return _text(tree)


def restore_settings(text: str) -> dict[str, Any]:
    """The settings that were stored."""
    return _parse(text, [])


def _tree(value: Any, arrays: list[np.ndarray], otherwise: Callable[[Any], Any]) -> Any:
    """`value` in JSON's types, with its arrays moved to `arrays`.

    `otherwise` says what becomes of anything that is of no type known here.
    """
    if isinstance(value, np.generic) and value.dtype.kind in "biufU":
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"$float": str(float(value))}
    if isinstance(value, Mapping):
        return {_key(key): _tree(item, arrays, otherwise) for key, item in value.items()}
    if isinstance(value, list):
        return [_tree(item, arrays, otherwise) for item in value]
    if isinstance(value, tuple):
        return {"$tuple": [_tree(item, arrays, otherwise) for item in value]}
    if _is_plain_array(value):
        arrays.append(np.asarray(value))
        return {"$array": len(arrays) - 1}
    return otherwise(value)


def _key(key: Any) -> str:
    key = key if isinstance(key, str) else repr(key)
    return "$" + key if key.startswith("$") else str.__str__(key)


def _is_plain_array(value: Any) -> bool:
    if not isinstance(value, np.ndarray | jax.Array) or isinstance(value, np.ma.MaskedArray):
        return False
    # JAX's random keys have a dtype that is none of NumPy's.
    return isinstance(value.dtype, np.dtype) and value.dtype.kind in _PLAIN_ARRAYS


def _refuse(value: Any) -> Any:
    raise InvalidData(
        "A journal keeps numbers, texts, None, arrays of them, and dicts, lists and tuples of "
        f"these, got {_repr(value)} of type {type(value).__name__}."
    )


def _info(info: Mapping[str, Any], arrays: list[np.ndarray]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in info.items():
        before = len(arrays)
        try:
            tree = _tree(value, arrays, _repr)
            _text(tree)
        # Things that hold themselves, numbers too long to print, mappings that raise, ...
        except Exception:
            del arrays[before:]
            tree = _repr(value)
        kept[_key(key)] = tree
    return kept


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__} without a repr>"


def _text(tree: Any) -> str:
    # ASCII only: databases refuse the lone surrogates and zero bytes that a traceback may hold.
    return json.dumps(tree, allow_nan=False, separators=(",", ":"))


def _parse(text: str, arrays: list[np.ndarray]) -> Any:
    def untag(fields: dict[str, Any]) -> Any:
        if len(fields) == 1:
            [(key, value)] = fields.items()
            if key == "$array":
                return arrays[value]
            if key == "$tuple":
                return tuple(value)
            if key == "$float":
                return float(value)
        return {key[1:] if key.startswith("$") else key: item for key, item in fields.items()}

    return json.loads(text, object_hook=untag)


def _npy(arrays: list[np.ndarray]) -> bytes | None:
    if not arrays:
        return None
    file = io.BytesIO()
    for array in arrays:
        np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _from_npy(blob: bytes | None) -> list[np.ndarray]:
    if blob is None:
        return []
    file, arrays = io.BytesIO(blob), []
    while file.tell() < len(blob):
        arrays.append(np.load(file, allow_pickle=False))
    return arrays
