"""The marginal class posterior by dropout: the mean over networks that lack some of their units.

Notation: `r_s` random masks of the hidden units, s = 1..draws, each unit kept with probability
1 - rate and then divided by that.

    pi(x) = 1/draws sum_s sigmoid(f(x; theta, r_s))

Training leaves out other units for every row and step; the masks of the mean are drawn once for a
fit and are the same for all rows, so that it is a function, and a smooth one (Gal and Ghahramani
2016, whose masks are new at every row).
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, is_traced
from leadline.numerics import generator
from leadline.ratios._average import averaged_logits
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._networks._mlp import MLP, FittedMLP, require_network
from leadline.ratios._networks._network import Network
from leadline.ratios._queries import answer


@dataclasses.dataclass(frozen=True)
class Dropout(Classifier):
    """A network that is trained, and asked, without some of its units.

    Attributes:
        network: the network and its training; of one member.
        rate: the probability that a hidden unit is left out.
        draws: how many networks the mean is over.
    """

    name: ClassVar[str] = "dropout"

    network: Any = dataclasses.field(default_factory=MLP)
    rate: float = 0.1
    draws: int = 32

    def __post_init__(self):
        require_network(self.network)
        if not 0.0 <= self.rate < 1.0:
            raise InvalidData(f"rate must be at least 0 and less than 1, got {self.rate}.")
        if self.draws < 1:
            raise InvalidData(f"draws must be at least 1, got {self.draws}.")

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedDropout:
        """Train with dropout, and draw the masks."""
        fitted = self.network.trained(x, z, weight, key=key, state=state, dropout=self.rate)
        random = generator(jax.random.fold_in(key, 1))
        masks = tuple(
            (random.uniform(size=(self.draws, h)) >= self.rate) / (1.0 - self.rate)
            for h in fitted.network.sizes[1:-1]
        )
        return FittedDropout(fitted, masks)


class FittedDropout(FittedClassifier):
    """A trained network, and masks of its hidden units.

    Attributes:
        fitted: the network.
        masks: one for each hidden layer, `(draws, units)`.
    """

    fitted: FittedMLP
    masks: tuple[Float[Any, "draws h"], ...]

    def logits(self, x: Any) -> Float[Array | np.ndarray, " n"]:
        """The log odds of the mean probability of label 1 over masks."""
        network, weights = self.fitted.network, self.fitted.trained.weights[0]
        if is_traced(self, x):
            return _masked_logits(network, weights, self.masks, x)
        return answer(
            lambda rows: _masked_logits_jit(network, weights, self.masks, rows), x, network.sizes[0]
        )

    def state(self) -> State:
        """The network's."""
        return self.fitted.state()


def _masked_logits(network: Network, weights: Any, masks: Any, x: Any) -> Array:
    weights = jnp.asarray(weights)
    if not masks:
        return network.apply(weights, x)
    return averaged_logits(jax.vmap(lambda keep: network.apply(weights, x, keep))(masks))


_masked_logits_jit = jax.jit(_masked_logits, static_argnums=0)
