"""Policies and what they earn: bounds, gradients, and two ways to average over a model."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

import leadline as ll
from leadline.dynamics import (
    Encoding,
    GaussianReward,
    RBFPolicy,
    matched_return,
    matched_rollout,
    pathwise_returns,
    rollout,
)
from leadline.dynamics._moment_matching import expansions_of
from leadline.kernels import SquaredExponential
from leadline.numerics import sobol
from leadline.paths import stack_outputs

KEY = jax.random.key(0)
N, STEPS = 2000, 10
# Inputs (x, v, a) of a system with one position and one velocity.
S = np.array([-3.0, -3.0, -1.0]) + np.array([6.0, 6.0, 2.0]) * np.asarray(sobol(64, 3, 0))
REWARD = GaussianReward(jnp.array([[1.0, 0.0]]), jnp.zeros(1), 0.5, Encoding(2))


def model(dx, dv, noise=1e-6, rows=64, lengths=(1.5, 4.0, 4.0)):
    kernel = 4.0 * SquaredExponential(np.array(lengths))
    gp = ll.GP(kernel, noise=noise)
    return tuple(gp.condition(S[:rows], y[:rows]) for y in (dx, dv))


@eqx.filter_jit
def both_returns(policy, posteriors, mean, cov, reward, key):
    """Returns of N trajectories, and the moment-matched one."""
    keys = jax.random.split(key, 3)
    paths = stack_outputs([p.paths(k, N, 64) for p, k in zip(posteriors, keys[1:], strict=True)])
    starts = mean + jax.random.normal(keys[0], (N, 2)) @ jnp.linalg.cholesky(cov).T
    expansions = expansions_of(tuple(posteriors))
    return (
        pathwise_returns(policy, paths, starts, reward, STEPS),
        matched_return(policy, expansions, mean, cov, reward, STEPS),
        rollout(policy, paths, starts, STEPS),
        matched_rollout(policy, expansions, mean, cov, STEPS),
    )


def averages(*args):
    return jax.device_get(both_returns(*args))


act = eqx.filter_jit(lambda policy, x: policy(x))


def almost_affine(slope):
    """Two wide bumps of opposite sign: a(x) is close to -slope x near 0."""
    return RBFPolicy(
        centers=jnp.array([[-3.0, 0.0], [3.0, 0.0]]),
        weights=slope * jnp.array([1.0, -1.0]),
        log_lengthscale=jnp.log(jnp.array([3.0, 10.0])),
        bound=1.0,
        encoding=Encoding(2),
    )


@pytest.mark.parametrize("encoding", [Encoding(4), Encoding(4, angle=1)])
def test_actions_are_bounded(encoding):
    """Check: wilson S15.4, first half."""
    states = 3.0 * np.random.default_rng(0).normal(size=(50, 4))
    policy = RBFPolicy.random(states, KEY, encoding, 10.0)
    assert policy.centers.shape == (30, encoding.size)
    wild = eqx.tree_at(lambda p: p.weights, policy, 1e3 * np.asarray(policy.weights))
    for one, least in ((policy, 0.01), (wild, 9.99)):
        actions = np.asarray(act(one, states))
        assert actions.shape == (50, 1)
        assert least <= np.abs(actions).max() <= 10.0
    # The formula, written out.
    s, l = np.asarray(jax.jit(encoding)(states)), np.exp(np.asarray(policy.log_lengthscale))
    near = np.sum(((s[:, None] - np.asarray(policy.centers)) / l) ** 2, axis=2)
    z = np.exp(-0.5 * near) @ np.asarray(policy.weights)
    expected = 20.0 * scipy.special.ndtr(z)[:, None] - 10.0
    np.testing.assert_allclose(act(policy, states), expected, atol=1e-10)


@pytest.mark.slow
def test_the_gradient_of_the_return():
    """Check: wilson S15.4, second half: against finite differences of the same draws.

    The state is an angle, which the policy turns; the model sees (sin, cos, a).
    """
    rng = np.random.default_rng(0)
    encoding = Encoding(1, angle=0)
    gp = ll.GP(0.3 * SquaredExponential([1.0] * 3), noise=1e-3)
    paths = gp.condition(rng.normal(size=(20, 3)), rng.normal(size=20)).paths(KEY, 8, features=32)
    starts, key = rng.normal(size=(8, 1)), jax.random.key(1)
    reward = GaussianReward(jnp.eye(2), jnp.array([0.0, 1.0]), 0.5, encoding)
    policy = RBFPolicy.random(rng.normal(size=(30, 1)), key, encoding, 2.0, centers=5)

    @jax.jit
    @jax.value_and_grad
    def value(policy):
        return jnp.mean(pathwise_returns(policy, paths, starts, reward, 8))

    _, gradient = value(policy)
    for name in ("centers", "weights", "log_lengthscale"):
        direction = rng.normal(size=getattr(policy, name).shape)

        def moved(t, name=name, direction=direction):
            moved = np.asarray(getattr(policy, name)) + t * direction
            return float(value(eqx.tree_at(lambda p: getattr(p, name), policy, moved))[0])

        slope = (moved(1e-5) - moved(-1e-5)) / 2e-5
        expected = float(np.sum(np.asarray(getattr(gradient, name)) * direction))
        assert slope == pytest.approx(expected, rel=1e-4, abs=1e-8)
        assert abs(slope) > 1e-4


@eqx.filter_jit
def _moments(policy, mean, cov):
    return policy.moments(mean, cov)


def test_action_moments():
    """Of a policy in a normal state, without an angle: exact but for the squashed value's law."""
    rng = np.random.default_rng(1)
    policy = RBFPolicy.random(rng.normal(size=(30, 2)), KEY, Encoding(2), 2.0, centers=8)
    mean, root = np.array([0.3, -0.2]), np.array([[0.5, 0.0], [0.2, 0.4]])
    joint_mean, joint, cross = jax.device_get(_moments(policy, mean, root @ root.T))
    x = mean + rng.normal(size=(100_000, 2)) @ root.T
    sample = np.concatenate([x, np.asarray(act(policy, x))], axis=1)
    np.testing.assert_allclose(joint_mean, sample.mean(axis=0), atol=0.01)
    np.testing.assert_allclose(joint, np.cov(sample.T), atol=0.01)
    np.testing.assert_allclose(cross, joint[:2], atol=1e-12)


