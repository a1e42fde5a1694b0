"""The marginal class posterior by Laplace's approximation of a network's last layer.

Notation: `phi(x) (h + 1,)` the last hidden layer and a 1, so that f = phi(x)^T u with the last
layer's weights and bias u; prior u ~ N(0, I / precision); rows `x_i`, labels z_i, weights w_i,
p_i = sigmoid(phi_i^T u).

    u*      = argmax  sum_i w_i log p(z_i | phi_i^T u) - precision / 2 |u|^2
    H       = precision I + sum_i w_i p_i (1 - p_i) phi_i phi_i^T  at u*
    f(x)    ~ N(phi(x)^T u*, phi(x)^T H^-1 phi(x)),      pi(x) = E[sigmoid(f(x))]

Training gives the hidden layers (Daxberger et al. 2021, section 4.1). The last layer is then taken
to its mode by Newton's method: given the others it is a logistic regression, and an approximation
at the mode has to be at the mode. Without hidden layers this is Bayesian logistic regression.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import is_traced
from leadline.models import averaged_log_odds
from leadline.numerics import cholesky, solve_factored, solve_lower
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._labeled import Labeled, as_labeled
from leadline.ratios._networks._mlp import MLP, FittedMLP, require_network
from leadline.ratios._networks._network import Network
from leadline.ratios._networks._training import log_loss
from leadline.ratios._queries import answer

_TOLERANCE, _MOST_STEPS, _SHORTEST = 1e-12, 100, 1e-9


@dataclasses.dataclass(frozen=True)
class Laplace(Classifier):
    """A network with a normal law of its last layer.

    Attributes:
        network: the network and its training; of one member. The prior is its penalty.
        precision: of the prior on every weight, one over its variance.
    """

    name: ClassVar[str] = "laplace"

    network: Any = dataclasses.field(default_factory=MLP)
    precision: float = 1.0

    def __post_init__(self):
        require_network(self.network, self.precision)

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedLaplace:
        """Train the network, and approximate the posterior of its last layer."""
        data = as_labeled(x, z, weight)
        decay = self.precision / float(np.sum(data.weight))
        fitted = self.network.trained(*data, key=key, state=state, decay=decay)
        weights = fitted.trained.weights[0]
        last = _last_layer_jit(fitted.network, weights, data.padded(), self.precision)
        return FittedLaplace(fitted, jax.device_get(last))


class LastLayer(NamedTuple):
    """The mode of the last layer's weights and bias, and the lower factor of H there."""

    mode: Float[Any, " k"]
    factor: Float[Any, "k k"]


class FittedLaplace(FittedClassifier):
    """Hidden layers of a trained network, and a normal law of the last one."""

    fitted: FittedMLP
    last: LastLayer

    def logits(self, x: Any) -> Float[Array | np.ndarray, " n"]:
        """The log odds of the mean probability of label 1."""
        network, weights = self.fitted.network, self.fitted.trained.weights[0]
        if is_traced(self, x):
            return _averaged(network, weights, self.last, x)
        return answer(
            lambda rows: _averaged_jit(network, weights, self.last, rows), x, network.sizes[0]
        )

    def state(self) -> State:
        """The network's."""
        return self.fitted.state()


def _features(network: Network, weights: Any, x: Any) -> Array:
    phi = network.features(jnp.asarray(weights), x)
    return jnp.concatenate([phi, jnp.ones((phi.shape[0], 1))], axis=1)


def _last_layer(network: Network, weights: Any, rows: Labeled, precision: Any) -> LastLayer:
    phi = _features(network, weights, rows.x)
    size = phi.shape[1]

    def loss(u):
        return log_loss(phi @ u, rows.z, rows.weight) + 0.5 * precision * jnp.sum(u**2)

    def curvature(u):
        p = jax.nn.sigmoid(phi @ u)
        scaled = phi * (rows.weight * p * jax.nn.sigmoid(-(phi @ u)))[:, None]
        return cholesky(precision * jnp.eye(size) + phi.T @ scaled)

    def turn(carry):
        u, count, _ = carry
        gradient = jax.grad(loss)(u)
        step = solve_factored(curvature(u), gradient)
        now = loss(u)

        def too_long(t):
            return ~(loss(u - t * step) <= now) & (t > _SHORTEST)

        t = jax.lax.while_loop(too_long, lambda t: 0.5 * t, jnp.ones(()))
        done = gradient @ step <= _TOLERANCE * (1.0 + jnp.abs(now))
        return u - t * step, count + 1, done

    start = jnp.asarray(weights[-size:], phi.dtype)
    ends = jax.lax.while_loop(
        lambda carry: ~carry[2] & (carry[1] < _MOST_STEPS),
        turn,
        (start, jnp.asarray(0), jnp.asarray(False)),
    )
    return LastLayer(ends[0], curvature(ends[0]))


def _averaged(network: Network, weights: Any, last: LastLayer, x: Any) -> Array:
    phi = _features(network, weights, x)
    spread = solve_lower(jnp.asarray(last.factor), phi.T)
    return averaged_log_odds(phi @ last.mode, jnp.sum(spread**2, axis=0))


_last_layer_jit = jax.jit(_last_layer, static_argnums=0)
_averaged_jit = jax.jit(_averaged, static_argnums=0)
