"""A neural network as a classifier, or an ensemble of them.

Notation: members `f_s`, s = 1..m, each a network from rows `x (n, d)` to log odds.

    pi(x) = 1/m sum_s sigmoid(f_s(x)),      logits = log pi - log (1 - pi)

Two hidden layers of 32 units, `elu`, batches of 64 rows and 100 steps per fit are Tiao's (2023,
section 5.E.3). The learning rate is not stated there: with Adam's usual 0.001, a hundred steps from
random weights are too few.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_choice, is_traced
from leadline.ratios._average import averaged_logits
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._labeled import as_labeled
from leadline.ratios._networks._network import ACTIVATIONS, Network
from leadline.ratios._networks._training import PRECISION, Plan, Trained, as_trained, begin, train
from leadline.ratios._queries import answer


@dataclasses.dataclass(frozen=True)
class MLP(Classifier):
    """A fully connected network, trained by Adam on the weighted log loss.

    Attributes:
        hidden: units of each hidden layer; with none it is a logistic regression.
        activation: "elu", "relu", "sigmoid", "softplus", "swish" or "tanh".
        steps: of Adam, in every fit.
        batch: the most rows that a step looks at.
        learning_rate: of Adam.
        members: how many networks; their probabilities are averaged.
        bootstrap: whether each member weighs the rows anew, at random, in every fit.
        decay: the strength of the penalty decay / 2 |weights|^2 on the mean log loss.
    """

    name: ClassVar[str] = "mlp"

    hidden: tuple[int, ...] = (32, 32)
    activation: str = "elu"
    steps: int = 100
    batch: int = 64
    learning_rate: float = 1e-2
    members: int = 1
    bootstrap: bool = False
    decay: float = 0.0

    def __post_init__(self):
        as_choice(self.activation, tuple(ACTIVATIONS), "activation")
        # A list is as good, but could not be part of a compiled program's name.
        object.__setattr__(self, "hidden", tuple(int(h) for h in self.hidden))
        if any(h < 1 for h in self.hidden):
            raise InvalidData(f"hidden must be positive numbers of units, got {self.hidden}.")
        for setting in ("steps", "batch", "members"):
            if getattr(self, setting) < 1:
                raise InvalidData(f"{setting} must be at least 1, got {getattr(self, setting)}.")
        if not self.learning_rate > 0:
            raise InvalidData(f"learning_rate must be positive, got {self.learning_rate}.")
        if not self.decay >= 0:
            raise InvalidData(f"decay must not be negative, got {self.decay}.")

    def network(self, columns: int) -> Network:
        """The network for rows of so many columns."""
        return Network((columns, *self.hidden, 1), self.activation)

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedMLP:
        """Train for `steps` steps, from random weights or from where an earlier fit has come to."""
        return self.trained(x, z, weight, key=key, state=state)

    def trained(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
        decay: float | None = None,
        dropout: float = 0.0,
    ) -> FittedMLP:
        """`fit`, with another penalty, or with units that are left out at random."""
        data = as_labeled(x, z, weight)
        n, columns = data.x.shape
        network = self.network(columns)
        if state:
            start = as_trained(state, network, self.members)
        else:
            start = begin(network, self.members, key)
        plan = Plan(None if n <= self.batch else self.batch, self.bootstrap, dropout)
        numbers = (self.steps, self.learning_rate, self.decay if decay is None else decay)
        # Only shares of the weight matter, and in single precision their unit must not be far off.
        rows = data._replace(weight=data.weight / np.mean(data.weight)).padded(PRECISION)
        end = jax.device_get(train(network, plan, start, rows, n, key, *numbers))
        if not (np.isfinite(end.weights).all() and np.isfinite(end.square).all()):
            raise InvalidData(
                f"The network's training has diverged. Rows as large as {np.abs(data.x).max():.3g} "
                "must be scaled, to about 1 in every column, or the learning rate is too large."
            )
        return FittedMLP(network, end)


class FittedMLP(FittedClassifier):
    """Trained networks.

    Attributes:
        network: their shape.
        trained: the weights `(members, p)`, and what Adam knows about their gradients.
    """

    network: Network = eqx.field(static=True)
    trained: Trained

    def logits(self, x: Any) -> Float[Array | np.ndarray, " n"]:
        """The log odds of the mean probability of label 1 over members."""
        return network_logits(self.network, self.trained.weights, x)

    def state(self) -> State:
        """The weights and Adam's moments: a later fit goes on from there."""
        return {name: np.asarray(a) for name, a in self.trained._asdict().items()}


def network_logits(
    network: Network, weights: Float[Any, "m p"], x: Any
) -> Float[Array | np.ndarray, " n"]:
    """The log odds of the mean probability over networks of the same shape, traced or not."""
    if is_traced(weights, x):
        return _logits(network, weights, x)
    return answer(lambda rows: _logits_jit(network, weights, rows), x, network.sizes[0])


def _logits(
    network: Network, weights: Float[Any, "m p"], x: Float[Any, "n d"]
) -> Float[Array, " n"]:
    weights = jnp.asarray(weights)
    return averaged_logits(jax.vmap(network.apply, in_axes=(0, None))(weights, x))


def require_network(network: Any, precision: float | None = None) -> None:
    """An error unless it is one network and, with a prior, has no other penalty."""
    if not isinstance(network, MLP):
        raise InvalidData(f"network must be an MLP, got {network!r}.")
    if network.members != 1:
        raise InvalidData(f"network must have one member, got {network.members}.")
    if precision is None:
        return
    if not precision > 0:
        raise InvalidData(f"precision must be positive, got {precision}.")
    if network.decay != 0:
        raise InvalidData(
            f"network must have decay=0, got {network.decay}: the prior is the penalty."
        )


_logits_jit = jax.jit(_logits, static_argnums=0)
