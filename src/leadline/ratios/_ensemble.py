"""The marginal class posterior by an ensemble: any classifier, fitted several times.

Notation: fits `f_s`, s = 1..m, with other keys and, by bootstrap, other weights of the rows.

    pi(x) = 1/m sum_s sigmoid(f_s(x))      (Tiao 2023, section 5.G)

For networks `MLP(members=m)` is the same, in one program.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import jax
from jaxtyping import Array, Float

from leadline.boundary import InvalidData
from leadline.numerics import generator
from leadline.ratios._average import averaged_logits, stacked
from leadline.ratios._choices import as_classifier
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._labeled import as_labeled


@dataclasses.dataclass(frozen=True)
class Ensemble(Classifier):
    """The mean probability of several fits of a classifier.

    Attributes:
        classifier: the classifier, or what `as_classifier` makes one of.
        members: how many fits.
        bootstrap: whether each fit weighs the rows anew, at random (Rubin 1981); without it, the
            fits differ by their keys only, and those of a classifier without chance not at all.
    """

    name: ClassVar[str] = "ensemble"

    classifier: Any
    members: int = 5
    bootstrap: bool = True

    def __post_init__(self):
        object.__setattr__(self, "classifier", as_classifier(self.classifier))
        if self.members < 1:
            raise InvalidData(f"members must be at least 1, got {self.members}.")

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedEnsemble:
        """Fit every member."""
        x, z, weight = as_labeled(x, z, weight)
        found = []
        for s in range(self.members):
            own = jax.random.fold_in(key, s)
            w = weight * generator(own).exponential(size=weight.size) if self.bootstrap else weight
            found.append(self.classifier.fit(x, z, w, key=own, state=_part(state, s)))
        return FittedEnsemble(tuple(found))


class FittedEnsemble(FittedClassifier):
    """Fitted classifiers whose probabilities are averaged."""

    members: tuple[FittedClassifier, ...]

    @property
    def traceable(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether all members are."""
        return all(member.traceable for member in self.members)

    def logits(self, x: Any) -> Float[Any, " n"]:
        """The log odds of the mean probability of label 1."""
        return averaged_logits(stacked([member.logits(x) for member in self.members]))

    def state(self) -> State:
        """The states of the members."""
        return {
            f"{s}/{name}": a
            for s, member in enumerate(self.members)
            for name, a in member.state().items()
        }


def _part(state: State | None, member: int) -> State | None:
    if not state:
        return None
    start = f"{member}/"
    found = {name[len(start) :]: a for name, a in state.items() if name.startswith(start)}
    if not found:
        raise InvalidData(f"state has nothing of member {member}: it is of fewer members.")
    return found
