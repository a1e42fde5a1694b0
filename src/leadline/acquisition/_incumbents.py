"""Which of the calls so far counts as the best (Wilson 2023, section 2.1).

The best seen is right without noise, the best recent for functions that change, and the best
expected with noise: the highest value seen is then mostly luck. The best expected point of a whole
space, which need not have been called, is `maximize` of `ExpectedMaximum`.

Notation: `y (n,)` values; larger is better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from leadline.boundary import InvalidData, Unsupported, as_targets
from leadline.models import Posterior


class Incumbent(NamedTuple):
    """The best call: which one it is, and its value."""

    index: int
    value: float


def best_seen(y: Any) -> Incumbent:
    """The call with the highest value; the first of those with the same."""
    y = as_targets(y, len(y))
    if not len(y):
        raise InvalidData("There is no best of no calls: y is empty.")
    index = int(np.argmax(y))
    return Incumbent(index, float(y[index]))


def best_recent(y: Any, times: Any, since: float) -> Incumbent:
    """The call with the highest value among those that arrived at `since` or later.

    Args:
        y: values.
        times: when each of them arrived.
        since: now less the time for which a value counts; -inf is all of them.
    """
    y = as_targets(y, len(y))
    times = as_targets(times, len(y), "times")
    recent = np.flatnonzero(times >= since)
    if not recent.size:
        raise InvalidData(f"None of the {len(y)} calls arrived at {since:g} or later.")
    found = best_seen(y[recent])
    return Incumbent(int(recent[found.index]), found.value)


def best_expected(posterior: Posterior) -> Incumbent:
    """The call where the posterior mean is highest, and that mean."""
    if not hasattr(posterior, "means_at_data"):
        raise Unsupported(
            f"The best expected call needs an exact Gaussian process, got "
            f"{type(posterior).__name__}."
        )
    return best_seen(posterior.means_at_data())
