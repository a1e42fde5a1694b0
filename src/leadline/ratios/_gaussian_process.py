"""A Gaussian process as a classifier, through Laplace's approximation.

Notation: rows `x (n, d)`; the log odds are a Gaussian process with a Matern-5/2 kernel, which has a
length scale for each column, and a constant mean.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData
from leadline.kernels import Matern52
from leadline.models import LaplaceClassifier, Posterior
from leadline.numerics import free_slots, from_free, generator, to_free
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._labeled import as_labeled

# A latent function that is worth a classifier takes probabilities to about 0.02 and 0.98.
_VARIANCE = 4.0


@dataclasses.dataclass(frozen=True)
class GaussianProcess(Classifier):
    """`leadline.models.LaplaceClassifier`, whose hyper-parameters every fit learns.

    A fit from an earlier one's state searches only from there. A fit costs O(n^3): for more than
    about a thousand rows another classifier is the better choice.
    """

    name: ClassVar[str] = "gp"

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedGaussianProcess:
        """Learn hyper-parameters, and condition on the labels."""
        x, z, weight = as_labeled(x, z, weight).counted()
        gp = LaplaceClassifier(_VARIANCE * Matern52([1.0] * x.shape[1]))
        if state:
            gp = _continued(gp, state)
        seed = int(generator(key).integers(2**31))
        restarts = 1 if state else None
        return FittedGaussianProcess(gp.fit(x, z, weight, restarts=restarts, seed=seed))


class FittedGaussianProcess(FittedClassifier):
    """A latent function given labels.

    Attributes:
        posterior: its law; `posterior.probability(x)` is averaged over it.
    """

    posterior: Posterior

    def logits(self, x: Any) -> Float[Any, " n"]:
        """The log odds of the mean probability of label 1."""
        return self.posterior.logits(x)

    def state(self) -> State:
        """The hyper-parameters, in free coordinates."""
        return {"hyper_parameters": np.asarray(to_free(self.posterior.gp))}


def _continued(gp: LaplaceClassifier, state: State) -> LaplaceClassifier:
    if "hyper_parameters" not in state:
        raise InvalidData(
            f"state of a Gaussian process must have 'hyper_parameters', got {sorted(state)}."
        )
    u = np.asarray(state["hyper_parameters"], np.float64)
    wanted = sum(np.size(slot.get(gp)) for slot in free_slots(gp))
    if u.shape != (wanted,):
        raise InvalidData(
            f"state has {u.size} hyper-parameters, but for these rows there are {wanted}."
        )
    return from_free(gp, u)
