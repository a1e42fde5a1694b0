"""The contract of a domain: where a question may ask, and how its points become rows.

A `Space` is a domain. The loop, the journal and the command line know no more of it than this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from leadline.spaces import as_space


@runtime_checkable
class Domain(Protocol):
    """Where a question may ask.

    Points are what the caller's function takes; a journal can keep numbers, texts, arrays, and
    dicts, lists and tuples of them.

    Attributes:
        names: what the parts of a point are called in tables.
        columns: how many columns a row has.
    """

    names: tuple[str, ...]
    columns: int

    def encode(self, points: Any) -> Float[np.ndarray, "n columns"]:
        """The rows of a list of points, which are checked."""
        ...

    def decode(self, rows: Any) -> list[Any]:
        """The points of rows."""
        ...

    def as_dict(self, point: Any) -> dict[str, Any]:
        """The parts of a point by their names."""
        ...

    def from_dict(self, parts: Mapping[str, Any]) -> Any:
        """The point that has these parts, as they are read from a table."""
        ...

    def describe(self) -> dict[str, Any]:
        """What makes it another domain than the next, as JSON values."""
        ...


def rows_of_data(domain: Any, points: Any) -> Float[np.ndarray, "n columns"]:
    """The rows of points that one has data of: outside of the domain too, if it can."""
    return getattr(domain, "locate", domain.encode)(points)


def is_inside(domain: Any, row: Float[np.ndarray, " columns"]) -> bool:
    """Whether a row of data is where the question may ask; a domain without bounds has all rows."""
    return not hasattr(domain, "contains") or bool(domain.contains(row[None])[0])


def as_domain(value: Any) -> Any:
    """A domain as it is, and anything else as the parameters of a space."""
    return value if isinstance(value, Domain) else as_space(value)
