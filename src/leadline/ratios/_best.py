"""The classifier that predicts best, by the log loss on rows that are held out.

The log loss is a proper score: whichever classifier has the lowest knows the class probabilities,
and so the ratio, best. Networks need it most: on few rows one without a penalty separates what
cannot be separated, and its ratio is wrong by orders of magnitude.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import jax
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData
from leadline.numerics import generator
from leadline.ratios._classifier import Classifier, FittedClassifier
from leadline.ratios._folds import folds_of
from leadline.ratios._labeled import Labeled, as_labeled


@dataclasses.dataclass(frozen=True)
class Best(Classifier):
    """The one of several classifiers with the lowest held-out log loss, then fitted to all rows.

    Attributes:
        classifiers: to choose from; of equals, the first.
        folds: how many times a part of the rows is held out.
    """

    name: ClassVar[str] = "best"

    classifiers: tuple[Any, ...]
    folds: int = 3

    def __post_init__(self):
        object.__setattr__(self, "classifiers", tuple(self.classifiers))
        if not self.classifiers or not all(isinstance(c, Classifier) for c in self.classifiers):
            raise InvalidData(
                f"classifiers must be classifiers of leadline.ratios, got {self.classifiers!r}. "
                "`as_classifier` makes one of a name or of a scikit-learn classifier."
            )
        if self.folds < 2:
            raise InvalidData(f"folds must be at least 2, got {self.folds}.")

    def fit(self, x, z, weight=None, *, key, state=None) -> FittedClassifier:
        """Choose, and fit the choice to all rows."""
        choosing, fitting = jax.random.split(key)
        return self.choose(x, z, weight, key=choosing).fit(x, z, weight, key=fitting)

    def choose(self, x: Any, z: Any, weight: Any = None, *, key: Array) -> Classifier:
        """The one with the lowest held-out log loss; the first if nothing can be held out."""
        data = as_labeled(x, z, weight)
        counts = [int(np.sum((data.weight > 0) & (data.z == label))) for label in (0, 1)]
        folds = min(self.folds, *counts)
        if folds < 2 or len(self.classifiers) == 1:
            return self.classifiers[0]
        fold = _stratified(data, folds, generator(key))

        def loss(classifier: Classifier) -> float:
            return sum(_held_out(classifier, data, fold == k, key) for k in range(folds))

        return min(self.classifiers, key=loss)


def _stratified(data: Labeled, folds: int, rng: np.random.Generator) -> np.ndarray:
    """Folds in which both labels are as frequent as in the data, among rows that count."""
    fold = np.zeros(len(data.z), dtype=int)
    for label in (0, 1):
        for counts in (True, False):
            rows = np.flatnonzero((data.z == label) & ((data.weight > 0) == counts))
            fold[rows] = folds_of(len(rows), folds, rng)
    return fold


def _held_out(classifier: Classifier, data: Labeled, held: np.ndarray, key: Array) -> float:
    x, z, weight = (a[~held] for a in data)
    f = np.asarray(classifier.fit(x, z, weight, key=key).logits(data.x[held]))
    loss: Float[np.ndarray, " n"] = np.logaddexp(0.0, f) - data.z[held] * f
    return float(data.weight[held] @ loss)
