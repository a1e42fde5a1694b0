"""A trial of `Minimize`: a number, and constraint values that say whether it counts."""

from __future__ import annotations

import dataclasses

from leadline.questions._trial import Trial


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MinimizeTrial(Trial):
    """One point of a campaign; its `numbers` are the value and the constraint values."""

    @property
    def constraints(self) -> tuple[float, ...]:
        """What the function returned for each constraint; allowed are values up to 0."""
        return tuple(self.numbers[1:])

    @property
    def allowed(self) -> bool:
        """Whether the call returned a value, no constraint value above 0, and is within bounds."""
        within = self.value is not None and not self.outside
        return within and all(c <= 0.0 for c in self.constraints)

    def _shown(self) -> str:
        constraints = f", constraints={self.constraints!r}" if self.constraints else ""
        return super()._shown() + constraints
