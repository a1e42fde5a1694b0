"""A pool: candidates of which one is to be chosen, and nothing between them.

Notation: `n` candidates; `columns` columns of a row.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from leadline.boundary import InvalidData, as_choice, as_rows, shorten
from leadline.spaces._candidates import Column, read_candidates
from leadline.spaces._description import describe_parameter, read_parameter
from leadline.spaces._lookup import Lookup
from leadline.spaces._numbers import Real, linear_unit
from leadline.spaces._options import Choice
from leadline.spaces._parameter import Parameter
from leadline.spaces._space import Space

# A column with more different texts says who a candidate is, and not what it is like.
_OPTIONS = 32
# Descriptions hold the candidates themselves up to so many cells.
_WRITTEN = 20_000
# How many candidates are a move away from one.
_NEIGHBORS = 32


class Pool(Space):
    """Candidates of a search, every one of which is looked at.

    `Pool(array)`: points are arrays (d,). `Pool(frame)`, or a list of dictionaries: points are
    dictionaries. Columns of numbers and of a few different texts are what models see. Others, such
    as the names of molecules, are part of the points and stay unseen; so do columns in which all
    candidates are the same.

    Args:
        candidates: an array (n, d), a frame, or a list of dictionaries with the same names. Two
            that look the same to a model are refused.
        names: of the columns of an array, for tables and pictures.

    Attributes:
        unseen: the names of the columns that models do not see.
    """

    def __init__(self, candidates: Any, names: Any = None):
        columns, named = read_candidates(candidates, names)
        self._size = len(columns[0].values)
        self._table = {column.name: column for column in columns}
        parameters = {c.name: p for c in columns if (p := _parameter(c)) is not None}
        self._build(tuple(self._table), parameters, named)
        self._lookup = Lookup(self._encode({name: self._table[name] for name in parameters}))
        self._lookup.rows.setflags(write=False)
        self._refuse_twins()
        self._digest = self._hash()

    def _build(self, names: tuple[str, ...], parameters: dict[str, Parameter], named: bool) -> None:
        """What a space is made of, without the candidates."""
        if not parameters:
            raise InvalidData(
                f"A pool needs at least two candidates that a model can tell apart; in each of "
                f"the columns {', '.join(map(repr, names))} all are the same, or all are "
                "different texts."
            )
        super().__init__(parameters)
        # The space of everything between the candidates.
        self._box = Space(parameters)
        self.names, self.named = names, named
        self.unseen = tuple(name for name in names if name not in parameters)
        # What is between two candidates is no candidate, whatever the column.
        self.continuous = np.zeros(self.columns, bool)

    def encode(self, points: Any) -> Float[np.ndarray, "n columns"]:
        """The rows of candidates: a list of them, or an array (n, d) if they are arrays."""
        rows = self._encode({c.name: c for c in self._read(points)})
        if self._lookup is not None:
            unknown = np.flatnonzero(self._lookup.find(rows) < 0)
            if len(unknown):
                i = int(unknown[0])
                near = self.decode(rows[i : i + 1])[0]
                raise InvalidData(
                    f"points[{i}] is none of the {self._size} candidates: "
                    f"{shorten(points[i])}. The nearest is {shorten(near)}."
                )
        return rows

    def locate(self, points: Any) -> Float[np.ndarray, "n columns"]:
        """The rows of candidates: nothing else is known of a pool."""
        return self.encode(points)

    def decode(self, rows: Any) -> list[Any]:
        """The candidates nearest to rows."""
        numbers = self._known.nearest(self._as_rows(rows))
        if not self.named:
            chosen = [column.values[numbers] for column in self._table.values()]
            return list(np.stack(chosen, axis=1).astype(np.float64))
        return [{name: c.value(i) for name, c in self._table.items()} for i in numbers.tolist()]

    def from_dict(self, parts: Mapping[str, Any]) -> Any:
        """The candidate that has these parts, as they are read from a table."""
        if not self.named:
            return np.array([parts[name] for name in self.names], dtype=np.float64)
        return {name: parts[name] for name in self.names}

    def snap(self, rows: Any) -> Float[np.ndarray, "n columns"]:
        """The rows of the candidates nearest to rows."""
        return self._known.rows[self._known.nearest(self._as_rows(rows))]

    def spread(self, u: Any) -> Float[np.ndarray, "n columns"]:
        """The candidates nearest to points `u (n, dim)` of [0, 1)^dim.

        A pool that was loaded without its candidates has the points themselves to measure by.
        """
        rows = self._box.spread(u)
        return self.snap(rows) if self.at_hand else rows

    def sample(self, rng: np.random.Generator, n: int) -> Float[np.ndarray, "n columns"]:
        """Random candidates."""
        return self._known.rows[rng.integers(self._size, size=n)]

    def active(self, rows: Any) -> Bool[np.ndarray, "n columns"]:
        """All columns: no candidate lacks one."""
        return np.ones(self._as_rows(rows).shape, bool)

    @property
    def count(self) -> int:
        """The number of candidates."""
        return self._size

    def every(self) -> Float[np.ndarray, "n columns"]:
        """The rows of all candidates, in their order."""
        return self._known.rows

    def left(self, rows: Any) -> Float[np.ndarray, "m columns"]:
        """The rows of all candidates but those whose rows these are."""
        gone = self._known.find(self._as_rows(rows))
        there = np.ones(self._size, bool)
        there[gone[gone >= 0]] = False
        return self._known.rows[there]

    def neighbors(self, row: Any) -> Float[np.ndarray, "m columns"]:
        """The candidates nearest to one."""
        k = min(_NEIGHBORS + 1, self._size)
        return self._known.rows[self._known.around(np.asarray(row), k)[1:]]

    def describe(self) -> dict[str, Any]:
        """The columns, a digest of the candidates, and themselves unless they are many."""
        description = {
            "named": self.named,
            "names": list(self.names),
            "parameters": {name: describe_parameter(p) for name, p in self.parameters.items()},
            "candidates": self._size,
            "digest": self._digest,
        }
        if self._size * len(self.names) > _WRITTEN or not self._table:
            return {"pool": description}
        table = {name: column.values.tolist() for name, column in self._table.items()}
        return {"pool": description | {"table": table}}

    @classmethod
    def from_description(cls, description: Any, constraint: None = None) -> Pool:
        """The pool that was described; without its candidates if they were too many to write down.

        Then its points are read and modeled, but nothing can be asked.
        """
        known = description["pool"]
        if "table" in known:
            columns = known["table"]
            rows = zip(*columns.values(), strict=True)
            if known["named"]:
                return cls([dict(zip(columns, row, strict=True)) for row in rows])
            return cls(np.array(list(rows), dtype=np.float64), names=list(columns))
        pool = cls.__new__(cls)
        parameters = {k: read_parameter(k, v) for k, v in known["parameters"].items()}
        pool._size, pool._digest, pool._table = known["candidates"], known["digest"], {}
        pool._lookup = None
        pool._build(tuple(known["names"]), parameters, known["named"])
        return pool

    @property
    def at_hand(self) -> bool:
        """Whether the candidates themselves are known, and not only their digest."""
        return self._lookup is not None

    @property
    def _known(self) -> Lookup:
        if self._lookup is None:
            raise InvalidData(
                f"The journal holds a digest of the {self._size} candidates, and not "
                "themselves: make the same call, with the pool, to go on."
            )
        return self._lookup

    def __repr__(self) -> str:
        shown = ", ".join(self.names)
        unseen = f"; unseen: {', '.join(self.unseen)}" if self.unseen else ""
        return f"Pool({self._size} candidates: {shown}{unseen})"

    def _read(self, points: Any) -> list[Column]:
        """The columns of points, which are checked."""
        if not self.named:
            if isinstance(points, list | tuple) and not points:
                points = np.empty((0, len(self.names)))
            a = as_rows(points, "points", columns=len(self.names), minimum=0)
            return [Column(name, a[:, j]) for j, name in enumerate(self.names)]
        for i, point in enumerate(points):
            if not isinstance(point, Mapping):
                raise InvalidData(f"points[{i}] must be a dictionary, got {shorten(point)}.")
            for name in point:
                as_choice(name, self.names, f"A name in points[{i}]")
            missing = [name for name in self.parameters if name not in point]
            if missing:
                raise InvalidData(f"points[{i}] lacks {', '.join(map(repr, missing))}.")
        return [
            Column(name, np.asarray([point[name] for point in points], dtype=object))
            for name in self.parameters
        ]

    def _encode(self, columns: Mapping[str, Column]) -> Float[np.ndarray, "n columns"]:
        """Rows from columns of values."""
        parts = []
        for name, parameter in self.parameters.items():
            values = columns[name].values
            try:
                if isinstance(parameter, Real):
                    numbers = values.astype(np.float64)
                    if not np.isfinite(numbers).all():
                        raise ValueError("it is not finite")
                    parts.append(linear_unit(numbers, parameter.low, parameter.high)[:, None])
                else:
                    states = [parameter.state(value, f"{name!r} of a point") for value in values]
                    parts.append(parameter.encode(np.asarray(states)))
            except (TypeError, ValueError) as error:
                raise InvalidData(f"{name!r} of a point must be as in the pool: {error}") from error
        return np.concatenate(parts, axis=1)

    def _refuse_twins(self) -> None:
        if self._lookup is None or self._lookup.twins is None:
            return
        i, j = self._lookup.twins
        point = {name: c.value(i) for name, c in self._table.items()}
        apart = [name for name in self.unseen if point[name] != self._table[name].value(j)]
        but = (
            f" They differ in {', '.join(map(repr, apart))}, which no model sees." if apart else ""
        )
        raise InvalidData(
            f"A pool holds each candidate once, and candidates {i} and {j} are the same: "
            f"{shorten(point)}.{but}"
        )

    def _hash(self) -> str:
        """A digest of the names and of every value, in order."""
        state = hashlib.sha256(json.dumps([self.named, *self.names]).encode())
        for column in self._table.values():
            if column.numeric:
                state.update(np.ascontiguousarray(column.values, dtype=np.float64).tobytes())
            else:
                state.update(json.dumps(column.values.tolist()).encode())
        return state.hexdigest()


def _parameter(column: Column) -> Parameter | None:
    """What models see of a column; None if nothing."""
    if column.numeric:
        low, high = float(column.values.min()), float(column.values.max())
        return Real(low, high) if low < high else None
    options = sorted(set(column.values.tolist()))
    return Choice(*options) if 2 <= len(options) <= _OPTIONS else None
