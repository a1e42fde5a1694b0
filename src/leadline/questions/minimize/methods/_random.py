"""Random search: the baseline, and a design without end."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from leadline.questions.minimize.methods._method import Method, Suggestion
from leadline.search import unseen


@dataclasses.dataclass(frozen=True)
class Random(Method):
    """Every point is drawn at random, none twice."""

    name: ClassVar[str] = "random"

    @property
    def constrained(self):
        """Whether it takes constraints: it looks at no values at all."""
        return True

    def design(self, space):
        """None: all points are random."""
        return 0

    def suggest(self, space, seen, state, key):
        """A random row that was not called before."""
        row = unseen(space, seen.rows, key)
        return None if row is None else Suggestion(row, {}, {})
