"""Learning to control a system from few episodes (PILCO).

Notation: states `x (d,)`, one action `a`, encoded states `s`; episodes of `T` steps; policy `pi`
with parameters theta; model f of the increments, x_{t+1} = x_t + f(s_t, a_t).

    act at random for one episode
    repeat: fit f to all transitions so far
            maximize the expected return E[sum_t r(x_t)] under f over theta, by Adam
            run pi on the system, and keep the transitions

(Deisenroth and Rasmussen 2011). The expectation is over f and the first state. *Pathwise* (Wilson
2023, section 3.6.4) it is an average over draws of both, new ones for every gradient. With
*moments* each state is taken for normal, which fails where the first state may be anywhere. The
*incumbent* is the policy that the newest model expects the most of, among the newest one and the
last incumbent: a later policy may have forgotten what an earlier one could do.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_choice
from leadline.dynamics._moment_matching import Expansions, expansions_of
from leadline.dynamics._policy import RBFPolicy
from leadline.dynamics._returns import matched_return, pathwise_returns
from leadline.kernels import SquaredExponential
from leadline.means import Zero
from leadline.models import Posterior, Titsias
from leadline.numerics import blas_threads_for
from leadline.paths import stack_outputs

# The callback hears of progress so many times in an episode.
_REPORTS = 10
# How many times more draws than a gradient takes compare a policy with the incumbent.
_JUDGES = 4


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
        learning_rate: of Adam; a tenth of it after a third of the iterations, and a tenth of that
            after two thirds. Gradients are clipped to norm 1.
    """

    environment: Any
    reward: Any
    propagation: str = eqx.field(static=True, default="pathwise")
    steps: int = eqx.field(static=True, default=30)
    iterations: int = eqx.field(static=True, default=5000)
    draws: int = eqx.field(static=True, default=64)
    features: int = eqx.field(static=True, default=256)
    inducing: int = eqx.field(static=True, default=256)
    centers: int = eqx.field(static=True, default=30)
    learning_rate: float = eqx.field(static=True, default=1e-2)

    def __check_init__(self):
        as_choice(self.propagation, ("pathwise", "moments"), "propagation")
        for name in ("steps", "iterations", "draws", "features", "inducing", "centers"):
            if getattr(self, name) < 1:
                raise InvalidData(f"{name} must be at least 1, got {getattr(self, name)}.")

    def run(
        self, key: Array, episodes: int, callback: Callable[[Progress], None] | None = None
    ) -> list[Episode]:
        """Learn for some episodes, after a first one with random actions.

        Args:
            key: a random key.
            episodes: how many, the random one not counted.
            callback: called with the `Progress`, ten times in each episode.
        """
        policy_key, key = jax.random.split(key)
        states, actions = self._act(None, jax.random.fold_in(key, 0))
        env = self.environment
        policy = RBFPolicy.among(states, policy_key, env.encoding, env.bound, self.centers)
        incumbent, found = policy, []
        inputs, increments = [], []
        for episode in range(1, episodes + 1):
            inputs.append(np.concatenate([env.encoding(states[:-1]), actions], axis=1))
            increments.append(np.diff(states, axis=0))
            model = self.fit(np.concatenate(inputs), np.concatenate(increments), seed=episode)
            learn, judge, act = jax.random.split(jax.random.fold_in(key, episode), 3)
            policy = self.improve(policy, model, learn, episode, callback)
            expected = self.expected_return(policy, model, judge)
            if expected >= self.expected_return(incumbent, model, judge):
                incumbent = policy
            states, actions = self._act(policy, act)
            earned = float(jnp.sum(self.reward(states[1:])))
            found.append(Episode(policy, incumbent, expected, earned, states, actions))
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

    def improve(
        self,
        policy: RBFPolicy,
        model: tuple[Posterior, ...],
        key: Array,
        episode: int = 0,
        callback: Callable[[Progress], None] | None = None,
    ) -> RBFPolicy:
        """The policy after all iterations of Adam on its expected return."""
        state = self._optimizer().init(cast(Any, policy))
        prepared = _prepare_jit(self, model)
        stops = np.linspace(0, self.iterations, _REPORTS + 1).round().astype(int)
        for start, stop in itertools.pairwise(stops):
            if start == stop:
                continue
            with blas_threads_for(1):
                policy, state, total = jax.block_until_ready(
                    _climb_jit(self, policy, state, prepared, key, start, stop)
                )
            if callback is not None:
                mean = float(total) / (stop - start)
                callback(Progress(episode, int(stop), mean, policy))
        return policy

    def expected_return(self, policy: RBFPolicy, model: tuple[Posterior, ...], key: Array) -> float:
        """What the model expects of the policy; with the same key, by the same draws."""
        prepared = _prepare_jit(self, model)
        with blas_threads_for(1):
            return float(_expected_jit(self, policy, prepared, key, _JUDGES * self.draws))

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

    def _optimizer(self) -> optax.GradientTransformation:
        third = self.iterations // 3
        schedule = optax.piecewise_constant_schedule(
            self.learning_rate, {third: 0.1, 2 * third: 0.1} if third else None
        )
        return optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))


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


def _prepare(task: PILCO, model: tuple[Posterior, ...]) -> Any:
    """The model as gradients use it: what does not change from one iteration to the next."""
    return expansions_of(model) if task.propagation == "moments" else model


def _expected(task: PILCO, policy: RBFPolicy, model: Any, key: Array, draws: int) -> Array:
    start = task.environment.start
    if isinstance(model, Expansions):
        return matched_return(policy, model, start.mean, start.cov, task.reward, task.steps)
    first, *keys = jax.random.split(key, 1 + len(model))
    paths = stack_outputs(
        [post.paths(k, draws, task.features) for post, k in zip(model, keys, strict=True)]
    )
    starts = start.sample(first, draws)
    return jnp.mean(pathwise_returns(policy, paths, starts, task.reward, task.steps))


def _climb(task: PILCO, policy, state, model, key, start, stop):
    """Iterations `start` to `stop` of Adam, and the sum of their expected returns."""
    optimizer = task._optimizer()

    def loss(policy, i):
        return -_expected(task, policy, model, jax.random.fold_in(key, i), task.draws)

    def iterate(i, carry):
        policy, state, total = carry
        value, gradient = jax.value_and_grad(loss)(policy, i)
        updates, state = optimizer.update(gradient, state, policy)
        return eqx.apply_updates(policy, updates), state, total - value

    return jax.lax.fori_loop(start, stop, iterate, (policy, state, jnp.zeros(())))


_action_jit = eqx.filter_jit(lambda policy, x: policy(x))
_prepare_jit = eqx.filter_jit(_prepare)
_expected_jit = eqx.filter_jit(_expected)
_climb_jit = eqx.filter_jit(_climb)
