"""TPE: the tree-structured Parzen estimator (Bergstra et al. 2011; Tiao 2023, section 5.2.3).

It is BORE with the ratio l / g of two densities that are estimated one by one: of good calls, and
of others (`leadline.acquisition.Parzen`). Of some draws from l the one of the highest ratio is
taken.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np

from leadline.boundary import InvalidData, shorten
from leadline.numerics import generator
from leadline.questions._design import check_design, design_size
from leadline.questions.minimize.methods._labels import (
    Part,
    among_best,
    as_part,
    good_calls,
    part_after,
    plain_part,
)
from leadline.questions.minimize.methods._method import Method, Suggestion
from leadline.search import is_among, parzen, unseen

# More good calls than this would make their density as wide as the other.
_MOST_GOOD = 25
# If all draws were called before, there are new ones, so many times.
_TRIES = 8


@dataclasses.dataclass(frozen=True)
class TPE(Method):
    """The next call is where good calls are dense, compared with others.

    The note `log_ratio` of a suggestion is the logarithm of that comparison.

    Args:
        gamma: the part of calls that are good, of which there are 25 at most; a pair as for `BORE`.
        candidates: how many draws compete.
        initial: how many points fill the space first; 2 for each parameter, from 5 to 20, if None.
    """

    gamma: Part = 0.1
    candidates: int = 24
    initial: int | None = None

    name: ClassVar[str] = "tpe"

    def __post_init__(self):
        object.__setattr__(self, "gamma", as_part(self.gamma))
        if not isinstance(self.candidates, int | np.integer) or self.candidates < 1:
            raise InvalidData(
                f"candidates must be at least 1, a whole number, got {shorten(self.candidates)}."
            )
        check_design(self.initial)

    def design(self, space):
        """The size of the space-filling design."""
        return design_size(space, self.initial)

    def suggest(self, space, seen, state, key):
        """The draw of the highest ratio that was not called before; else a random row."""
        rng, n = generator(key), len(seen.y)
        if n >= 2 and seen.y.min() < seen.y.max():
            part = part_after(self.gamma, n, self.design(space))
            good = min(good_calls(n, part), _MOST_GOOD)
            best = among_best(seen.y, good)
            l = parzen(space, seen.x[best])
            g = parzen(space, np.concatenate([seen.x[~best], seen.running, seen.failed]))
            for _ in range(_TRIES):
                rows = l.draw(rng, self.candidates)
                rows = rows[space.allowed(rows)]
                ratios = l.log_density(rows) - g.log_density(rows)
                for i in np.argsort(-ratios, kind="stable"):
                    if not is_among(rows[i], seen.rows):
                        return Suggestion(rows[i], {}, {"log_ratio": float(ratios[i])})
        row = unseen(space, seen.rows, key)
        return None if row is None else Suggestion(row, {}, {})

    def settings(self):
        """The method's name and settings, as JSON values."""
        return {**super().settings(), "gamma": plain_part(self.gamma)}
