"""The marginal class posterior by stochastic gradient Hamiltonian Monte Carlo (BlackJAX).

Notation: weights `theta (p,)` of a network, prior N(0, I / precision), labeled rows; step size h
and friction a of the sampler, which draws momenta anew every `TURN` steps.

    log p(theta | data) = -sum_i w_i (softplus(f_i) - z_i f_i) - precision / 2 |theta|^2 + const
    pi(x)               = 1/draws sum_s sigmoid(f(x; theta_s))

A step has to be short beside the smallest deviation of the posterior, which its largest curvature
gives. By Gauss and Newton that is at most L, the largest eigenvalue of the matrix
precision I + J^T diag(w_i / 4) J with the network's Jacobian J, since sigmoid' is at most 1/4:

    h = step / sqrt(L),   a = 0.1 / h      (Chen, Fox and Guestrin 2014, section 3.2)

Nothing is ever rejected. The variance along the stiffest direction is too large by at most a share
of about step^2 / 0.2, and batches add noise of their own.
"""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._labeled import Labeled, as_labeled
from leadline.ratios._networks._batches import batch_rows, first_places
from leadline.ratios._networks._mlp import MLP, FittedMLP, network_logits, require_network
from leadline.ratios._networks._network import Network
from leadline.ratios._networks._training import log_loss

TURN = 10

_FRICTION = 0.1
_POWER_STEPS = 20
_LEAST = 1e-300  # the rows of a batch may all be without weight


@dataclasses.dataclass(frozen=True)
class SGHMC(Classifier):
    """Networks that are drawn from their posterior, beginning at a trained one.

    Attributes:
        network: the network and its training; of one member. Its `batch` is the sampler's too.
        precision: of the prior on every weight, one over its variance.
        draws: how many networks are kept.
        gap: steps between two that are kept.
        burn: steps before the first.
        step: the step size, in units of the smallest deviation that the posterior may have.
    """

    name: ClassVar[str] = "sghmc"

    network: Any = dataclasses.field(default_factory=MLP)
    precision: float = 1.0
    draws: int = 32
    gap: int = 100
    burn: int = 500
    step: float = 0.1

    def __post_init__(self):
        require_network(self.network, self.precision)
        for setting in ("draws", "gap", "burn"):
            if getattr(self, setting) < 1:
                raise InvalidData(f"{setting} must be at least 1, got {getattr(self, setting)}.")
        if not self.step > 0:
            raise InvalidData(f"step must be positive, got {self.step}.")

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedSGHMC:
        """Train the network, and draw from its posterior."""
        data = as_labeled(x, z, weight)
        n, decay = data.z.size, self.precision / float(np.sum(data.weight))
        fitted = self.network.trained(*data, key=key, state=state, decay=decay)
        draws = _sample(
            fitted.network,
            None if n <= self.network.batch else self.network.batch,
            self.draws,
            fitted.trained.weights[0].astype(np.float64),
            data.padded(),
            n,
            jax.random.fold_in(key, 1),
            -(-self.gap // TURN),
            -(-self.burn // TURN),
            self.step,
            self.precision,
        )
        draws = jax.device_get(draws)
        if not np.isfinite(draws).all():
            raise InvalidData(f"The sampler has diverged: steps of {self.step} are too large.")
        return FittedSGHMC(fitted, draws)


class FittedSGHMC(FittedClassifier):
    """A trained network, and draws of its weights `(draws, p)`."""

    fitted: FittedMLP
    draws: Float[Any, "draws p"]

    def logits(self, x: Any) -> Float[Array | np.ndarray, " n"]:
        """The log odds of the mean probability of label 1 over draws."""
        return network_logits(self.fitted.network, self.draws, x)

    def state(self) -> State:
        """The trained network's."""
        return self.fitted.state()


@partial(jax.jit, static_argnames=("network", "batch", "draws"))
def _sample(
    network: Network,
    batch: int | None,
    draws: int,
    start: Any,
    rows: Labeled,
    n: Any,
    key: Array,
    gap: Any,
    burn: Any,
    step: Any,
    precision: Any,
) -> Float[Array, "draws p"]:
    """Draws of the weights; `gap` and `burn` count turns."""
    from blackjax.sgmcmc import sghmc

    start = jnp.asarray(start)
    for_places, for_power, for_turns = jax.random.split(key, 3)
    places = None if batch is None else first_places(for_places, (batch,))

    def batch_at(turn):
        if places is None or batch is None:
            return rows
        x, z, w = (a[batch_rows(places, turn, n)] for a in rows)
        return Labeled(x, z, n / batch * w)

    def gradient(theta, turn):
        def log_posterior(theta):
            x, z, w = batch_at(turn)
            return -log_loss(network.apply(theta, x), z, w) - 0.5 * precision * jnp.sum(theta**2)

        return jax.grad(log_posterior)(theta)

    first = jax.random.normal(for_power, start.shape)
    h = step / jnp.sqrt(precision + _curvature(network, start, batch_at(0), first))
    kernel = sghmc.build_kernel(alpha=_FRICTION / h)

    def turns(theta, first, count):
        def turn(i, theta):
            here = jax.random.fold_in(for_turns, i)
            return kernel(here, theta, gradient, i, h, TURN)

        return jax.lax.fori_loop(first, first + count, turn, theta)

    def keep(theta, s):
        theta = turns(theta, burn + s * gap, gap)
        return theta, theta

    return jax.lax.scan(keep, turns(start, 0, burn), jnp.arange(draws))[1]


def _curvature(network: Network, theta: Array, rows: Labeled, v: Array) -> Float[Array, ""]:
    """The largest eigenvalue of J^T diag(w / 4) J, by the power method from v."""
    f, forward = jax.linearize(lambda theta: network.apply(theta, rows.x), theta)
    backward = jax.linear_transpose(forward, theta)

    def turn(_, carry):
        v, _ = carry
        (u,) = backward(0.25 * rows.weight * forward(v))
        size = jnp.linalg.norm(u)
        return u / jnp.maximum(size, _LEAST), size

    start = (v / jnp.linalg.norm(v), jnp.zeros((), f.dtype))
    return jax.lax.fori_loop(0, _POWER_STEPS, turn, start)[1]
