"""Settings as text: `acquisition=ucb`, or several of them as a JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from leadline.boundary import InvalidData


def read_settings(texts: Sequence[str]) -> dict[str, Any]:
    """The settings that texts say."""
    settings: dict[str, Any] = {}
    for text in texts:
        for name, value in _pairs(text):
            if name in settings:
                raise InvalidData(f"The setting {name!r} of the method is given twice.")
            settings[name] = value
    return settings


def _pairs(text: str) -> Iterable[tuple[str, Any]]:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text).items()
        except json.JSONDecodeError as error:
            raise InvalidData(
                f"Settings of the method are no JSON: {error}, in {text!r}."
            ) from error
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise InvalidData(
            "A setting of the method is written as NAME=VALUE, such as acquisition=ucb, or "
            f"several as a JSON object, got {text!r}."
        )
    return [(name.strip(), _value(value.strip()))]


def _value(text: str) -> Any:
    """Numbers, true, false, null, lists and objects as in JSON; anything else is a text."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
