"""Figures: what was measured, what it is compared with, and the bar it has to meet."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable


@dataclasses.dataclass(frozen=True)
class Figure:
    """One line of a table.

    Attributes:
        case: what was done.
        ours, theirs: the two sides, with their unit, as text; `theirs` is empty without a peer.
        peer: whose figure `theirs` is.
        value: what is compared: a ratio or a difference or an exponent.
        kind: what `value` is, in a word or two ("times faster").
        bar: what `value` has to be, at least or at most; None if it is only shown.
        at_least: which of the two.
        note: anything else.
    """

    case: str
    ours: str
    peer: str
    theirs: str
    value: float
    kind: str
    bar: float | None = None
    at_least: bool = True
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the figure meets its bar; None without one."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar


def median(answers: Iterable[dict], name: str = "seconds") -> float:
    """The median of one entry over repeats."""
    return statistics.median(answer[name] for answer in answers)


def duration(seconds: float) -> str:
    """A time to three digits, in a unit that fits."""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1e3 * seconds:.3g} ms"


def faster(case: str, ours: float, peer: str, theirs: float, bar: float | None, note="") -> Figure:
    """How many times faster we are."""
    return Figure(
        case,
        duration(ours),
        peer,
        duration(theirs),
        theirs / ours,
        "times faster",
        bar,
        note=note,
    )
