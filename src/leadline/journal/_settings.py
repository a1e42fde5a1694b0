"""What differs between the settings in a journal and those of a question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.boundary import InvalidData
from leadline.spaces import is_wider


def widens(stored: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    """Whether settings differ in nothing but a space that is wider now."""
    rest, other = ({k: v for k, v in each.items() if k != "space"} for each in (stored, given))
    return not _differences(rest, other, "") and is_wider(given.get("space"), stored.get("space"))


def check_same_settings(stored: Mapping[str, Any], given: Mapping[str, Any], journal: str) -> None:
    """Raise `InvalidData` that says key by key what differs, if anything does."""
    found = _differences(stored, given, "")
    if found:
        lines = "".join(f"\n  {line}" for line in found)
        raise InvalidData(
            f"{journal} belongs to a campaign with other settings:{lines}\n"
            "Use the same settings to continue it, or another journal."
        )


def _differences(stored: Any, given: Any, name: str) -> list[str]:
    if isinstance(stored, Mapping) and isinstance(given, Mapping):
        return _differences_by_key(stored, given, name)
    if isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        return [
            line
            for i, (one, other) in enumerate(zip(stored, given, strict=True))
            for line in _differences(one, other, f"{name}[{i}]")
        ]
    # By their text, so that NaN is the same as NaN, and 1 another setting than True.
    if repr(stored) == repr(given):
        return []
    return [f"{name}: {stored!r} in the journal, {given!r} given now"]


def _differences_by_key(
    stored: Mapping[str, Any], given: Mapping[str, Any], name: str
) -> list[str]:
    found = []
    for key in [*stored, *(key for key in given if key not in stored)]:
        path = f"{name}.{key}" if name else key
        if key not in given:
            found.append(f"{path}: {stored[key]!r} in the journal, not given now")
        elif key not in stored:
            found.append(f"{path}: not in the journal, {given[key]!r} given now")
        else:
            found += _differences(stored[key], given[key], path)
    # The parameters of a space are its columns, so their order is a setting.
    if not found and list(stored) != list(given):
        keys = f"{', '.join(stored)} in the journal, {', '.join(given)} given now"
        found.append(f"the order of {name or 'the settings'}: {keys}")
    return found
