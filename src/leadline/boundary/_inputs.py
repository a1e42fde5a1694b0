"""Data at the boundary, checked once: what was given, and what is wanted.

Everything that calls for data accepts arrays, lists and pandas frames of any real type, and works
on float64 NumPy arrays after these functions.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from leadline.boundary._errors import InvalidData
from leadline.boundary._frames import in_order
from leadline.boundary._sizes import LARGEST_VARIANCE, require_size


def is_traced(*values: Any) -> bool:
    """Whether any leaf is a tracer: then checks, padding and host code are skipped."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(values))


def as_rows(x: Any, name: str = "x", columns: int | None = None, minimum: int = 1) -> np.ndarray:
    """Inputs as a finite (n, d) array."""
    a = _as_float(x, name)
    if a.ndim == 1:
        raise InvalidData(
            f"{name} must have two dimensions (rows, columns), got shape {a.shape}. For one input "
            f"column pass {name}[:, None], for a single row {name}[None, :]."
        )
    if a.ndim != 2:
        raise InvalidData(f"{name} must have two dimensions (rows, columns), got shape {a.shape}.")
    if a.shape[1] == 0:
        raise InvalidData(f"{name} must have at least one column, got shape {a.shape}.")
    if columns is not None and a.shape[1] != columns:
        raise InvalidData(f"{name} must have {columns} columns, got shape {a.shape}.")
    if a.shape[0] < minimum:
        raise InvalidData(f"{name} must have at least {minimum} row(s), got {a.shape[0]}.")
    _require_finite(a, name)
    return a


def as_inputs(
    x: Any,
    name: str = "x",
    columns: int | None = None,
    minimum: int = 1,
    names: tuple[str, ...] | None = None,
) -> np.ndarray:
    """Inputs of a model as an (n, d) array that can be squared, with columns in known order."""
    a = as_rows(in_order(x, name, names), name, columns, minimum)
    require_size(a, name)
    return a


def as_targets(y: Any, rows: int, name: str = "y") -> np.ndarray:
    """One finite value per row, as an (n,) array."""
    a = _as_float(y, name)
    if a.ndim == 2 and a.shape[1] == 1:
        a = a[:, 0]
    if a.ndim != 1:
        raise InvalidData(f"{name} must have one value per row, shape ({rows},), got {a.shape}.")
    if a.shape[0] != rows:
        raise InvalidData(f"{name} has {a.shape[0]} values, but there are {rows} rows of inputs.")
    _require_finite(a, name)
    return a


def as_variances(var: Any, rows: int) -> np.ndarray:
    """Known variances of the rows, as an (n,) array; zeros if None."""
    if var is None:
        return np.zeros(rows)
    a = _as_float(var, "var")
    a = as_targets(np.full(rows, a) if a.ndim == 0 else a, rows, "var")
    if np.any(a < 0):
        raise InvalidData(f"var must not be negative, got {a.min():g}.")
    if np.any(a > LARGEST_VARIANCE):
        raise InvalidData(f"var must be at most {LARGEST_VARIANCE:g}, got {a.max():g}.")
    return a


def as_labels(z: Any, rows: int) -> np.ndarray:
    """One label per row, 0 or 1, as an (n,) array of floats."""
    a = as_targets(z, rows, "z")
    known = (a == 0) | (a == 1)
    if not known.all():
        raise InvalidData(
            f"z must be labels, 0 or 1 (or booleans), got {a[~known][0]:g}. For labels -1 and 1 "
            "pass z > 0."
        )
    return a


def as_weights(weight: Any, rows: int, name: str = "weight") -> np.ndarray:
    """How often each row counts, as an (n,) array; once if None."""
    if weight is None:
        return np.ones(rows)
    a = as_targets(weight, rows, name)
    if np.any(a < 0):
        raise InvalidData(f"{name} must not be negative, got {a.min():g}.")
    return a


def as_bounds(bounds: Any, columns: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A box, given as (low, high) of each input column: its lower and its upper corner (d,)."""
    a = _as_float(bounds, "bounds")
    if a.ndim != 2 or a.shape[1] != 2 or a.shape[0] == 0:
        raise InvalidData(
            f"bounds must be a (low, high) pair for each input column, got shape {a.shape}."
        )
    if columns is not None and a.shape[0] != columns:
        raise InvalidData(f"bounds must have {columns} (low, high) pairs, got {a.shape[0]}.")
    _require_finite(a, "bounds")
    wrong = np.flatnonzero(a[:, 0] >= a[:, 1])
    if wrong.size:
        low, high = a[wrong[0]]
        raise InvalidData(
            f"bounds must be (low, high) with low < high, got ({low:g}, {high:g}) for input column "
            f"{wrong[0]}."
        )
    return a[:, 0], a[:, 1]


def _as_float(value: Any, name: str) -> np.ndarray:
    try:
        a = np.asarray(value)
        # NumPy would read "1.5" as a number, and a date as days since 1970.
        if a.dtype.kind in "cSUmM":
            raise TypeError(f"got values of type {a.dtype}")
        return np.asarray(a, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name} must be real numbers: {error}.") from error


def _require_finite(a: np.ndarray, name: str) -> None:
    bad = ~np.isfinite(a)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise InvalidData(
            f"{name} must be finite, but {int(bad.sum())} of its {a.size} values are not: "
            f"the first is {a[where]} at {name}{list(where)}."
        )


def as_seed(seed: Any) -> int:
    """A whole number that a random key can be made from."""
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**63:
        raise InvalidData(f"seed must be a whole number, from 0 to 2**63 - 1, got {seed!r}.")
    return int(seed)


def as_choice(value: Any, known: Sequence[Any], name: str) -> Any:
    """One of the known values, or an error that names the nearest one."""
    if value in known:
        return value
    options = ", ".join(repr(k) for k in known)
    hint = did_you_mean(str(value), [k for k in known if isinstance(k, str)])
    raise InvalidData(f"{name} must be one of {options}, got {value!r}.{hint}")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: the nearest known one, if any is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
