"""Training an implicit model: judges and players take turns, in one compiled program.

Notation: step i of T; each draws a batch of b rows of x and, independently, of z; the key of a step
is `fold_in(key, i)`, so that how steps are grouped changes nothing. The learning rates are constant
for the first half of the steps and then fall linearly to zero, as Zhu et al. (2017) have it.

Every so many steps the judges are tried on rows held out from training. A judge with too few rows
learns them by heart, and then misleads the players. It is *overfitted* if it loses there more than
in training, and more than one that says the same of everything, by a tenth and two standard errors;
after `patience` such checks in a row training ends, with the networks of the last check before.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from leadline.boundary import open_progress
from leadline.implicit._networks import Networks
from leadline.implicit._objective import (
    UNINFORMED,
    Objective,
    Terms,
    Verdicts,
    player_terms,
    ratio_losses,
)

# There are so many checks, unless that makes them fewer steps apart than the second number.
_CHECKS, _APART = 50, 20
# A judge that has little to say is a little worse than one that says nothing: it lags behind.
_SLACK = 0.1
# Adam forgets gradients sooner than by default: those of an opponent are soon out of date.
_MOMENTUM = 0.5


@dataclasses.dataclass(frozen=True)
class Plan:
    """How to train; hashable, since programs are compiled for it.

    Args:
        objective: which terms there are.
        batch_size: rows of x, and of z, in each step.
        learning_rate: of the players.
        ratio_learning_rate: of the judges.
        ratio_steps: steps of the judges for each one of the players.
        ratio_decay: weight decay of the judges' matrices.
        patience: checks in a row that find an overfitted judge before training ends.
    """

    objective: Objective
    batch_size: int
    learning_rate: float
    ratio_learning_rate: float = 0.0
    ratio_steps: int = 0
    ratio_decay: float = 0.0
    patience: int | None = None


class History(NamedTuple):
    """What was seen at each check, (checks,): averages since the check before, except held-out.

    Attributes:
        step: steps until then.
        nell: E[-log p(x | z')], the negative expected log likelihood.
        nelp: E[-log q(z | x')], the negative expected log posterior.
        matched_latent: the players' loss of draws of z; with loss C the estimate of
            E KL[q(z | x) || p*(z)].
        matched_observed: the same for draws of x.
        ratio_latent: what the judge of z loses.
        ratio_observed: what the judge of x loses.
        held_out_latent: what the judge of z loses on rows held out.
        held_out_observed: what the judge of x loses there.
        stopped: whether training ended because a judge was overfitted.
    """

    step: np.ndarray
    nell: np.ndarray
    matched_latent: np.ndarray
    nelp: np.ndarray
    matched_observed: np.ndarray
    ratio_latent: np.ndarray
    ratio_observed: np.ndarray
    held_out_latent: np.ndarray
    held_out_observed: np.ndarray
    stopped: bool = False


class Data(NamedTuple):
    """Rows to train on and rows held out; the latter are as many of each."""

    x: Float[np.ndarray, "n d"]
    z: Float[np.ndarray, "m k"]
    held_x: Float[np.ndarray, "h d"]
    held_z: Float[np.ndarray, "h k"]


class _State(NamedTuple):
    networks: Networks
    players: Any
    judges: Any


def train(
    networks: Networks, data: Data, plan: Plan, steps: int, key: Array, progress: bool | None
) -> tuple[Networks, History]:
    """Train for some steps, or until a judge is overfitted."""
    state = _first_state(networks, plan)
    apart = max(_APART, -(-steps // _CHECKS))
    rows, ends = [], [*range(apart, steps, apart), steps]
    trusted, bad, begin = state.networks, 0, 0
    with open_progress(progress, steps) as bar:
        bar.show(0, lambda: "compiling")
        for end in ends:
            span = jnp.asarray([begin, end, steps])
            state, averages, held, errors = _advance(state, data, plan, span, key)
            seen = np.array([end, *averages, *held])
            if not np.all(np.isfinite(seen)):
                raise ArithmeticError(_diverged(plan, begin, end))
            rows.append(seen)
            bar.show(end, lambda nell=seen[1]: f"nell {nell:.4g}", last=end == steps)
            # In training a judge may be worse than that too, when it has only just begun.
            fair = np.maximum(seen[-4:-2], UNINFORMED[plan.objective.ratio_loss])
            excess = seen[-2:] - fair - 2.0 * np.asarray(errors)
            bad = bad + 1 if np.any(excess > _SLACK) else 0
            if not bad:
                trusted = state.networks
            elif plan.patience is not None and bad >= plan.patience:
                return trusted, History(*np.array(rows).T, stopped=True)
            begin = end
    return state.networks, History(*np.array(rows).T)


def _diverged(plan: Plan, begin: int, end: int) -> str:
    rates = f"learning_rate={plan.learning_rate:g}"
    if plan.ratio_steps:
        rates += f" and ratio_learning_rate={plan.ratio_learning_rate:g}"
    return (
        f"training diverged between steps {begin} and {end}: a loss is not finite. Smaller rates "
        f"than {rates}, or a larger fixed scale, may help."
    )


@functools.cache
def _optimizers(plan: Plan) -> tuple[optax.GradientTransformation, optax.GradientTransformation]:
    """Of the players and of the judges; cached, since a program is compiled for each object."""

    def matrices(tree):
        return jax.tree.map(lambda leaf: leaf.ndim > 1, tree)

    judges = optax.chain(
        optax.scale_by_adam(b1=_MOMENTUM),
        optax.add_decayed_weights(plan.ratio_decay, matrices),
        optax.scale_by_learning_rate(plan.ratio_learning_rate),
    )
    b1 = _MOMENTUM if plan.ratio_steps else 0.9
    return optax.adam(plan.learning_rate, b1=b1), judges


def _players(networks: Networks) -> Any:
    return networks.likelihood, networks.posterior


def _judges(networks: Networks) -> Any:
    return networks.latent_ratio, networks.observed_ratio


def _with_players(networks: Networks, players: Any) -> Networks:
    likelihood, posterior = players
    return dataclasses.replace(networks, likelihood=likelihood, posterior=posterior)


def _with_judges(networks: Networks, judges: Any) -> Networks:
    latent, observed = judges
    return dataclasses.replace(networks, latent_ratio=latent, observed_ratio=observed)


def _first_state(networks: Networks, plan: Plan) -> _State:
    players, judges = _optimizers(plan)
    return _State(
        networks,
        players.init(eqx.filter(_players(networks), eqx.is_inexact_array)),
        judges.init(eqx.filter(_judges(networks), eqx.is_inexact_array)),
    )


@eqx.filter_jit
def _advance(
    state: _State, data: Data, plan: Plan, span: Array, key: Array
) -> tuple[_State, Array, Array, Array]:
    """Steps `span[0]` to `span[1]` of `span[2]`, and a check.

    Returns the state, the averages of the losses over the steps, and the judges' losses on held-out
    rows with their standard errors.
    """
    arrays, rest = eqx.partition(state, eqx.is_array)
    begin, end, steps = span

    def body(i, carry):
        arrays, sums = carry
        rate = jnp.minimum(1.0, 2.0 * (1.0 - i / steps))
        state, losses = _step(
            eqx.combine(arrays, rest), data, plan, rate, jax.random.fold_in(key, i)
        )
        return eqx.filter(state, eqx.is_array), sums + losses

    zeros = jnp.zeros(len(Terms._fields) + len(Verdicts._fields))
    arrays, sums = jax.lax.fori_loop(begin, end, body, (arrays, zeros))
    state = eqx.combine(arrays, rest)
    rows = jnp.asarray(data.held_x), jnp.asarray(data.held_z)
    held = ratio_losses(state.networks, plan.objective, *rows, jax.random.fold_in(key, steps))
    losses = jnp.stack(held)
    errors = jnp.std(losses, axis=1) / np.sqrt(losses.shape[1])
    return state, sums / (end - begin), jnp.mean(losses, axis=1), errors


def _step(
    state: _State, data: Data, plan: Plan, rate: Array, key: Array
) -> tuple[_State, Float[Array, " losses"]]:
    """One turn: the judges first, then the players. `rate` scales both learning rates."""
    players_rule, judges_rule = _optimizers(plan)
    networks, objective = state.networks, plan.objective

    def judged(judges, networks, x, z, key):
        networks = _with_judges(networks, judges)
        verdicts = ratio_losses(networks, objective, x, z, key)
        means = jnp.stack([jnp.mean(v) for v in verdicts])
        return jnp.sum(means), means

    def played(players, networks, x, z, key):
        networks = _with_players(networks, players)
        terms = jnp.stack(player_terms(networks, objective, x, z, key))
        return jnp.sum(terms), terms

    verdicts, memory = jnp.zeros(2), state.judges
    for k in range(plan.ratio_steps):
        x, z, noise = _batch(data, plan, jax.random.fold_in(key, k))
        judges = _judges(networks)
        slope, verdicts = eqx.filter_grad(judged, has_aux=True)(judges, networks, x, z, noise)
        judges, memory = _move(judges_rule, judges, slope, memory, rate)
        networks = _with_judges(networks, judges)
    x, z, noise = _batch(data, plan, jax.random.fold_in(key, plan.ratio_steps))
    players = _players(networks)
    slope, terms = eqx.filter_grad(played, has_aux=True)(players, networks, x, z, noise)
    players, remembered = _move(players_rule, players, slope, state.players, rate)
    networks = _with_players(networks, players)
    return _State(networks, remembered, memory), jnp.concatenate([terms, verdicts])


def _batch(data: Data, plan: Plan, key: Array) -> tuple[Array, Array, Array]:
    """Rows of x, rows of z that have nothing to do with them, and a key for noise."""
    x_key, z_key, noise = jax.random.split(key, 3)
    size = (plan.batch_size,)
    x = data.x[jax.random.randint(x_key, size, 0, data.x.shape[0])]
    z = data.z[jax.random.randint(z_key, size, 0, data.z.shape[0])]
    return x, z, noise


def _move(rule: Any, parameters: Any, slope: Any, memory: Any, rate: Array) -> tuple[Any, Any]:
    """One step of an optimizer, scaled by `rate`."""
    updates, memory = rule.update(slope, memory, eqx.filter(parameters, eqx.is_inexact_array))
    updates = jax.tree.map(lambda u: rate * u, updates)
    return eqx.apply_updates(parameters, updates), memory
