"""Pathwise simulation: known drifts, known noise, and what a draw is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.dynamics import simulate
from leadline.kernels import SquaredExponential
from leadline.paths import stack_outputs

KEY = jax.random.key(0)
DT, STEPS, N = 0.1, 30, 2000
X = np.linspace(-2.0, 2.0, 30)[:, None]


@pytest.fixture(scope="module")
def decay():
    """Draws of a drift that data say is -x."""
    gp = ll.GP(4.0 * SquaredExponential(2.0), noise=1e-6)
    return gp.condition(X, -X[:, 0]).paths(KEY, N, features=64)


@pytest.fixture(scope="module")
def controlled():
    """Draws of two drifts of (x1, x2, a): -x1 + a, and x1 - x2."""
    rng = np.random.default_rng(1)
    s = rng.uniform(-2.0, 2.0, (30, 3))
    gp = ll.GP(4.0 * SquaredExponential(4.0), noise=1e-6)
    targets = (-s[:, 0] + s[:, 2], s[:, 0] - s[:, 1])
    parts = [
        gp.condition(s, y).paths(jax.random.fold_in(KEY, i), 16, features=64)
        for i, y in enumerate(targets)
    ]
    return stack_outputs(parts)


def test_a_known_drift_decays(decay):
    """Check: wilson S14.1."""
    found = np.asarray(simulate(decay, np.ones(1), None, DT, steps=STEPS))
    assert found.shape == (N, STEPS + 1, 1)
    expected = (1.0 - DT) ** np.arange(STEPS + 1)
    np.testing.assert_allclose(np.mean(found[:, :, 0], axis=0), expected, rtol=0.02)


def test_diffusion_follows_the_variance_recursion(decay):
    """Check: wilson S14.3: v <- (1 - dt)^2 v + dt s^2, within 4 standard errors."""
    s2 = 0.04
    found = np.asarray(simulate(decay, np.zeros(1), None, DT, s2, jax.random.key(1), steps=STEPS))[
        :, 1:, 0
    ]
    v, expected = 0.0, []
    for _ in range(STEPS):
        v = (1.0 - DT) ** 2 * v + DT * s2
        expected.append(v)
    ratio = np.var(found, axis=0) / np.array(expected)
    assert np.abs(ratio - 1.0).max() < 4.0 * np.sqrt(2.0 / N)
    mean = np.mean(found, axis=0) / np.sqrt(np.array(expected) / N)
    assert np.abs(mean).max() < 4.0
    # Negative control: noise that is not scaled by the root of the step size.
    assert np.abs(ratio / DT - 1.0).min() > 1.0


def test_diffusion_is_a_covariance(controlled):
    """The noise of one step has the covariance dt S, whichever way S is given."""
    a = np.zeros((400, 1))
    for given in (np.array([[0.5, 0.2], [0.2, 0.3]]), np.array([0.5, 0.3]), 0.5):
        found = np.asarray(simulate(controlled, np.zeros(2), a, DT, given, jax.random.key(2)))
        visited = np.concatenate([found[:, :-1], np.zeros((16, 400, 1))], axis=2)
        noise = np.diff(found, axis=1) - DT * np.asarray(controlled.paired(visited))
        full = given if np.ndim(given) == 2 else given * np.eye(2)
        error = np.cov(noise.reshape(-1, 2).T) / DT - full
        scale = np.sqrt((full**2 + np.outer(np.diag(full), np.diag(full))) / noise[..., 0].size)
        assert np.abs(error / scale).max() < 4.0


def test_controls_and_several_outputs(controlled):
    """Against a loop over steps; starts of one's own; increments are drifts with step size 1."""
    x0 = np.random.default_rng(2).normal(size=(16, 2)) * 0.3
    a = np.sin(np.arange(8.0))[:, None]
    found = np.asarray(simulate(controlled, x0, a, DT))
    x = x0
    for t in range(8):
        s = np.concatenate([x, np.full((16, 1), a[t])], axis=1)
        x = x + DT * np.asarray(controlled.paired(s[:, None]))[:, 0]
        np.testing.assert_allclose(found[:, t + 1], x, atol=1e-12)
    true = x0 + np.zeros((9, 16, 2))
    for t in range(8):
        drift = np.stack([-true[t, :, 0] + a[t], true[t, :, 0] - true[t, :, 1]], axis=1)
        true[t + 1] = true[t] + DT * drift
    np.testing.assert_allclose(found, np.moveaxis(true, 0, 1), atol=0.02)
    increments = np.asarray(simulate(controlled, x0, a))[:, 1] - x0
    np.testing.assert_allclose(increments, (found[:, 1] - x0) / DT, atol=1e-10)


