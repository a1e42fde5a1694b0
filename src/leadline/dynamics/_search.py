"""Searching for a policy by gradients of its expected return under a model.

Notation: I iterations of Adam with step size h, gradients clipped to norm 1.

    1 .. I/3          several policies side by side, with h
    I/3 + 1 .. 2I/3   the best of them, as it is now or was at first, with h / 3
    2I/3 + 1 .. I     the same one, with h / 9

Wilson (2023, section 3.6.4) has one policy, and step sizes that fall by tens, for many more draws
and iterations. The return of a swing-up has many local optima, and hardly any slope at some of them
(not to move at all, say): of several random policies, one is likely to begin elsewhere.

Centers of policies move in units of the spread of states that the policies were made for, so that
one step size serves centers, weights and logarithms of length scales, whatever the states' units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from leadline.dynamics._crowd import Crowd
from leadline.dynamics._moment_matching import Expansions
from leadline.dynamics._policy import RBFPolicy
from leadline.dynamics._returns import matched_return, pathwise_returns
from leadline.measures import Gaussian
from leadline.numerics import blas_threads_for
from leadline.paths import stack_outputs

# Progress is reported so many times in each third.
_REPORTS = 4
# How many times more draws than a gradient takes compare policies.
_JUDGES = 4


class Objective(eqx.Module):
    """The expected return under a model, and its gradient.

    Attributes:
        model: posteriors of the increments (pathwise), or their expansions (moments).
        start: the law of first states.
        reward: of states.
        memory, steps, draws, features: as those of `PILCO`.
    """

    model: Any
    start: Gaussian
    reward: Any
    memory: Any
    steps: int = eqx.field(static=True)
    draws: int = eqx.field(static=True)
    features: int = eqx.field(static=True)

    def __call__(self, crowd: Crowd, key: Array, draws: int) -> Float[Array, " k"]:
        """What each policy is expected to earn."""
        model, start = self.model, self.start
        if isinstance(model, Expansions):
            arguments = model, start.mean, start.cov, self.reward, self.steps
            return jax.lax.map(lambda policy: matched_return(policy, *arguments), crowd.members)
        first, *keys = jax.random.split(key, 1 + len(model))
        paths = stack_outputs(
            [post.paths(k, draws, self.features) for post, k in zip(model, keys, strict=True)]
        )
        starts = start.sample(first, draws)
        returns = pathwise_returns(crowd, paths, starts, self.reward, self.steps, self.memory)
        return jnp.mean(returns.reshape(len(crowd), -1), axis=1)


def expected_return(policy: RBFPolicy, objective: Objective, key: Array) -> float:
    """By more draws than a gradient takes; with the same key, by the same draws."""
    with blas_threads_for(1):
        return float(_judge_jit(Crowd.of([policy]), objective, key)[0])


def search(
    policies: Sequence[RBFPolicy],
    objective: Objective,
    key: Array,
    iterations: int,
    rate: float,
    report: Callable[[int, float, RBFPolicy], None],
) -> RBFPolicy:
    """The best policy found from those given.

    `report` hears, four times in each third, of the number of iterations so far, and of the policy
    that did best since it last heard, with its average return.
    """
    judge, key = jax.random.split(key)
    stops = np.linspace(0, iterations, 3 * _REPORTS + 1).round().astype(int)
    crowd = Crowd.of(policies)
    for third, step_size in enumerate(np.array(rate) / 3.0 ** np.arange(3)):
        state = _optimizer_state_jit(crowd)
        unit = jnp.exp(crowd.members.log_lengthscale) / np.sqrt(crowd.encoding.size)
        for i in range(third * _REPORTS, (third + 1) * _REPORTS):
            start, stop = stops[i : i + 2]
            if start == stop:
                continue
            with blas_threads_for(1):
                crowd, state, total = jax.block_until_ready(
                    _climb_jit(crowd, state, unit, objective, key, step_size, start, stop)
                )
            best = int(np.argmax(total))
            report(int(stop), float(total[best]) / int(stop - start), crowd[best])
        if third == 0:
            found = [*(crowd[i] for i in range(len(crowd))), *policies]
            returns = [expected_return(policy, objective, judge) for policy in found]
            crowd = Crowd.of([found[int(np.nanargmax(returns))]])
    return crowd[0]


def _climb(crowd, state, unit, objective, key, rate, start, stop):
    """Iterations `start` to `stop` of Adam, and the sum of each policy's expected returns."""
    draws = -(-objective.draws // len(crowd)) * len(crowd)

    def loss(crowd, i):
        returns = objective(crowd, jax.random.fold_in(key, i), draws)
        return -jnp.sum(returns), returns

    def iterate(i, carry):
        crowd, state, total = carry
        gradient, returns = jax.grad(loss, has_aux=True)(crowd, i)
        steps, state = jax.vmap(_OPTIMIZER.update)(gradient, state)
        steps = eqx.tree_at(_centers, steps, unit[:, None] * _centers(steps))
        crowd = jax.tree.map(lambda p, step: p - rate * step, crowd, steps)
        return crowd, state, total + returns

    return jax.lax.fori_loop(start, stop, iterate, (crowd, state, jnp.zeros(len(crowd))))


def _centers(crowd: Any) -> Any:
    return crowd.members.centers


_OPTIMIZER = optax.chain(optax.clip_by_global_norm(1.0), optax.scale_by_adam())
_optimizer_state_jit: Any = eqx.filter_jit(jax.vmap(_OPTIMIZER.init))
_climb_jit = eqx.filter_jit(_climb)
_judge_jit = eqx.filter_jit(
    lambda crowd, objective, key: objective(crowd, key, _JUDGES * objective.draws)
)
