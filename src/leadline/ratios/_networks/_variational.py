"""Networks fitted by the variational bound of an f-divergence itself.

Notation: a network f from rows to numbers, g = c tanh(f / c) its log ratio; T1, T2 of a generator.

    maximize  E_numerator T1(g) - E_denominator T2(g)      (Tiao 2023, eq. 2.10)

The bound of "gan" or "js" is the log loss of a classifier on balanced data. Those of "kl" and
"pearson" have exponentials of g under the denominator, whose gradients have no bound: g has one
instead, and so has the size of a step's gradient. Fitting by the log loss and plugging the ratio
into another divergence is the better way (Tiao 2023, section 4.5), and what `divergence` does
unless told otherwise.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_choice, is_traced
from leadline.numerics import bucket, pad_rows
from leadline.ratios._classifier import Classifier, FittedClassifier
from leadline.ratios._generators import GENERATORS, as_generator
from leadline.ratios._networks._network import ACTIVATIONS, Network
from leadline.ratios._queries import answer
from leadline.ratios._two_samples import two_samples

_LARGEST = 20.0
_GRADIENT = 1.0


@dataclasses.dataclass(frozen=True)
class Variational(Classifier):
    """A network that maximizes the variational bound of a divergence.

    Attributes:
        objective: the generator of the divergence: "kl", "reverse_kl", "gan", "js", "pearson" or
            "hellinger".
        hidden: units of each hidden layer.
        activation: as in `MLP`.
        steps: of Adam.
        batch: rows of either sample in a step.
        learning_rate: of Adam at the start; it falls to zero along a half cosine.
        decay: the strength of the penalty decay / 2 |weights|^2.
    """

    name: ClassVar[str] = "variational"

    objective: str = "js"
    hidden: tuple[int, ...] = (32, 32, 32)
    activation: str = "elu"
    steps: int = 500
    batch: int = 128
    learning_rate: float = 1e-2
    decay: float = 0.0

    def __post_init__(self):
        as_generator(self.objective, "objective")
        as_choice(self.activation, tuple(ACTIVATIONS), "activation")
        object.__setattr__(self, "hidden", tuple(int(h) for h in self.hidden))
        for setting in ("steps", "batch"):
            if getattr(self, setting) < 1:
                raise InvalidData(f"{setting} must be at least 1, got {getattr(self, setting)}.")
        if not self.learning_rate > 0:
            raise InvalidData(f"learning_rate must be positive, got {self.learning_rate}.")
        if not self.decay >= 0:
            raise InvalidData(f"decay must not be negative, got {self.decay}.")

    def fit(self, x, z, weight=None, *, key, state=None) -> FittedVariational:
        """Learn from labeled rows: those of label 1 are the numerator's."""
        samples = two_samples(x, z, weight)
        network = Network((samples.numerator.shape[1], *self.hidden, 1), self.activation)
        top = _as_sample(samples.numerator, samples.numerator_weight)
        bottom = _as_sample(samples.denominator, samples.denominator_weight)
        numbers = np.float64(self.learning_rate), np.int64(self.steps), np.float64(self.decay)
        theta = _train(network, self.objective, self.batch, top, bottom, *numbers, key)
        return FittedVariational(network, np.asarray(theta), np.float64(samples.log_prior_odds))


class FittedVariational(FittedClassifier):
    """A network whose output is a log ratio.

    Attributes:
        network: its shape.
        weights: its weights (p,).
        log_prior_odds: what log odds have and log ratios do not.
    """

    network: Network = eqx.field(static=True)
    weights: Float[Any, " p"]
    log_prior_odds: Float[Any, ""]

    def logits(self, x: Any) -> Float[Array | np.ndarray, " n"]:
        """The log odds of the label 1."""
        if is_traced(self, x):
            return _logits(self, x)
        return answer(lambda rows: _logits_jit(self, rows), x, self.network.sizes[0])


class _Sample(NamedTuple):
    """Padded rows, and the total weight of each and those before it."""

    rows: Float[Any, "n d"]
    cumulative: Float[Any, " n"]

    def draw(self, key: Array, size: int) -> Float[Array, "b d"]:
        """Rows in proportion to their weights, one from each of `size` parts of equal weight."""
        u = (jnp.arange(size) + jax.random.uniform(key, (size,))) / size
        return self.rows[jnp.searchsorted(self.cumulative, u, side="right")]


def _as_sample(rows: np.ndarray, weight: np.ndarray) -> _Sample:
    n = len(rows)
    cumulative = np.ones(bucket(n))
    # The last sum stays 1 whatever rounding made of it: no padded row is ever drawn.
    cumulative[: n - 1] = np.cumsum(weight)[:-1]
    return _Sample(pad_rows(rows, bucket(n)), cumulative)


def _log_ratio(network: Network, theta: Array, x: Array) -> Array:
    return _LARGEST * jnp.tanh(network.apply(theta, x) / _LARGEST)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _train(
    network: Network,
    objective: str,
    batch: int,
    top: _Sample,
    bottom: _Sample,
    rate: Array,
    steps: Array,
    decay: Array,
    key: Array,
) -> Float[Array, " p"]:
    """Adam on the bound with its sign changed, all steps in one program."""
    generator = GENERATORS[objective]
    first, rest = jax.random.split(key)
    # The gradient is limited, not its sum over steps, so one far row cannot undo many steps.
    adam = optax.chain(optax.clip_by_global_norm(_GRADIENT), optax.scale_by_adam())

    def loss(theta: Array, key: Array) -> Array:
        k, k_ = jax.random.split(key)
        g = _log_ratio(network, theta, top.draw(k, batch))
        g_ = _log_ratio(network, theta, bottom.draw(k_, batch))
        return 0.5 * decay * jnp.sum(theta**2) - generator.bound(g, g_)

    def turn(i: Any, carry: Any) -> Any:
        theta, state = carry
        update: Any = jax.grad(loss)(theta, jax.random.fold_in(rest, i))
        update, state = adam.update(update, state)
        falling = 0.5 * rate * (1.0 + jnp.cos(jnp.pi * i / steps))
        return theta - falling * update, state

    theta = network.init(first)
    return jax.lax.fori_loop(0, steps, turn, (theta, adam.init(theta)))[0]


def _logits(fitted: FittedVariational, x: Any) -> Array:
    weights = jnp.asarray(fitted.weights)
    return _log_ratio(fitted.network, weights, x) + fitted.log_prior_odds


_logits_jit = eqx.filter_jit(_logits)
