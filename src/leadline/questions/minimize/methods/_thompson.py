"""Thompson sampling with function draws (Wilson 2023, section 3.6.1).

A process (`_surrogate`) is fitted to what has been seen, one function is drawn from it, and the
next row is where the draw is highest. Every ask draws its own function from its own key, so calls
that have not returned need no fantasies: asks at once differ as much as the belief is unsure. Calls
that failed take part at the worst value seen.

Notation: `x (n, d)` rows, `y (n,)` values, larger is better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array

from leadline.acquisition import DrawnFunction, promising, unified_draws
from leadline.boundary import InvalidData, as_choice
from leadline.kernels import Kernel
from leadline.models import Posterior
from leadline.numerics import generator, split_key
from leadline.questions._surrogate import with_stand_ins
from leadline.questions.minimize.methods._gp import GP
from leadline.questions.minimize.methods._method import Seen, Suggestion
from leadline.questions.minimize.methods._modeled import Modeled
from leadline.questions.minimize.methods._objective import learn_objective
from leadline.search import is_among, maximize, unseen
from leadline.spaces import Space

_DRAWS = ("decoupled", "unified", "location-scale")
# Searches look close to so many of the best calls.
_BEST = 4
# A joint draw is of so many rows, which are the most promising of so many random ones.
_JOINT, _POOL = 2048, 8192


@dataclasses.dataclass(frozen=True)
class Thompson(Modeled):
    """The highest point of a function drawn from a Gaussian process.

    The note `draw` of a suggestion is the value of the draw there; larger is better.

    Args:
        draws: "decoupled" for draws of features and kernel, which stay right as data grow;
            "unified" for draws of features alone, which do not; "location-scale" for a joint draw
            at 2048 rows, which is exact there and knows nothing in between.
        features: how many stand for the prior of a draw, an even number.
        initial: how many points fill the space first; 2 for each parameter, from 5 to 20, if None.
        noise: variance of the objective's noise; learned if None.
        kernel, priors: of the objective, as for the method "gp".
    """

    draws: str = "decoupled"
    features: int = 1024
    initial: int | None = None
    noise: float | None = None
    kernel: Kernel | Mapping[str, Any] | None = None
    priors: Mapping[str, Any] | None = None

    name: ClassVar[str] = "thompson"
    anywhere: ClassVar[bool] = True
    spreads: ClassVar[tuple[float, ...]] = (1.0,)

    def __post_init__(self):
        as_choice(self.draws, _DRAWS, "draws")
        if not isinstance(self.features, int) or self.features < 2 or self.features % 2:
            raise InvalidData(
                f"features must be a positive even number (cosines and sines), got {self.features}."
            )
        super().__post_init__()

    @property
    def drawn(self):
        """How many features stand for the kernel, unless draws are joint."""
        return None if self.draws == "location-scale" else self.features

    def suggest(self, space, seen, state, key):
        """The row where a new draw is highest."""
        told, learned, y, units = learn_objective(space, seen, state, self.model)
        posterior = with_stand_ins(told, seen.failed, np.full(len(seen.failed), y.min()))
        # Draws are of what models see of values.
        seen = seen._replace(y=y)
        choose = _best_of_joint_draw if self.draws == "location-scale" else self._best_of_function
        found = choose(posterior, space, seen, key)
        if found is None:
            return None
        row, value = found
        return Suggestion(row, learned, {"draw": float(units.value(value))})

    def recommend(self, space, seen, state):
        """The call that the method "gp" would recommend: it has the same model."""
        same = GP(noise=self.noise, kernel=self.kernel, priors=self.priors)
        return same.recommend(space, seen, state)

    def _best_of_function(
        self, posterior: Posterior, space: Space, seen: Seen, key: Array
    ) -> tuple[np.ndarray, float] | None:
        draw, search = split_key(key, 2)
        if self.draws == "unified":
            paths: Any = unified_draws(posterior, draw, 1, self.features)
        else:
            paths = posterior.paths(draw, 1, self.features)
        level = seen.y.max()
        order = np.argsort(-seen.y, kind="stable")
        order = order[seen.inside[order]][:_BEST]
        drawn = DrawnFunction(paths, level)
        found = maximize(drawn, space, search, close_to=seen.x[order], avoid=seen.rows)
        return None if found is None else (found.row, found.value + float(level))


def _best_of_joint_draw(
    posterior: Posterior, space: Space, seen: Seen, key: Array
) -> tuple[np.ndarray, float] | None:
    """The highest of a joint draw at many rows that was not called before."""
    sample, select, draw, other = split_key(key, 4)
    if space.count <= _JOINT:
        rows = space.every()
    else:
        # A row twice would make the covariance of the draw singular.
        rows = np.unique(space.sample(generator(sample), _POOL), axis=0)
        rows = promising(posterior, rows, select, _JOINT)
    values = np.asarray(posterior.sample(draw, rows, 1))[0]
    for i in np.argsort(-values, kind="stable"):
        if not is_among(rows[i], seen.rows):
            return rows[i], float(values[i])
    row = unseen(space, seen.rows, other)
    if row is None:
        return None
    return row, float(np.asarray(posterior.sample(draw, row[None], 1))[0, 0])
