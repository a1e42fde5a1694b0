"""Questions from what `settings()` said about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.boundary import InvalidData, as_choice
from leadline.questions.minimize._minimize import METHODS, Maximize, Minimize
from leadline.questions.minimize.methods import Method
from leadline.spaces import Space

_VERBS: dict[str, type[Minimize]] = {kind.verb: kind for kind in (Minimize, Maximize)}


def question_from_settings(settings: Mapping[str, Any]) -> Minimize:
    """The question that has these settings, without any trial.

    A constraint of a space is known by its name only, so the question's has none: the question can
    replay a campaign, but not go on with it.
    """
    missing = [key for key in ("verb", "space", "method", "seed") if key not in settings]
    if missing:
        raise InvalidData(f"The settings of a question lack {', '.join(map(repr, missing))}.")
    kind = _VERBS[as_choice(settings["verb"], tuple(_VERBS), "The verb of a question")]
    space = Space.from_description(settings["space"])
    # Settings say nothing of constraints that are learned if there are none.
    learned = settings.get("constraints", 0)
    return kind(space, _method(settings["method"]), settings["seed"], learned)


def _method(settings: Mapping[str, Any]) -> Method:
    # JSON has no tuples.
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in settings.items()}
    name = as_choice(fields.pop("name", None), tuple(METHODS), "The method of a question")
    try:
        return METHODS[name](**fields)
    except TypeError as error:
        raise InvalidData(f"The method {name!r} has no such settings: {error}.") from error
