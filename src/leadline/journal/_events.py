"""What happens to a question: an ordered list of events, which is all that it depends on.

A trial starts with `Asked` (the question wants this point) or `Given` (data that somebody already
had), and an asked one ends with `Told`, `Failed` or `Withdrawn`. What ended may be `Corrected`. One
event is of no trial: `Widened`. Points are in the caller's terms (a dict or an array, see
`leadline.spaces`), values are what the question's `check` returned.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True, eq=False)
class Asked:
    """A point that the question wants to know the value of.

    Attributes:
        trial: the number of the trial.
        point: where to call the function.
        state: what was dear to compute for this ask, so that nobody computes it again.
        notes: what the method says about its choice, such as the expected improvement.
    """

    trial: int
    point: Any
    state: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
    notes: Mapping[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, eq=False)
class Given:
    """A point that nobody asked for: its value, or the `reason` why it has none."""

    trial: int
    point: Any
    value: Any = None
    info: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    reason: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Told:
    """The value of a point that was asked for; `seconds` is how long the call took, if known."""

    trial: int
    value: Any
    info: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    seconds: float | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Failed:
    """A call that gave no value: why, and the traceback if there is one."""

    trial: int
    reason: str
    traceback: str = ""
    seconds: float | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class Withdrawn:
    """Nobody will call the function at a point that was asked for."""

    trial: int


@dataclasses.dataclass(frozen=True, eq=False)
class Corrected:
    """What became of a trial that has ended, in place of what was said of it before."""

    trial: int
    value: Any = None
    info: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    reason: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Widened:
    """From here on the question may ask in a larger space, of which this is the description."""

    space: Mapping[str, Any]


# What starts a trial, what ends it, and everything that may happen.
Start = Asked | Given
End = Told | Failed | Withdrawn
Event = Start | End | Corrected | Widened