@pytest.mark.slow
def test_both_averages_agree_on_an_easy_case():
    """Check: wilson S15.5, first half: a first state known almost exactly, an affine policy."""
    # A double integrator, known so well that steps hardly share any error of the model: moment
    # matching takes the errors of different steps for independent. With less noise its variances,
    # which are differences of large numbers, would hang on how those are rounded.
    posteriors = model(0.2 * S[:, 1], 0.2 * S[:, 2], noise=1e-7, lengths=(8.0, 8.0, 8.0))
    args = np.array([1.0, 0.0]), 1e-4 * np.eye(2), REWARD, KEY
    returns, matched, visited, (means, covs) = averages(almost_affine(2.0), posteriors, *args)
    assert 1.0 < float(matched) < STEPS
    assert float(matched) == pytest.approx(float(np.mean(returns)), rel=0.05)
    np.testing.assert_allclose(np.mean(visited, axis=0), means, atol=0.01)
    spread = np.sqrt(np.diagonal(covs, axis1=1, axis2=2))
    np.testing.assert_allclose(np.std(visited, axis=0), spread, rtol=4 / np.sqrt(2 * N) + 0.02)


@pytest.mark.slow
def test_moments_fail_on_a_diffuse_case():
    """Check: wilson S15.5, second half: two wells, and a start that may end up in either.

    The states leave the ridge between the wells, which is where the reward is; a normal law with
    their mean and variance puts most of its mass there.
    """
    x = S[:, 0]
    posteriors = model(0.3 * (x - x**3 / 2.0), np.zeros(64))
    args = np.zeros(2), np.diag([0.5, 0.01]), REWARD, KEY
    policy = almost_affine(0.0)
    returns, matched, visited, _ = averages(policy, posteriors, *args)
    assert np.abs(np.abs(visited[:, -1, 0]) - np.sqrt(2.0)).mean() < 0.3  # in the wells
    assert float(matched) > 1.2 * float(np.mean(returns))


@eqx.filter_jit
def _one_step(policy, paths, starts):
    return pathwise_returns(policy, paths, starts, REWARD, 1)


def test_one_step_is_the_predictive_law():
    """Check: wilson S15.6: where the model is unsure, within 4 standard errors.

    The predictive law is normal here, so that its expected reward is known exactly.
    """
    rows = 6
    posteriors = model(0.2 * S[:, 1], 0.2 * S[:, 2], noise=1e-2, rows=rows)
    policy, x0 = almost_affine(2.0), np.array([0.4, -0.3])
    keys = jax.random.split(KEY)
    paths = stack_outputs(
        [p.paths(k, N, features=1024) for p, k in zip(posteriors, keys, strict=True)]
    )
    starts = np.broadcast_to(x0, (N, 2))
    returns = np.asarray(_one_step(policy, paths, starts))
    s = np.concatenate([x0, np.asarray(act(policy, x0))])[None]
    law = [p.predict(s) for p in posteriors]
    mean = x0 + np.array([one.mean[0] for one in law])
    var = np.array([one.var[0] for one in law])
    assert var.min() > 0.1
    # x0 + f is normal, and the reward looks at its first column.
    expected = np.exp(-0.5 * mean[0] ** 2 / (0.25 + var[0])) / np.sqrt(1.0 + var[0] / 0.25)
    assert abs(returns.mean() - expected) < 4.0 * returns.std() / np.sqrt(N)
