"""A space: named parameters or a box, and the unit cube that models see.

Notation: `n` points; `dim` parameters; `columns` columns of a row. `states (dim, n)` is the form
between points and rows, see `_parameter`.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from leadline.boundary import InvalidData, as_bounds, as_rows
from leadline.numerics import shifted_sobol
from leadline.spaces._conditions import find_conditions
from leadline.spaces._constraint import is_allowed
from leadline.spaces._description import describe_parameter, qualified_name, read_parameter
from leadline.spaces._finite import count_points, every_state
from leadline.spaces._neighbors import neighboring_states
from leadline.spaces._numbers import Real, linear_number, linear_unit
from leadline.spaces._parameter import Parameter, written
from leadline.spaces._points import read_arrays, read_points, write_points

# More points than this are not listed one by one.
_LISTED = 10_000

# So many rows say what is far in a space.
_REFERENCE = 256

# A constraint that fewer than one in so many random points satisfy is taken for an impossible one.
_RARE = 10_000


class Space:
    """What may be asked of a function.

    `Space(rate=Real(1e-5, 1e-1, log=True), act=Choice("relu", "tanh"))`, or a dictionary of the
    same: points are dictionaries. `Space([(0.0, 1.0)] * 6)`: points are arrays (6,). `constraint`
    is a function of a point that returns whether it is allowed, a bool, and is cheap to call.

    Models see points as rows of the unit cube: one column for a number or an ordered value, and one
    for each option of a choice. A parameter that does not exist in a point has neutral columns.

    Attributes:
        names: The names of the parameters; `x0`, `x1`, ... in a box.
        parameters: The parameters by name.
        named: Whether points are dictionaries.
        constraint: The constraint, or None.
        dim: The number of parameters.
        columns: The number of columns of a row.
        widths: The number of columns of each parameter.
        continuous: The columns (columns,) that belong to real numbers without steps.
    """

    def __init__(
        self,
        parameters: Any = None,
        /,
        *,
        constraint: Any = None,
        **named: Any,
    ):
        if constraint is not None and not callable(constraint):
            raise InvalidData(f"constraint must be a function of a point, got {constraint!r}.")
        self.named = parameters is None or isinstance(parameters, Mapping)
        if self.named:
            self.parameters = _named_parameters(parameters or {}, named)
        else:
            self._low, self._high = _as_box(parameters, named)
            ends = zip(self._low, self._high, strict=True)
            self.parameters = {f"x{j}": Real(low, high) for j, (low, high) in enumerate(ends)}
        self.constraint = constraint
        self.names = tuple(self.parameters)
        self.dim = len(self.names)
        self._parameters = tuple(self.parameters.values())
        self._conditions = find_conditions(self.parameters)
        self.widths = tuple(parameter.columns for parameter in self._parameters)
        stops = np.cumsum(self.widths).tolist()
        self._slices = [slice(b - k, b) for k, b in zip(self.widths, stops, strict=True)]
        self.columns = stops[-1]
        endless = [math.isinf(p.size) for p in self._parameters]
        self.continuous = np.repeat(endless, self.widths)
        self.continuous.setflags(write=False)
        self._stepped = ~self.continuous
        self._stepped &= np.repeat([isinstance(p, Real) for p in self._parameters], self.widths)

    def without_constraint(self) -> Space:
        """The same space, with every point of it allowed."""
        if self.constraint is None:
            return self
        free = copy.copy(self)
        free.constraint = None
        return free

    def encode(self, points: Any) -> Float[np.ndarray, "n columns"]:
        """The rows of points, which are checked: a list of them, or an array (n, dim) in a box."""
        if not self.named:
            return self._rows(read_arrays(points, self._low, self._high).T)
        return self._rows(read_points(points, self.parameters, self._conditions))

    def locate(self, points: Any) -> Float[np.ndarray, "n columns"]:
        """The rows of points that may be between two steps or outside of the bounds.

        Outside of the bounds rows leave the unit cube.
        """
        if not self.named:
            if isinstance(points, list | tuple) and not points:
                points = np.empty((0, self.dim))
            return self._rows(as_rows(points, "points", columns=self.dim, minimum=0).T)
        return self._rows(read_points(points, self.parameters, self._conditions, anywhere=True))

    def contains(self, rows: Any) -> Bool[np.ndarray, " n"]:
        """Which rows are within the bounds, and not between two steps."""
        rows = self._as_rows(rows)
        inside = np.all((rows >= 0.0) & (rows <= 1.0), axis=1)
        if self._stepped.any():
            inside &= np.all((rows == self.snap(rows))[:, self._stepped], axis=1)
        return inside

    def decode(self, rows: Any) -> list[Any]:
        """The points nearest to rows; in a box arrays (dim,), otherwise dictionaries."""
        states = self._states(rows)
        if not self.named:
            return list(np.ascontiguousarray(states.T))
        return write_points(states, self.parameters, self._conditions)

    def as_dict(self, point: Any) -> dict[str, Any]:
        """A point by the names of its parameters, in a box too."""
        if self.named:
            return dict(point)
        return dict(zip(self.names, np.asarray(point, dtype=np.float64).tolist(), strict=True))

    def from_dict(self, parts: Mapping[str, Any]) -> Any:
        """The point that has these parts, as they are read from a table.

        A parameter that exists under conditions may have nothing in its cell: None or NaN.
        """
        if not self.named:
            return np.array([parts[name] for name in self.names], dtype=np.float64)
        return {
            name: parts[name]
            for name, parameter in self.parameters.items()
            if not (parameter.conditions and _is_empty(parts[name]))
        }

    def snap(self, rows: Any) -> Float[np.ndarray, "n columns"]:
        """The rows of the points nearest to rows: `encode(decode(rows))`."""
        return self._rows(self._states(rows))

    def spread(self, u: Any) -> Float[np.ndarray, "n columns"]:
        """Rows from points `u (n, dim)` of [0, 1)^dim, one coordinate for each parameter.

        Values take equal slices of their coordinate, so that points that fill the cube evenly fill
        the space evenly. The constraint is ignored.
        """
        u = as_rows(u, "u", columns=self.dim, minimum=0)
        if u.size and not (u.min() >= 0.0 and u.max() <= 1.0):
            raise InvalidData(f"u must be between 0 and 1, got {u.min():g} to {u.max():g}.")
        if not self.named:
            return self._rows(linear_number(u, self._low, self._high).T)
        u = np.ascontiguousarray(u.T)
        states = np.stack([p.spread(u[j]) for j, p in enumerate(self._parameters)])
        return self._rows(self._conditions.without_others(states))

    @cached_property
    def reference(self) -> Float[np.ndarray, "256 columns"]:
        """Rows that fill the space evenly, always the same: what is far in it, and what is near."""
        return self.spread(shifted_sobol(np.random.default_rng(0), _REFERENCE, self.dim))

    def sample(self, rng: np.random.Generator, n: int) -> Float[np.ndarray, "n columns"]:
        """Random rows that satisfy the constraint, by rejection."""
        if self.constraint is None:
            return self.spread(rng.random((n, self.dim)))
        found = [np.empty((0, self.columns))]
        accepted = tries = 0
        while accepted < n:
            # Judged only after ten times as many tries, so that bad luck is not an error.
            if tries >= _RARE * max(accepted, 10):
                raise InvalidData(
                    f"The constraint leaves hardly any point: {accepted} of {tries} random points "
                    f"satisfy it."
                )
            rate = (accepted + 1) / (tries + 1)
            size = int(min(max(1.2 * (n - accepted) / rate, 16), 2000))
            rows = self.spread(rng.random((size, self.dim)))
            found.append(rows[self.allowed(rows)])
            accepted, tries = accepted + len(found[-1]), tries + size
        return np.concatenate(found)[:n]

    def allowed(self, rows: Any) -> Bool[np.ndarray, " n"]:
        """Whether the points nearest to rows satisfy the constraint."""
        if self.constraint is None:
            return np.ones(len(self._as_rows(rows)), bool)
        return np.array([is_allowed(self.constraint, point) for point in self.decode(rows)], bool)

    def active(self, rows: Any) -> Bool[np.ndarray, "n columns"]:
        """The columns that belong to parameters that exist, in each row."""
        exists = ~np.isnan(self._states(rows))
        return np.repeat(exists, self.widths, axis=0).T

    @cached_property
    def count(self) -> int | float:
        """The number of distinct points, whatever the constraint says.

        It is infinite if there is a real number without steps, and also if more than a hundred
        thousand combinations of conditions would have to be told apart to count.
        """
        return count_points(self._parameters, self._conditions)

    def every(self) -> Float[np.ndarray, "n columns"]:
        """All allowed rows of a space of at most 10 000 points, in a fixed order."""
        if self.count > _LISTED:
            raise InvalidData(f"A list needs at most {_LISTED} points, the space has {self.count}.")
        rows = self._rows(every_state(self._parameters, self._conditions))
        return rows[self.allowed(rows)]

    def neighbors(self, row: Any) -> Float[np.ndarray, "m columns"]:
        """Allowed rows that differ from the point nearest to `row (columns,)` in one parameter.

        Integers, ordered values and real numbers with steps move by 1, 2, 4, ... of them up and
        down, choices to any other option; other real numbers stay. A parameter that a move brings
        into existence starts at its middle.
        """
        state = self._states(np.asarray(row)[None])[:, 0]
        rows = self._rows(neighboring_states(self._parameters, self._conditions, state))
        return rows[self.allowed(rows)]

    def describe(self) -> dict[str, Any]:
        """The space as plain tables that JSON can hold; of the constraint only its name."""
        return {
            "named": self.named,
            "parameters": {name: describe_parameter(p) for name, p in self.parameters.items()},
            "constraint": qualified_name(self.constraint),
        }

    @classmethod
    def from_description(
        cls, description: Any, constraint: Callable[[Any], Any] | None = None
    ) -> Space:
        """The space that was described; the constraint has to be given again."""
        for key in ("named", "parameters"):
            if not isinstance(description, Mapping) or key not in description:
                raise InvalidData(f"The description of a space lacks {key!r}: {description!r}.")
        tables = description["parameters"]
        space = cls.from_table(tables, constraint)
        if description["named"]:
            return space
        bounds = [(table.get("low"), table.get("high")) for table in tables.values()]
        box = cls(bounds, constraint=constraint)
        if box.parameters != space.parameters:
            raise InvalidData(f"A space without names must be a box of real numbers, got {space}.")
        return box

    @classmethod
    def from_table(cls, table: Any, constraint: Callable[[Any], Any] | None = None) -> Space:
        """A space of named parameters from a table for each, as they are written in TOML.

        `type` is "real" or "integer" (with `low`, `high` and perhaps `log`; a real also with `step`
        or `decimals`), "ordinal" (with `values`) or "choice" (with `options`); `when` is a table of
        conditions.
        """
        if not isinstance(table, Mapping):
            raise InvalidData(f"The parameters must be a table for each name, got {table!r}.")
        return cls({k: read_parameter(k, v) for k, v in table.items()}, constraint=constraint)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        # As text, because Python takes 1, 1.0 and True for the same.
        same = json.dumps(self.describe()) == json.dumps(other.describe())
        return same and self.constraint is other.constraint

    def __repr__(self):
        if self.named:
            parts = [written(name, p) for name, p in self.parameters.items()]
        else:
            bounds = list(zip(self._low.tolist(), self._high.tolist(), strict=True))
            same = len(set(bounds)) == 1 and self.dim > 1
            parts = [f"[{bounds[0]}] * {self.dim}" if same else repr(bounds)]
        if self.constraint is not None:
            parts.append(f"constraint={qualified_name(self.constraint)}")
        line = f"Space({', '.join(parts)})"
        if len(line) <= 88:
            return line
        return "Space(\n" + "".join(f"    {part},\n" for part in parts) + ")"

    def _as_rows(self, rows):
        return as_rows(rows, "rows", columns=self.columns, minimum=0)

    def _states(self, rows):
        rows = self._as_rows(rows)
        if not self.named:
            return linear_number(rows, self._low, self._high).T
        states = np.empty((self.dim, len(rows)))
        for j, parameter in enumerate(self._parameters):
            states[j] = parameter.nearest(rows[:, self._slices[j]])
        return self._conditions.without_others(states)

    def _rows(self, states):
        if not self.named:
            return linear_unit(states.T, self._low, self._high)
        rows = np.empty((states.shape[1], self.columns))
        for j, parameter in enumerate(self._parameters):
            if self._conditions.required[j]:
                absent = np.isnan(states[j])
                filled = np.where(absent, parameter.middle, states[j])
                rows[:, self._slices[j]] = parameter.encode(filled)
                rows[absent, self._slices[j]] = parameter.neutral
            else:
                rows[:, self._slices[j]] = parameter.encode(states[j])
        return rows


def _is_empty(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and bool(np.isnan(cell)))


def _named_parameters(parameters, named) -> dict[str, Parameter]:
    for name in parameters:
        if not isinstance(name, str) or not name:
            raise InvalidData(f"The name of a parameter must be a string, got {name!r}.")
        if name in named:
            raise InvalidData(f"Parameter {name!r} is given twice.")
    together = {**parameters, **named}
    if not together:
        raise InvalidData(
            "A space needs at least one parameter: Space(rate=Real(0, 1)) or Space([(0, 1)])."
        )
    for name, parameter in together.items():
        if not isinstance(parameter, Parameter):
            raise InvalidData(
                f"Parameter {name!r} must be a Real, Integer, Ordinal or Choice, got {parameter!r}."
            )
    return together


def _as_box(bounds, named) -> tuple[np.ndarray, np.ndarray]:
    if named:
        raise InvalidData(f"A box has no named parameters, got {', '.join(map(repr, named))}.")
    if isinstance(bounds, str | Parameter | Space) or not hasattr(bounds, "__len__"):
        raise InvalidData(
            f"A space is made from named parameters or from a list of (low, high) pairs, "
            f"got {bounds!r}."
        )
    if any(isinstance(bound, Parameter) for bound in bounds):
        raise InvalidData("Parameters need names: Space(rate=Real(0, 1), width=Integer(1, 8)).")
    return as_bounds(bounds)
