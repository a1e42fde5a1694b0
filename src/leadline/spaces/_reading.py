"""Spaces from what people write, and from what journals say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.spaces._pool import Pool
from leadline.spaces._space import Space


def as_space(value: Any) -> Space:
    """A space as it is, and anything else as the parameters of one."""
    return value if isinstance(value, Space) else Space(value)


def space_from_description(description: Any) -> Space:
    """The space or the pool that was described."""
    pool = isinstance(description, Mapping) and "pool" in description
    return (Pool if pool else Space).from_description(description)
