"""Training networks on the weighted log loss, all steps in one compiled program.

Notation: members `m` of an ensemble, weights `theta (m, p)`, labeled rows `x, z, w`, `n` of them
real, batches of `b` rows, logits f.

    loss(theta) = sum_i w_i (softplus(f_i) - z_i f_i) / sum_i w_i + decay / 2 |theta|^2

Up to `b` rows a step takes them all, of more it takes `b` (`_batches`), so that it costs the same
for any n. The sum over a batch is divided by the weight of all rows, and not by its own: then the
gradient has no bias, whatever the weights are.

Networks are trained in single precision, which takes half the time of double precision: a step is
bound by its matrix products and exponentials.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from leadline.boundary import InvalidData
from leadline.ratios._classifier import State
from leadline.ratios._labeled import Labeled
from leadline.ratios._networks._batches import batch_rows, first_places
from leadline.ratios._networks._network import Network

PRECISION = np.float32


class Trained(NamedTuple):
    """Where training has come to: weights, and what Adam knows about their gradients."""

    weights: Float[Any, "m p"]
    mean: Float[Any, "m p"]
    square: Float[Any, "m p"]
    count: Int[Any, ""]


class Plan(NamedTuple):
    """What shapes the program of a training.

    Attributes:
        batch: rows in a step; all of them if None.
        bootstrap: whether each member weighs the rows anew, at random.
        dropout: the probability that a hidden unit is left out of a step.
    """

    batch: int | None
    bootstrap: bool = False
    dropout: float = 0.0


def log_loss(f: Float[Array, " n"], z: Float[Any, " n"], w: Float[Any, " n"]) -> Float[Array, ""]:
    """The weighted log loss at logits, summed over rows."""
    return jnp.sum(w * (jax.nn.softplus(f) - z * f))


@partial(jax.jit, static_argnames=("network", "members", "dtype"))
def begin(network: Network, members: int, key: Array, dtype: Any = PRECISION) -> Trained:
    """Untrained members, each with its own random weights."""
    keys = jax.random.split(_keys(key)[0], members)
    weights = jax.vmap(network.init)(keys).astype(dtype)
    zero = jnp.zeros_like(weights)
    return Trained(weights, zero, zero, jnp.zeros((), jnp.int32))


@partial(jax.jit, static_argnames=("network", "plan"))
def train(
    network: Network,
    plan: Plan,
    start: Trained,
    rows: Labeled,
    n: Any,
    key: Array,
    steps: Any,
    rate: Any,
    decay: Any,
) -> Trained:
    """Adam (Kingma and Ba 2015) from where `start` is.

    Args:
        network: the shape of every member.
        plan: which rows and units a step takes.
        start: from `begin`, or from an earlier training.
        rows: padded labeled rows, in the precision of the weights.
        n: how many rows are real.
        key: of batches, bootstrap weights and dropout.
        steps: how many steps.
        rate: the learning rate.
        decay: the strength of the penalty.
    """
    import optax

    members, dtype = start.weights.shape[0], start.weights.dtype
    adam = optax.scale_by_adam()
    _, for_batches, for_bootstrap, for_dropout = _keys(key)
    weight = jnp.broadcast_to(rows.weight, (members, *rows.weight.shape))
    if plan.bootstrap:
        # Rubin's (1981): no row is ever left out, so no member can miss a class.
        weight = weight * jax.random.exponential(for_bootstrap, weight.shape, dtype)
    total = jnp.sum(weight, axis=1)
    rate, decay = (jnp.asarray(a, dtype) for a in (rate, decay))
    if plan.batch is not None:
        places = first_places(for_batches, (members, plan.batch))

    def batches(step):
        if plan.batch is None:
            x, z = (jnp.broadcast_to(a, (members, *a.shape)) for a in (rows.x, rows.z))
            return x, z, weight / total[:, None]
        i = batch_rows(places, step, n)
        share = (n / plan.batch / total).astype(dtype)
        w = jnp.take_along_axis(weight, i, axis=1) * share[:, None]
        return rows.x[i], rows.z[i], w

    def kept(key, size):
        if plan.dropout == 0.0:
            return None
        keys = jax.random.split(key, len(network.sizes) - 2)
        return [
            jax.random.bernoulli(k, 1.0 - plan.dropout, (size, h)).astype(dtype)
            / (1.0 - plan.dropout)
            for k, h in zip(keys, network.sizes[1:-1], strict=True)
        ]

    def loss(theta, x, z, w, key):
        f = network.apply(theta, x, kept(key, x.shape[0]))
        return log_loss(f, z, w) + 0.5 * decay * jnp.sum(theta**2)

    def turn(step, carry):
        theta, state = carry
        keys = jax.random.split(jax.random.fold_in(for_dropout, step), members)
        gradient = jax.vmap(jax.grad(loss))(theta, *batches(step), keys)
        update, state = adam.update(gradient, state)
        return theta - rate * update, state

    first = optax.ScaleByAdamState(count=start.count, mu=start.mean, nu=start.square)
    theta, state = jax.lax.fori_loop(0, steps, turn, (start.weights, first))
    return Trained(theta, state.mu, state.nu, state.count)


def _keys(key: Array) -> Array:
    """Keys of the first weights, of batches, of bootstrap weights and of dropout.

    They are derived inside the programs: eagerly that would take a tenth of a small fit's time.
    """
    return jax.random.split(key, 4)


def as_trained(state: State, network: Network, members: int) -> Trained:
    """What an earlier fit has left, or an error if it was of another network."""
    missing = [name for name in Trained._fields if name not in state]
    if missing:
        raise InvalidData(f"state of a network must have {missing}, got {sorted(state)}.")
    found = Trained(*(np.asarray(state[name]) for name in Trained._fields))
    wanted = (members, network.size)
    if found.weights.shape != wanted:
        raise InvalidData(
            f"state is of {found.weights.shape} weights (members, weights of each), but a network "
            f"of {network.sizes} units has {wanted}."
        )
    return found
