"""Posteriors of a drift: one for each of its outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.boundary import InvalidData, Unsupported
from leadline.models import Posterior


def as_posteriors(posteriors: Any) -> tuple[Posterior, ...]:
    """Posteriors that are expansions (`Posterior.expansion`), over the same input columns."""
    if not isinstance(posteriors, Sequence) or not posteriors:
        raise InvalidData(
            f"posteriors must be a list with one for each output, got {posteriors!r}."
        )
    for post in posteriors:
        if not hasattr(post, "expansion"):
            raise Unsupported(
                f"{type(post).__name__} cannot be used here: exact and Titsias posteriors can."
            )
    columns = sorted({post.query_columns for post in posteriors})
    if len(columns) > 1:
        raise InvalidData(f"All posteriors must have the same input columns, got {columns}.")
    return tuple(posteriors)
