"""The contract of a method: from what has been seen to the next point.

Notation: rows `(n, d)` of the unit cube, values `y (n,)` of which larger is better, and the values
`(n, c)` of `c` constraints, of which those up to 0 are allowed.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float

from leadline.boundary import Unsupported
from leadline.spaces import Space


class Seen(NamedTuple):
    """What has been seen of a function so far.

    Attributes:
        x, y: rows with their values.
        running: rows of calls that have not returned.
        failed: rows of calls that gave no value.
        constraints: what the rows of `x` returned for each constraint.
        withdrawn: rows that were asked, and that nobody will call.
    """

    x: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, " n"]
    running: Float[np.ndarray, "p d"]
    failed: Float[np.ndarray, "f d"]
    constraints: Float[np.ndarray, "n c"]
    withdrawn: Float[np.ndarray, "w d"] | None = None

    @property
    def rows(self) -> Float[np.ndarray, "t d"]:
        """Every row that was asked or given."""
        gone = [] if self.withdrawn is None else [self.withdrawn]
        return np.concatenate([self.x, self.running, self.failed, *gone])

    def beside(self, rows: Float[np.ndarray, "k d"]) -> Seen:
        """The same, with calls at more rows that have not returned."""
        return self._replace(running=np.concatenate([self.running, rows]))

    def within_bounds(self) -> Seen:
        """The same, without rows from outside."""
        kept, failed = self.inside, _inside(self.failed)
        x, y, constraints = self.x[kept], self.y[kept], self.constraints[kept]
        return self._replace(x=x, y=y, constraints=constraints, failed=self.failed[failed])

    @property
    def allowed(self) -> Bool[np.ndarray, " n"]:
        """Which rows of `x` are inside, and met every constraint."""
        return self.inside & np.all(self.constraints <= 0, axis=1)

    @property
    def inside(self) -> Bool[np.ndarray, " n"]:
        """Which rows of `x` are within the bounds."""
        return _inside(self.x)


def _inside(rows: np.ndarray) -> np.ndarray:
    return np.all((rows >= 0.0) & (rows <= 1.0), axis=1)


class Suggestion(NamedTuple):
    """A row to call, what was dear to compute for it, and what there is to say about it."""

    row: Float[np.ndarray, " d"]
    state: Mapping[str, np.ndarray]
    notes: Mapping[str, float]


class Recommendation(NamedTuple):
    """A better answer than the best value, which may be luck.

    Attributes:
        row: which of the rows that have values.
        deviation: the standard deviation of the noise of values there.
    """

    row: int
    deviation: float


@dataclasses.dataclass(frozen=True)
class Method(abc.ABC):
    """How the next point is chosen. Immutable: what it learns is in its suggestions' state.

    Attributes:
        name: what users call it.
        foresees: whether its suggestions note the `expected_improvement` of the call.
        anywhere: whether it learns from rows outside of the unit cube; otherwise it sees none.
        spreads: of the values with which its asks are rehearsed, the likeliest first, where they
            are worth it: where they need programs that take time to make.
    """

    name: ClassVar[str]
    foresees: ClassVar[bool] = False
    anywhere: ClassVar[bool] = False
    spreads: ClassVar[tuple[float, ...]] = ()

    @property
    def constrained(self) -> bool:
        """Whether it takes constraints, whose values are in what it has seen."""
        return False

    @property
    def together(self) -> bool:
        """Whether points asked at once are chosen together, by `suggest_together`."""
        return False

    @abc.abstractmethod
    def design(self, space: Space) -> int:
        """How many points fill the space before the method chooses."""

    @abc.abstractmethod
    def suggest(
        self, space: Space, seen: Seen, state: Mapping[str, np.ndarray], key: Array
    ) -> Suggestion | None:
        """The next row; None if every point of the space has been called."""

    def suggest_together(
        self, space: Space, seen: Seen, state: Mapping[str, np.ndarray], key: Array, n: int
    ) -> list[Suggestion]:
        """The next `n` rows at once, or fewer if the space has no more."""
        raise Unsupported(f"The method {self.name!r} chooses one point at a time.")

    def check(self, space: Space) -> None:  # noqa: B027 (most can choose in any space)
        """Refuse a space in which it cannot choose; it is asked once, when a question begins."""

    def recommend(
        self, space: Space, seen: Seen, state: Mapping[str, np.ndarray]
    ) -> Recommendation | None:
        """A row of `seen.x` that is a better answer than the best value, which may be luck.

        None if the best value is not in doubt.
        """
        return None

    def settings(self) -> dict[str, Any]:
        """The method's name and settings, as JSON values."""
        return {"name": self.name, **dataclasses.asdict(self)}

    def shown(self) -> dict[str, Any]:
        """The settings for people, without those that are None."""
        return {k: v for k, v in self.settings().items() if k != "name" and v is not None}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Method:
        """The method that has these settings; its name is not among them."""
        # JSON has no tuples.
        return cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()})
