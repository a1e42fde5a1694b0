"""Points as people write them: read with all their mistakes reported, and written.

Notation: as in `_conditions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData, as_choice, as_rows
from leadline.spaces._conditions import Conditions
from leadline.spaces._parameter import Parameter, describe_conditions


def read_points(
    points: Any,
    parameters: Mapping[str, Parameter],
    conditions: Conditions,
    anywhere: bool = False,
) -> Float[np.ndarray, "dim n"]:
    """The states of a list of dictionaries, which may be outside of the bounds if `anywhere`."""
    if isinstance(points, str) or not isinstance(points, Sequence):
        raise InvalidData(f"points must be a list of dictionaries, got {points!r}.")
    names = tuple(parameters)
    for i, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise InvalidData(f"points[{i}] must be a dictionary, got {point!r}.")
        for name in point:
            if name not in parameters:
                as_choice(name, names, f"A name in points[{i}]")
    states = np.full((len(parameters), len(points)), np.nan)
    for j in conditions.order:
        name, parameter = names[j], parameters[names[j]]
        if not conditions.required[j]:
            states[j] = _read(range(len(points)), points, name, parameter, anywhere)
            continue
        exists = conditions.exists(j, states)
        for i in np.flatnonzero(~exists).tolist():
            if name in points[i]:
                wanted = describe_conditions(parameter.conditions)
                raise InvalidData(f"points[{i}] has {name!r}, which exists only when {wanted}.")
        states[j, exists] = _read(
            np.flatnonzero(exists).tolist(), points, name, parameter, anywhere
        )
    return states


def _read(
    which: Sequence[int], points: Any, name: str, parameter: Parameter, anywhere: bool
) -> list[float]:
    """The states of one parameter in the points in which it exists."""
    state = parameter.state_anywhere if anywhere else parameter.state
    try:
        return [state(points[i][name]) for i in which]
    except (KeyError, InvalidData):
        # Once more and slowly, to say where.
        for i in which:
            if name not in points[i]:
                raise InvalidData(f"points[{i}] lacks {name!r}: {parameter!r}.") from None
            state(points[i][name], f"{name!r} of points[{i}]")
        raise


def write_points(
    states: Float[np.ndarray, "dim n"],
    parameters: Mapping[str, Parameter],
    conditions: Conditions,
) -> list[dict[str, Any]]:
    """Dictionaries of Python scalars, without the parameters that do not exist."""
    values, absent = [], []
    for j, (name, parameter) in enumerate(parameters.items()):
        present = states[j]
        if conditions.required[j]:
            missing = np.isnan(present)
            absent.append((name, np.flatnonzero(missing).tolist()))
            present = np.where(missing, parameter.middle, present)
        values.append(parameter.decode(present))
    points = [dict(zip(parameters, row, strict=True)) for row in zip(*values, strict=True)]
    for name, which in absent:
        for i in which:
            del points[i][name]
    return points


def read_arrays(
    points: Any, low: Float[np.ndarray, " dim"], high: Float[np.ndarray, " dim"]
) -> Float[np.ndarray, "n dim"]:
    """The points of a box as the rows of an array."""
    if isinstance(points, list | tuple) and not points:
        return np.empty((0, len(low)))
    values = as_rows(points, "points", columns=len(low), minimum=0)
    outside = (values < low) | (values > high)
    if outside.any():
        i, j = np.argwhere(outside)[0]
        raise InvalidData(
            f"points[{i}][{j}] must be a number from {low[j]} to {high[j]}, got {values[i, j]}."
        )
    return values
