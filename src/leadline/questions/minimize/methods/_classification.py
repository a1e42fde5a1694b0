"""Minimizing by classification: what BORE and LFBO share (Tiao 2023, chapter 5).

A classifier learns to tell good calls from others, and the next call is where its log odds are
highest among draws around the best ones. Now and then a call is random, since a classifier does not
know what it does not know.

Tiao (2023) takes a third of the calls for good ones and one network. Good calls are fewer here, and
there are four networks, which find better points on every problem of `docs/classification.md`.

Calls that have not returned, and calls that failed, take part as calls that are not good: then the
next ask is elsewhere.

Notation: rows `x (n, d)` of the unit cube, values `y (n,)`, larger is better; labels `z`, weights
`w` of examples.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float

from leadline.acquisition import LogOdds, centered
from leadline.boundary import InvalidData, Unsupported, as_choice, shorten
from leadline.numerics import generator, split_key
from leadline.questions._design import check_design, design_size
from leadline.questions.minimize.methods._labels import (
    Part,
    among_best,
    as_part,
    new_or_flipped,
    part_after,
    plain_part,
)
from leadline.questions.minimize.methods._method import Method, Seen, Suggestion
from leadline.search import maximize, unseen
from leadline.spaces import Space

# Candidates are drawn around this part of the calls, the best, and around so many at least.
_BEST, _FEWEST = 0.1, 2
# How often an example counts whose label is new or has changed.
_NEWS = 2.0
# One network is sure of itself where it knows nothing; several are not, since they differ there.
_MEMBERS = 4
# Steps uphill that take a call to the top of its bump.
_SHIFTS = 32
# What a suggestion's state holds besides the classifier's.
_OWN = ("rows", "running")
_SEARCHES = ("nearby", "random", "evolution", "gradient")


class Examples(NamedTuple):
    """Rows with labels and weights."""

    x: Float[np.ndarray, "m d"]
    z: Float[np.ndarray, " m"]
    w: Float[np.ndarray, " m"]


@dataclasses.dataclass(frozen=True)
class Classification(Method):
    """The next call is where a classifier says that good ones are.

    The note `log_odds` of a suggestion is what the classifier says there.
    """

    classifier: Any = "mlp"
    gamma: Part = 0.15
    epsilon: float = 0.1
    search: str = "nearby"
    candidates: int = 256
    initial: int | None = None

    def __post_init__(self):
        from leadline.ratios import MLP, Scikit, as_classifier  # only who classifies needs them

        classifier = MLP(members=_MEMBERS, bootstrap=True)
        if not isinstance(self.classifier, str) or self.classifier != MLP.name:
            classifier = as_classifier(self.classifier)
        object.__setattr__(self, "classifier", classifier)
        as_choice(self.search, _SEARCHES, "search")
        if self.search == "gradient" and isinstance(classifier, Scikit):
            others = ", ".join(repr(name) for name in _SEARCHES if name != "gradient")
            raise Unsupported(
                "A scikit-learn classifier has no gradients, which search 'gradient' needs. Use "
                f"one of {others}."
            )
        if not isinstance(self.candidates, int | np.integer) or self.candidates < 1:
            raise InvalidData(
                f"candidates must be at least 1, a whole number, got {shorten(self.candidates)}."
            )
        object.__setattr__(self, "gamma", as_part(self.gamma))
        number = isinstance(self.epsilon, int | float | np.number)
        if not number or not 0.0 <= self.epsilon <= 1.0:
            raise InvalidData(f"epsilon must be a probability, got {shorten(self.epsilon)}.")
        check_design(self.initial)

    @abc.abstractmethod
    def examples(self, x: np.ndarray, y: np.ndarray, w: np.ndarray, gamma: float) -> Examples:
        """What the classifier learns from values at rows, each of which counts `w` times."""

    def design(self, space):
        """The size of the space-filling design."""
        return design_size(space, self.initial)

    def suggest(self, space, seen, state, key):
        """The candidate whose log odds are highest, or a random row."""
        chance, learn, search = split_key(key, 3)
        y = seen.y
        dull = len(y) < 2 or y.min() == y.max()
        if dull or generator(chance).random() < self.epsilon:
            return _anything(space, seen, search)
        gamma = part_after(self.gamma, len(y), self.design(space))
        fitted = self._learn(seen, gamma, state, learn)
        found = maximize(
            LogOdds.of(fitted),
            space,
            search,
            search=self.search,
            budget=self.candidates,
            close_to=_best_rows(seen, fitted),
            avoid=seen.rows,
        )
        if found is None:  # every candidate was called before
            return _anything(space, seen, search)
        learned = {**fitted.state(), "rows": np.asarray(len(y)), "running": seen.running}
        return Suggestion(found.row, learned, {"log_odds": found.value})

    def settings(self):
        """The method's name and settings, as JSON values."""
        from leadline.ratios import classifier_settings

        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        own = {
            "classifier": classifier_settings(self.classifier),
            "gamma": plain_part(self.gamma),
        }
        return {"name": self.name, **fields, **own}

    def _learn(self, seen: Seen, gamma: float, state: Mapping[str, np.ndarray], key: Array) -> Any:
        """The classifier fitted to what has been seen."""
        w = np.ones(len(seen.y))
        if "running" in state:
            known = _known(seen, int(state["rows"]), state["running"])
            w[new_or_flipped(seen.y, gamma, known)] = _NEWS
        x, z, w = self.examples(seen.x, seen.y, w, gamma)
        others = np.concatenate([seen.running, seen.failed])
        x, z = np.concatenate([x, others]), np.append(z, np.zeros(len(others)))
        w = np.append(w, np.ones(len(others)))
        earlier = {name: a for name, a in state.items() if name not in _OWN} or None
        return self.classifier.fit(centered(x), z, w, key=key, state=earlier)


def _anything(space: Space, seen: Seen, key: Array) -> Suggestion | None:
    """A random row; what was learned before stays."""
    row = unseen(space, seen.rows, key)
    return None if row is None else Suggestion(row, {}, {})


def _known(seen: Seen, returned: int, running: np.ndarray) -> np.ndarray:
    """Which calls had returned at an earlier ask: so many, while others were running.

    Calls are in the order in which they began, and not in that in which they returned.
    """
    late = np.zeros(len(seen.y), bool)
    for row in running:
        late |= np.all(seen.x == row, axis=1)
    return ~late & (np.arange(len(seen.y)) < returned + np.count_nonzero(late))


def _best_rows(seen: Seen, fitted: Any) -> np.ndarray:
    """The best calls, the oldest first."""
    count = max(_FEWEST, math.ceil(_BEST * len(seen.y)))
    best = seen.x[among_best(seen.y, count)]
    # An estimate that is a sum of bumps can say where it is highest.
    if hasattr(fitted, "mean_shift"):
        peaks = 0.5 + 0.5 * np.asarray(fitted.mean_shift(centered(best), steps=_SHIFTS))
        best = np.concatenate([best, np.clip(peaks, 0.0, 1.0)])
    return best
