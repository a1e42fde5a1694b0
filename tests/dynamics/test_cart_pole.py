"""The cart-pole: energy, equilibria, the tip, and what counts as solved."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline.dynamics import CartPole

SYSTEM = CartPole.standard()
HANGING, STANDING = np.zeros(4), np.array([0.0, np.pi, 0.0, 0.0])
REST = np.zeros(1)


def after(system, x, steps, force=0.0):
    for _ in range(steps):
        x = system.step(jnp.asarray(x), jnp.full(1, force))
    return np.asarray(x)


def test_energy_is_conserved_without_friction():
    """Check: wilson S15.1, first half: to 1e-8 joules over two seconds."""
    free = CartPole(SYSTEM.start, friction=0.0)
    for x in (np.array([0.3, 2.5, -0.2, 1.0]), np.array([0.0, 0.4, 1.0, 0.0])):
        lost = free.energy(after(free, x, 20)) - free.energy(x)
        assert abs(float(lost)) < 1e-8
    # Negative control: friction takes energy away, and only from a moving cart.
    x = np.array([0.3, 2.5, -0.2, 1.0])
    assert float(SYSTEM.energy(after(SYSTEM, x, 20)) - SYSTEM.energy(x)) < -1e-3


def test_power_of_force_and_friction():
    """The energy changes by the work of force and friction: dE/dt = (F - b x') x'."""
    for x in np.random.default_rng(0).normal(size=(5, 4)):
        x, force = jnp.asarray(x), 3.0
        slope = jax.grad(SYSTEM.energy)(x) @ SYSTEM.derivative(x, jnp.asarray(force))
        np.testing.assert_allclose(slope, (force - SYSTEM.friction * x[2]) * x[2], atol=1e-12)


def test_equilibria():
    """Check: wilson S15.1, second half: hanging is stable, standing is not."""
    jacobian = jax.jacobian(SYSTEM.derivative)
    growth = []
    for x in (HANGING, STANDING):
        np.testing.assert_allclose(SYSTEM.derivative(x, jnp.zeros(())), 0.0, atol=1e-13)
        growth.append(np.linalg.eigvals(jacobian(jnp.asarray(x), jnp.zeros(()))).real.max())
    assert growth[0] < 1e-12
    assert growth[1] > 1.0
    nudge = np.array([0.0, 0.01, 0.0, 0.0])
    assert np.abs(after(SYSTEM, HANGING + nudge, 20)[1]) < 0.02
    assert np.abs(after(SYSTEM, STANDING + nudge, 20)[1] - np.pi) > 0.5


def test_steps_converge_and_forces_are_bounded():
    finer = CartPole(SYSTEM.start, substeps=500)
    x = np.array([0.1, 1.0, -0.5, 2.0])
    np.testing.assert_allclose(after(SYSTEM, x, 1, 7.0), after(finer, x, 1, 7.0), atol=1e-9)
    np.testing.assert_array_equal(after(SYSTEM, x, 1, 10.0), after(SYSTEM, x, 1, 25.0))
    assert after(SYSTEM, HANGING, 1, 10.0)[0] > 0  # a push to the right moves to the right


def test_tip_and_reward():
    """The reward is that of the tip's distance; it is 1 where the pole stands at the origin."""
    np.testing.assert_allclose(SYSTEM.tip(jnp.asarray(HANGING)), [0.0, -0.5], atol=1e-15)
    np.testing.assert_allclose(SYSTEM.tip(jnp.asarray(STANDING)), [0.0, 0.5], atol=1e-15)
    reward = SYSTEM.reward(0.25)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(6, 4)) * 2.0)
    np.testing.assert_allclose(
        reward(x), np.exp(-0.5 * (np.asarray(SYSTEM.distance(x)) / 0.25) ** 2), rtol=1e-12
    )
    np.testing.assert_allclose(reward(jnp.asarray(STANDING)), 1.0, rtol=1e-12)


@pytest.mark.parametrize(("hits", "solved"), [(9, False), (10, True)])
def test_solved_takes_ten_in_a_row(hits, solved):
    """Check: wilson S15.8."""
    near, far = STANDING + np.array([0.09, 0.0, 0.0, 0.0]), STANDING + np.array([0.11, 0, 0, 0])
    for start in (0, 5, 31 - hits):
        trajectory = np.tile(far, (31, 1))
        trajectory[start : start + hits] = near
        assert bool(SYSTEM.solved(jnp.asarray(trajectory))) is solved
    interrupted = np.tile(near, (31, 1))
    interrupted[9::10] = far  # nine, a miss, nine, ...
    assert not SYSTEM.solved(jnp.asarray(interrupted))


def test_first_states():
    """Angles are measured from the hanging pole, and the two laws are those of the source."""
    n = 4000
    for system, var in (
        (SYSTEM, np.full(4, 0.01)),
        (CartPole.challenge(), np.array([1.0, 1.0, np.pi, np.pi])),
    ):
        x = np.asarray(system.start.sample(jax.random.key(0), n))
        assert np.abs(x.mean(axis=0) / np.sqrt(var / n)).max() < 4
        np.testing.assert_allclose(x.var(axis=0) / var, 1.0, atol=4 * np.sqrt(2 / n))
        assert system.reset(jax.random.key(1)).shape == (4,)
