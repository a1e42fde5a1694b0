"""A trial: one point, and what became of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from leadline.boundary import shorten


@dataclasses.dataclass(frozen=True, eq=False)
class Trial:
    """One point of a campaign.

    Attributes:
        id: its number, counted from 0 in the order in which trials started.
        x: the point, an array or a dict.
        value: what the function returned there; None while it runs and after it failed.
        asked: False for data that nobody asked for.
        reason: why it failed; empty if it did not.
        traceback: of the failure.
        seconds: how long the call took, if known; an equal share, where it was for several trials.
        info: what the function returned beside its value.
        notes: what the method said about its choice.
        numbers: what models learn from, a row of the question's table; empty if there is nothing.
        withdrawn: whether nobody will call the function there, although it was asked.
        outside: whether the point is outside of the space, beyond its bounds or between two steps:
            models learn from it, and it is no answer.
        earlier: the trial as it was before each of its corrections.
    """

    id: int
    x: Any
    value: Any = None
    asked: bool = True
    reason: str = ""
    traceback: str = dataclasses.field(default="", repr=False)
    seconds: float | None = None
    info: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    notes: Mapping[str, float] = dataclasses.field(default_factory=dict, repr=False)
    numbers: Sequence[float] | Float[np.ndarray, " p"] = dataclasses.field(default=(), repr=False)
    withdrawn: bool = False
    outside: bool = False
    earlier: tuple[Trial, ...] = dataclasses.field(default=(), repr=False)

    @property
    def failed(self) -> bool:
        """Whether the call ended without a value."""
        return bool(self.reason)

    @property
    def running(self) -> bool:
        """Whether nothing is known of the call yet."""
        return self.value is None and not self.failed and not self.withdrawn

    def _shown(self) -> str:
        """What the call returned, as text."""
        return f"value={shorten(self.value)}"

    def __repr__(self) -> str:
        if self.failed:
            became = f"failed: {self.reason}"
        elif self.withdrawn:
            became = "withdrawn"
        else:
            became = "running" if self.running else self._shown()
        return f"Trial({self.id}, x={self.x!r}, {became})"
