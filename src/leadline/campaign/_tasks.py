"""What one call of the function is given, and whose the values are that it returns.

A task is a call for one trial, or for several where the function takes several points at once.
Points and values are prepared here, in the campaign's process: workers see the function alone.
"""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any

import numpy as np

from leadline.boundary import shorten
from leadline.campaign._failures import CallFailed
from leadline.campaign._options import CampaignOptions


@dataclasses.dataclass(frozen=True)
class Plain:
    """Tasks of a function that takes a point: each is one trial.

    Attributes:
        most: how many trials a task may have.
    """

    most: int = 1

    def argument(self, points: list[Any]) -> Any:
        """A copy of the point: what the function does to its argument is its own."""
        (point,) = points
        return copy.deepcopy(point)

    def values(self, returned: Any, trials: int) -> list[Any]:
        """The value of each trial."""
        return [returned]


@dataclasses.dataclass(frozen=True)
class Vectorized:
    """Tasks of a function that takes several points at once and returns as many values."""

    most: int

    def argument(self, points: list[Any]) -> Any:
        """A copy of the points: stacked (b, d) if they are arrays of one shape, else a list."""
        points = copy.deepcopy(points)
        arrays = all(isinstance(point, np.ndarray) for point in points)
        return np.stack(points) if arrays and len({p.shape for p in points}) == 1 else points

    def values(self, returned: Any, trials: int) -> list[Any]:
        """The value of each trial.

        Raises:
            CallFailed: there is not one for each.
        """
        wanted = f"With vectorized=True a call with {trials} points must return {trials} values"
        # Whatever is no sequence becomes an array without dimensions: a dict, a text, None.
        values = returned if isinstance(returned, list | tuple) else np.asanyarray(returned)
        if isinstance(values, np.ndarray) and values.ndim == 0:
            raise CallFailed(f"{wanted}, in an array, a list or a tuple; got {shorten(returned)}.")
        if len(values) != trials:
            raise CallFailed(f"{wanted}, got {len(values)}: {shorten(returned)}.")
        return list(values)


Tasks = Plain | Vectorized


def tasks_of(options: CampaignOptions, slots: int) -> Tasks:
    """The tasks that the options ask for, where so many calls run at once."""
    if not options.vectorized:
        return Plain()
    return Vectorized(most=math.ceil((options.batch or 1) / slots))
