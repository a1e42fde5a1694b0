"""What a policy is expected to earn under a model of the dynamics.

Notation: `T` steps; the model predicts increments f from encoded state and action `(s, a)`,
x_{t+1} = x_t + f(s_t, pi(x_t)); the return is the sum of r(x_1) .. r(x_T) (Wilson 2023, eq. 3.75).

*Pathwise*: one draw of f and of the first state for each trajectory, unrolled as they are.
*Moment matching*: x_t is taken for normal at every step (Deisenroth and Rasmussen 2011).
Both trace, and have gradients in the policy.

Gradients of long trajectories explode where the system is unstable, and then say nothing (Parmas et
al. 2018; Metz et al. 2021). With a memory g < 1, what a gradient knows of the reward of step t is
multiplied by g^(t - u) on its way back to the state of step u: values stay the same, and gradients
are those of a problem in which earlier states hardly matter for late rewards.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.dynamics._crowd import Crowd
from leadline.dynamics._moment_matching import Expansions, match_moments
from leadline.dynamics._policy import RBFPolicy
from leadline.paths import Paths


def rollout(
    policy: RBFPolicy | Crowd,
    paths: Paths,
    starts: Float[Array | np.ndarray, "n d"],
    steps: int,
    memory: Any = 1.0,
) -> Float[Array, "n t d"]:
    """One trajectory for each draw of the dynamics: `(n, T + 1, d)`.

    Gradients are multiplied by `memory` at every step back.
    """

    def step(x, _):
        x = _forgetful(x, memory)
        inputs = jnp.concatenate([policy.encoding(x), policy(x)], axis=1)
        new = x + paths.paired_values(inputs[:, None, :]).reshape(x.shape)
        return new, new

    starts = jnp.asarray(starts)
    _, visited = jax.lax.scan(step, starts, None, length=steps)
    return jnp.concatenate([starts[:, None], jnp.moveaxis(visited, 0, 1)], axis=1)


def pathwise_returns(
    policy: RBFPolicy | Crowd,
    paths: Paths,
    starts: Float[Array | np.ndarray, "n d"],
    reward: Any,
    steps: int,
    memory: Any = 1.0,
) -> Float[Array, " n"]:
    """The return of each trajectory; their average estimates the expected return."""
    return jnp.sum(reward(rollout(policy, paths, starts, steps, memory)[:, 1:]), axis=1)


def _forgetful(x: Array, memory: Any) -> Array:
    """The same value, with its gradient times `memory`."""
    fixed = jax.lax.stop_gradient(x)
    return fixed + memory * (x - fixed)


def matched_rollout(
    policy: RBFPolicy,
    model: Expansions,
    mean: Float[Array | np.ndarray, " d"],
    cov: Float[Array | np.ndarray, "d d"],
    steps: int,
) -> tuple[Float[Array, "t d"], Float[Array, "t d d"]]:
    """Means and covariances of the states x_0 .. x_T."""

    @jax.checkpoint  # the squares of the centers of all steps would not fit in memory
    def step(x, _):
        mean, cov = x
        joint_mean, joint, cross = policy.moments(mean, cov)
        f = match_moments(model, joint_mean, joint)
        x_f = cross @ f.slope
        new = mean + f.mean, cov + f.cov + x_f + x_f.T
        return new, new

    mean, cov = jnp.asarray(mean), jnp.asarray(cov)
    _, (means, covs) = jax.lax.scan(step, (mean, cov), None, length=steps)
    return jnp.concatenate([mean[None], means]), jnp.concatenate([cov[None], covs])


def matched_return(
    policy: RBFPolicy,
    model: Expansions,
    mean: Float[Array | np.ndarray, " d"],
    cov: Float[Array | np.ndarray, "d d"],
    reward: Any,
    steps: int,
) -> Float[Array, ""]:
    """The expected return with every state taken for normal."""
    means, covs = matched_rollout(policy, model, mean, cov, steps)
    expected = jax.lax.map(lambda moments: reward.expectation(*moments), (means[1:], covs[1:]))
    return jnp.sum(expected)