def test_draws_are_kept_and_keys_reproduce():
    """Check: wilson S14.7. One function per trajectory, and the same one all along."""
    gp = ll.GP(1.0 * SquaredExponential(1.0), noise=1e-4)
    post = gp.condition(np.array([[5.0]]), np.zeros(1))
    paths = post.paths(KEY, N, features=64)
    found = np.asarray(simulate(paths, np.zeros(1), None, 0.01, steps=STEPS))
    again = simulate(post.paths(KEY, N, features=64), np.zeros(1), None, 0.01, steps=STEPS)
    np.testing.assert_array_equal(found, again)
    drift = np.diff(found[:, :, 0], axis=1) / 0.01
    assert len(np.unique(drift[:, 0])) == N
    # Along a trajectory that hardly moves, its function hardly changes; draws differ by about 1.
    assert np.abs(np.diff(drift, axis=1)).max() < 0.2
    assert drift[:, 0].std() > 0.9
    noisy = [
        np.asarray(simulate(paths, np.zeros(1), None, 0.01, 0.1, jax.random.key(k), steps=t))
        for k, t in ((3, STEPS), (3, 3), (4, STEPS))
    ]
    np.testing.assert_array_equal(noisy[0][:, :4], noisy[1])  # a shorter run is a beginning
    assert np.all(noisy[0][:, 1:] != noisy[2][:, 1:])


def test_it_traces(controlled):
    """Inside a program, with a gradient in the first state."""
    a, x0 = np.zeros((8, 1)), np.array([0.5, -0.2])

    @jax.jit
    @jax.value_and_grad
    def end(x0):
        return jnp.mean(simulate(controlled, x0, a, DT)[:, -1, 0])

    value, slope = end(x0)
    np.testing.assert_allclose(
        value, np.asarray(simulate(controlled, x0, a, DT))[:, -1, 0].mean(), rtol=1e-12
    )
    step = np.array([1e-5, 0.0])
    np.testing.assert_allclose(slope[0], (end(x0 + step)[0] - end(x0 - step)[0]) / 2e-5, rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.zeros(2), None), {}, "steps=T"),
        ((np.zeros(2), np.zeros((3, 1))), {"steps": 3}, "steps=T"),
        ((np.zeros(2), np.zeros((3, 2))), {}, "3 columns, state and controls together"),
        ((np.zeros((5, 2)), np.zeros((3, 1))), {}, r"16 of them \(16, d\)"),
        ((np.zeros(1), np.zeros((3, 2))), {}, r"2 output\(s\), but the state has 1"),
        ((np.zeros(2), np.zeros(3)), {}, "two dimensions"),
        ((np.zeros(2), None), {"steps": 0}, "positive whole number"),
        ((np.array([0.0, np.nan]), np.zeros((3, 1))), {}, "finite"),
        ((np.zeros(2), np.zeros((3, 1)), 1.0, 0.1), {}, "random key"),
        ((np.zeros(2), np.zeros((3, 1)), 1.0, np.ones(3), KEY), {}, "2 variances"),
        ((np.zeros(2), np.zeros((3, 1)), 1.0, -0.1, KEY), {}, "least eigenvalue"),
        ((np.zeros(2), np.zeros((3, 1)), 1.0, np.array([[1, 2], [0, 1]]), KEY), {}, "symmetric"),
    ],
)
def test_bad_input(controlled, arguments, options, message):
    with pytest.raises(ll.InvalidData, match=message):
        simulate(controlled, *arguments, **options)
