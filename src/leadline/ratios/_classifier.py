"""The contract of a classifier: from labeled rows to the log odds of the label 1.

Notation: rows `x (n, d)`, labels `z (n,)` 0 or 1, weights `w (n,)` that say how often a row counts.
A fitted classifier says `logits(x) = log p(z = 1 | x) / p(z = 0 | x)`, where the classes are as
frequent as their weights make them.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

State = Mapping[str, np.ndarray]


class FittedClassifier(eqx.Module):
    """What a classifier has learned.

    Attributes:
        traceable: whether `logits` is a JAX program, which then has gradients.
    """

    traceable: ClassVar[bool] = True

    @abc.abstractmethod
    def logits(self, x: Float[Any, "n d"]) -> Float[Any, " n"]:
        """The log odds of the label 1."""

    def state(self) -> State:
        """Arrays that a later fit may start from; none if it starts anew each time."""
        return {}


@dataclasses.dataclass(frozen=True)
class Classifier(abc.ABC):
    """How log odds are learned from labeled rows. Immutable: what is learned is what `fit` gives.

    Attributes:
        name: what users call it.
    """

    name: ClassVar[str]

    @abc.abstractmethod
    def fit(
        self,
        x: Float[np.ndarray, "n d"],
        z: Float[np.ndarray, " n"],
        weight: Float[np.ndarray, " n"] | None = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedClassifier:
        """Learn from labeled rows.

        Args:
            x: rows, of similar size in every column.
            z: labels, 0 or 1; both must occur.
            weight: how often each row counts, not negative; once if None.
            key: of all that is random.
            state: what an earlier fit on similar data has left, to start from.
        """
