"""What became of a call: for one of its trials, and as the event that the journal keeps of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from leadline.boundary import InvalidData
from leadline.campaign._failures import explain
from leadline.questions import Failed, Question, Told


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What became of a trial's call.

    Attributes:
        trial: whose call it was.
        value: what the function returned.
        error: why it returned nothing.
        seconds: how long it took; of a call for several trials, this one's equal share.
        late: whether it had been given up before.
    """

    trial: int
    value: Any = None
    error: BaseException | None = None
    seconds: float | None = None
    late: bool = False


def event_of(question: Question, outcome: Outcome) -> Told | Failed:
    """What the journal keeps of an outcome: its value, if the question can use it."""
    error, info = outcome.error, {}
    if error is None:
        value = outcome.value
        if isinstance(value, tuple) and len(value) > 1 and isinstance(value[-1], Mapping):
            # A value that is a tuple itself may stand before its dict without parentheses.
            *parts, info = value
            value = parts[0] if len(parts) == 1 else tuple(parts)
        try:
            value = question.check(value)
            return Told(outcome.trial, value, info, outcome.seconds)
        except InvalidData as refused:
            return Failed(outcome.trial, str(refused), seconds=outcome.seconds)
        except Exception as broken:
            error = broken
    failure = explain(error)
    return Failed(outcome.trial, failure.reason, failure.traceback, outcome.seconds)
