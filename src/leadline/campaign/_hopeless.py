"""A campaign whose calls have all failed the same way, from the first on."""

from __future__ import annotations

import re
from collections.abc import Sequence

from leadline.questions import Trial

_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")


def hopeless(trials: Sequence[Trial], most: int) -> Trial | None:
    """The last trial that failed, if there is no value yet and the last `most` failed the same way.

    Data that were given are values too.
    """
    if any(trial.value is not None for trial in trials):
        return None
    failed = [trial for trial in trials if trial.failed][-most:]
    alike = len(failed) == most and len({_kind(trial.reason) for trial in failed}) == 1
    return failed[-1] if alike else None


def _kind(reason: str) -> str:
    """What failures of one kind have in common.

    That is what stands before the first colon, the type of an error, but for numbers.
    """
    return _NUMBER.sub("#", reason.partition(":")[0])
