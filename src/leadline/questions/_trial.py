"""A trial: one point, and what became of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

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
        constraints: what the function returned for each constraint; allowed are values up to 0.
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
    constraints: tuple[float, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the call ended without a value."""
        return bool(self.reason)

    @property
    def running(self) -> bool:
        """Whether nothing is known of the call yet."""
        return self.value is None and not self.failed

    @property
    def allowed(self) -> bool:
        """Whether the call returned a value, and no constraint value above 0."""
        return self.value is not None and all(c <= 0.0 for c in self.constraints)

    def __repr__(self) -> str:
        became = "running" if self.running else f"value={shorten(self.value)}"
        became += f", constraints={self.constraints!r}" if self.constraints else ""
        became = f"failed: {self.reason}" if self.failed else became
        return f"Trial({self.id}, x={self.x!r}, {became})"
