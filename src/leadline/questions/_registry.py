"""Questions by their verbs, and from what `settings()` said about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from leadline.boundary import InvalidData, as_choice

if TYPE_CHECKING:
    from leadline.questions._question import Question

_VERBS: dict[str, type[Question]] = {}


def register(kind: type[Question]) -> None:
    """Take note of a kind of question; the last one of a verb counts."""
    _VERBS[kind.verb] = kind


def question_from_settings(settings: Mapping[str, Any]) -> Any:
    """The question that has these settings, without any trial.

    A constraint of a space is known by its name only, so the question's has none: the question can
    replay a campaign, but not go on with it.
    """
    if "verb" not in settings:
        raise InvalidData("The settings of a question lack 'verb'.")
    verb = as_choice(settings["verb"], tuple(_VERBS), "The verb of a question")
    return _VERBS[verb].from_settings(settings)


def require_settings(settings: Mapping[str, Any], *names: str) -> None:
    """Refuse settings that lack one of these."""
    missing = [name for name in names if name not in settings]
    if missing:
        raise InvalidData(f"The settings of a question lack {', '.join(map(repr, missing))}.")
