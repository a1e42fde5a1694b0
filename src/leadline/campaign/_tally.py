"""How far a campaign is, in numbers and in words."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass
class Tally:
    """How many trials of a campaign have started, have ended, and have failed."""

    started: int = 0
    ended: int = 0
    failed: int = 0

    def describe(self, headline: str) -> str:
        """What is known so far, and what of the calls is out of the ordinary."""
        running = self.started - self.ended
        parts = [headline]
        parts += [f"{self.failed} failed"] if self.failed else []
        parts += [f"{running} running"] if running else []
        return ", ".join(part for part in parts if part)
