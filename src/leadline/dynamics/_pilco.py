"""Learning to control a system from few episodes (PILCO).

Notation: states `x (d,)`, one action `a`, encoded states `s`; episodes of `T` steps; policy `pi`
with parameters theta; model f of the increments, x_{t+1} = x_t + f(s_t, a_t).

    act at random for one episode
    repeat: fit f to all transitions so far
            maximize the expected return E[sum_t r(x_t)] under f over theta (`_search`)
            run pi on the system, and keep the transitions

(Deisenroth and Rasmussen 2011). The expectation is over f and the first state. *Pathwise* (Wilson
2023, section 3.6.4) it is an average over draws of both, new ones for every gradient. With
*moments* each state is taken for normal, which fails where the first state may be anywhere. The
*incumbent* is the policy that the newest model expects the most of, among the newest one and the
last incumbent: a later policy may have forgotten what an earlier one could do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_choice
from leadline.dynamics._moment_matching import expansions_of
from leadline.dynamics._policy import RBFPolicy
from leadline.dynamics._search import Objective, expected_return, search
from leadline.kernels import SquaredExponential
from leadline.means import Zero
from leadline.models import Posterior, Titsias


class Episode(NamedTuple):
    """What happened in one episode: first learning, then acting.

    Attributes:
        policy: as it was learned, and then run.
        incumbent: the best policy so far, by the model.
        expected: the policy's expected return under the model.
        earned: the return on the system.
        states: visited on the system, (T + 1, d).
        actions: taken there, (T, 1).
    """

    policy: RBFPolicy
    incumbent: RBFPolicy
    expected: float
    earned: float
    states: Float[np.ndarray, "t d"]
    actions: Float[np.ndarray, "T 1"]


class Progress(NamedTuple):
    """Where the learning of an episode is: `expected` is a noisy average of the last returns."""

    episode: int
    iteration: int
    expected: float
    policy: RBFPolicy


class PILCO(eqx.Module):
    """A task, and how to learn it.

    Args:
        environment: the system. It has `reset(key) -> x (d,)` and `step(x, action (1,)) -> x`, the
            law `start` of first states (a `leadline.measures.Gaussian`), a `bound` of actions, and
            an `Encoding`. `CartPole` is one.
        reward: maps states `(..., d)` to rewards `(...,)`, and traces. Moments also need its
            `expectation(mean, cov)`, as `GaussianReward` has.
        propagation: "pathwise" or "moments".
        steps: T.
        iterations: steps of Adam in each episode.
        draws: functions, each with a first state of its own, for one gradient (pathwise).
        features: of the prior of each draw (pathwise).
        inducing: inducing points of the model of each increment.
        centers: of the policy.
        starts: how many policies learn side by side for a third of the iterations, with a share of
            the draws each: the incumbent, and random ones. Then the best of them learns alone.
        memory: what a gradient knows of later steps is multiplied by this number, from 0 to 1, at
            each step back (pathwise). The true gradient, with 1, explodes if states run apart from
            step to step, as those of a standing pole do; a small number is short-sighted.
        learning_rate: of Adam; a third of it after a third of the iterations, and a ninth after two
            thirds. Gradients are clipped to norm 1.
    """

    environment: Any
    reward: Any
    propagation: str = eqx.field(static=True, default="pathwise")
    steps: int = eqx.field(static=True, default=30)
    iterations: int = eqx.field(static=True, default=3000)
    draws: int = eqx.field(static=True, default=32)
    features: int = eqx.field(static=True, default=64)
    inducing: int = eqx.field(static=True, default=128)
    centers: int = eqx.field(static=True, default=30)
    starts: int = eqx.field(static=True, default=4)
    memory: float = eqx.field(static=True, default=0.7)
    learning_rate: float = eqx.field(static=True, default=3e-2)

    def __check_init__(self):
        as_choice(self.propagation, ("pathwise", "moments"), "propagation")
        for name in ("steps", "iterations", "draws", "features", "inducing", "centers", "starts"):
            if getattr(self, name) < 1:
                raise InvalidData(f"{name} must be at least 1, got {getattr(self, name)}.")
        if not 0.0 <= self.memory <= 1.0:
            raise InvalidData(f"memory must be between 0 and 1, got {self.memory}.")

    def run(
        self, key: Array, episodes: int, callback: Callable[[Progress], None] | None = None
    ) -> list[Episode]:
        """Learn for some episodes, after a first one with random actions.

        Args:
            key: a random key.
            episodes: how many, the random one not counted.
            callback: called with the `Progress`, twelve times in each episode.
        """
        states, actions = self._act(None, jax.random.fold_in(key, 0))
        env = self.environment
        seen, inputs, increments = [], [], []
        incumbents: list[RBFPolicy] = []
        found = []
        for episode in range(1, episodes + 1):
            inputs.append(np.concatenate([env.encoding(states[:-1]), actions], axis=1))
            increments.append(np.diff(states, axis=0))
            seen.append(states)
            model = self.fit(np.concatenate(inputs), np.concatenate(increments), seed=episode)
            fresh, learn, judge, act = jax.random.split(jax.random.fold_in(key, episode), 4)
            policies = [*incumbents, *self.random_policies(np.concatenate(seen), fresh)]
            policy = self.improve(policies[: self.starts], model, learn, episode, callback)
            expected = self.expected_return(policy, model, judge)
            if all(expected >= self.expected_return(p, model, judge) for p in incumbents):
                incumbents = [policy]
            states, actions = self._act(policy, act)
            earned = float(jnp.sum(self.reward(states[1:])))
            found.append(Episode(policy, incumbents[0], expected, earned, states, actions))
        return found

    def fit(
        self, inputs: Float[np.ndarray, "n k"], increments: Float[np.ndarray, "n d"], seed: int = 0
    ) -> tuple[Posterior, ...]:
        """Independent sparse models of each state column's increments, from scratch."""
        z = spread_points(inputs, self.inducing, seed)
        kernel = 1.0 * SquaredExponential([1.0] * inputs.shape[1])
        return tuple(
            Titsias(kernel, z, mean=Zero()).fit(inputs, y, seed=seed) for y in increments.T
        )

    def random_policies(self, states: Float[np.ndarray, "n d"], key: Array) -> list[RBFPolicy]:
        """As many as there are starts, made for states like those given."""
        env = self.environment
        return [
            RBFPolicy.random(states, k, env.encoding, env.bound, self.centers)
            for k in jax.random.split(key, self.starts)
        ]

    def improve(
        self,
        policies: Sequence[RBFPolicy],
        model: tuple[Posterior, ...],
        key: Array,
        episode: int = 0,
        callback: Callable[[Progress], None] | None = None,
    ) -> RBFPolicy:
        """The best policy found from the given ones, after all iterations.

        Args:
            policies: where to begin; they have as many centers each.
            model: of the increments.
            key: a random key.
            episode: what the callback is told.
            callback: called with the `Progress`, twelve times.
        """

        def report(iteration: int, expected: float, policy: RBFPolicy) -> None:
            if callback is not None:
                callback(Progress(episode, iteration, expected, policy))

        objective = self._objective(model)
        return search(policies, objective, key, self.iterations, self.learning_rate, report)

    def expected_return(self, policy: RBFPolicy, model: tuple[Posterior, ...], key: Array) -> float:
        """What the model expects of the policy; with the same key, by the same draws."""
        return expected_return(policy, self._objective(model), key)

    def _objective(self, model: tuple[Posterior, ...]) -> Objective:
        known = _expansions_jit(model) if self.propagation == "moments" else model
        start, memory = self.environment.start, jnp.asarray(self.memory)
        return Objective(known, start, self.reward, memory, self.steps, self.draws, self.features)

    def _act(self, policy: RBFPolicy | None, key: Array) -> tuple[np.ndarray, np.ndarray]:
        """Run a policy on the system, or random actions if there is none."""
        env = self.environment
        first, noise = jax.random.split(key)
        bound = env.bound
        random = jax.random.uniform(noise, (self.steps, 1), minval=-bound, maxval=bound)
        states, actions = [env.reset(first)], []
        for t in range(self.steps):
            actions.append(random[t] if policy is None else _action_jit(policy, states[-1]))
            states.append(env.step(states[-1], actions[-1]))
        return np.array(states, dtype=float), np.array(actions, dtype=float)


def spread_points(x: Float[np.ndarray, "n d"], m: int, seed: int) -> Float[np.ndarray, "m d"]:
    """`m` points among the rows of `x`: cluster centers, or all rows and some random points.

    There are always as many, so that programs that are compiled once serve all episodes.
    """
    rng = np.random.default_rng(seed)
    if m >= x.shape[0]:
        low, high = x.min(axis=0), x.max(axis=0)
        return np.concatenate([x, rng.uniform(low, high, (m - x.shape[0], x.shape[1]))])
    from scipy.cluster.vq import kmeans2  # takes as long to load as all of Leadline

    unit = np.maximum(x.std(axis=0), 1e-12)
    with warnings.catch_warnings():  # an empty cluster keeps its center, which serves as well
        warnings.simplefilter("ignore", UserWarning)
        return unit * kmeans2(x / unit, m, minit="++", rng=rng)[0]


_action_jit = eqx.filter_jit(lambda policy, x: policy(x))
_expansions_jit = eqx.filter_jit(expansions_of)
