"""Learning to control: a toy that is solved in seconds, and the bookkeeping of episodes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.dynamics import PILCO, CartPole, Encoding, GaussianReward
from leadline.dynamics._pilco import spread_points
from leadline.measures import Gaussian

KEY = jax.random.key(0)


class DoubleIntegrator(eqx.Module):
    """A mass on a line, pushed by a bounded force."""

    start: Gaussian
    encoding: Encoding = eqx.field(static=True, default=Encoding(2))
    bound: float = eqx.field(static=True, default=2.0)

    def reset(self, key):
        return self.start.sample(key, 1)[0]

    def step(self, x, action):
        v = x[1] + 0.2 * action[0]
        return jnp.stack([x[0] + 0.2 * v, v])


ENVIRONMENT = DoubleIntegrator(Gaussian(np.array([1.0, 0.0]), np.full(2, 0.01)))
REWARD = GaussianReward(jnp.array([[1.0, 0.0]]), jnp.zeros(1), 0.3, Encoding(2))
SMALL = {"steps": 15, "draws": 16, "features": 32, "inducing": 24, "centers": 8}


def improvement(**options):
    task = PILCO(ENVIRONMENT, REWARD, **SMALL, **options)
    (one,) = task.run(KEY, 1)
    inputs = np.concatenate([one.states[:-1], one.actions], axis=1)
    model = task.fit(inputs, np.diff(one.states, axis=0))
    before = PILCO(ENVIRONMENT, REWARD, **SMALL, iterations=1).run(KEY, 1)[0]
    return one, task.expected_return(before.policy, model, KEY), one.expected


@pytest.mark.slow
def test_the_model_return_improves():
    """Check: wilson S15.7: by half at least, in 300 iterations."""
    one, before, after = improvement(iterations=300)
    assert after > 1.5 * before
    # The system agrees: most of the time the mass is where it should be.
    assert one.earned > 1.5 * before
    assert np.abs(one.states[-1, 0]) < 0.3


@pytest.mark.slow
def test_the_matched_return_improves():
    """Check: wilson S15.7, with moment matching."""
    one, before, after = improvement(iterations=300, propagation="moments")
    assert after > 1.5 * before
    assert one.earned > 1.5 * before


@pytest.mark.slow
def test_episodes(compilations):
    """Reports, records and incumbents; later episodes with more data compile nothing."""
    task = PILCO(ENVIRONMENT, REWARD, **SMALL, iterations=24)
    reports, counts = [], []

    def callback(progress):
        reports.append(progress)
        counts.append(compilations[0])

    found = task.run(KEY, 3, callback)
    assert [(r.episode, r.iteration) for r in reports] == [
        (e, i) for e in (1, 2, 3) for i in range(2, 25, 2)
    ]
    # Two episodes make 30 rows, and three 45, which only the fit notices.
    assert counts[23] == counts[12]
    assert len(found) == 3
    for episode in found:
        assert episode.states.shape == (16, 2)
        assert episode.actions.shape == (15, 1)
        assert np.abs(episode.actions).max() <= 2.0
        x = episode.states[0]
        for t in range(15):
            x = np.asarray(ENVIRONMENT.step(jnp.asarray(x), episode.actions[t]))
            np.testing.assert_allclose(episode.states[t + 1], x, atol=1e-12)
        np.testing.assert_allclose(
            episode.earned, np.sum(np.asarray(REWARD(episode.states[1:]))), rtol=1e-12
        )
        policies = [e.policy for e in found]
        assert any(eqx.tree_equal(episode.incumbent, p) for p in policies)
    again = task.run(KEY, 1)[0]
    np.testing.assert_array_equal(again.states, found[0].states)
    assert np.abs(task.run(jax.random.key(1), 1)[0].states - found[0].states).max() > 1e-3


def test_spread_points():
    """Always as many: all rows and points between them, or centers of clusters."""
    x = np.random.default_rng(0).normal(size=(20, 3))
    few = spread_points(x, 32, 0)
    assert few.shape == (32, 3)
    np.testing.assert_array_equal(few[:20], x)
    assert np.all((few >= x.min(axis=0)) & (few <= x.max(axis=0)))
    clustered = np.concatenate([x * 1e-3, x * 1e-3 + 10.0])
    many = np.sort(spread_points(clustered, 2, 0)[:, 0])
    np.testing.assert_allclose(many, [0.0, 10.0], atol=0.01)


def test_bad_input():
    env = CartPole.standard()
    with pytest.raises(ll.InvalidData, match="Did you mean 'moments'"):
        PILCO(env, env.reward(), propagation="moment")
    with pytest.raises(ll.InvalidData, match="draws must be at least 1"):
        PILCO(env, env.reward(), draws=0)
    with pytest.raises(ll.InvalidData, match="memory must be between 0 and 1"):
        PILCO(env, env.reward(), memory=1.5)
