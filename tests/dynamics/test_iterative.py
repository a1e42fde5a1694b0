"""Sampling the drift where the trajectory goes: the joint law, and agreement with draws."""

import jax
import numpy as np
import pytest

import leadline as ll
from leadline.dynamics import (
    simulate,
    simulate_iteratively,
    simulate_with_independent_residuals,
)
from leadline.kernels import Matern52, SquaredExponential
from leadline.models import Titsias

KEY = jax.random.key(0)
N, STEPS = 2000, 20
RNG = np.random.default_rng(0)
X = np.sort(RNG.uniform(-2.0, 2.0, 12))[:, None]
Y = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.normal(size=12)
KERNEL = 1.0 * SquaredExponential(0.7)


@pytest.fixture(scope="module")
def exact():
    return ll.GP(KERNEL, noise=0.01).condition(X, Y)


@pytest.fixture(scope="module")
def sparse():
    """Inducing points on the left only: on the right they leave the function open."""
    return Titsias(KERNEL, X[:6], noise=0.01).condition(X, Y)


@pytest.mark.parametrize("which", ["exact", pytest.param("sparse", marks=pytest.mark.slow)])
def test_agrees_with_function_draws(which, request):
    """Check: wilson S14.2: means within 4 standard errors, ratios of deviations in [0.9, 1.1]."""
    post = request.getfixturevalue(which)
    x0 = np.array([0.3])
    paths = post.paths(KEY, N, features=2048)
    drawn = np.asarray(simulate(paths, x0, None, 0.2, steps=STEPS))[:, 1:, 0]
    found = np.asarray(
        simulate_iteratively([post], x0, None, 0.2, key=jax.random.key(2), n=N, steps=STEPS)
    )[:, 1:, 0]
    difference = np.mean(drawn, axis=0) - np.mean(found, axis=0)
    error = np.sqrt((np.var(drawn, axis=0) + np.var(found, axis=0)) / N)
    assert np.abs(difference / error).max() < 4.0
    ratio = np.std(drawn, axis=0) / np.std(found, axis=0)
    assert ratio.min() > 0.9
    assert ratio.max() < 1.1


def by_control():
    """A drift that is a function of the control alone: the trajectory visits known inputs."""
    s = np.concatenate([RNG.normal(size=X.shape), X], axis=1)
    return ll.GP(SquaredExponential(0.7).on([1]), noise=0.01).condition(s, Y)


def test_visited_values_have_the_joint_law():
    """Increments along known inputs are joint draws of the posterior there."""
    post = by_control()
    controls = np.linspace(-3.0, 3.0, STEPS)[:, None]
    found = simulate_iteratively([post], np.zeros(1), controls, 0.5, key=KEY, n=N)
    found = np.asarray(found)[:, :, 0]
    values = np.diff(found, axis=1) / 0.5
    law = post.joint(np.concatenate([np.zeros((STEPS, 1)), controls], axis=1))
    error = (values.mean(axis=0) - law.mean) / np.sqrt(np.diag(law.cov) / N)
    assert np.abs(error).max() < 4.0
    variances = np.diag(law.cov)
    scale = np.sqrt((law.cov**2 + np.outer(variances, variances)) / N)
    # 210 entries, each normal: 4.5 standard errors are exceeded once in 700 times.
    assert np.abs((np.cov(values.T) - law.cov) / scale).max() < 4.5


def test_a_visited_value_is_remembered():
    """The same input again gives the same value, though its variance is then only rounding."""
    post = by_control()
    controls = np.tile(np.array([-1.0, 0.2, 3.0, 5.0]), 5)[:, None]
    found = simulate_iteratively([post], np.zeros(1), controls, key=KEY, n=N)
    found = np.asarray(found)[:, :, 0]
    values = np.diff(found, axis=1).reshape(N, 5, 4)
    np.testing.assert_allclose(values, np.broadcast_to(values[:, :1], values.shape), atol=1e-6)
    assert values[:, 0, 3].std() > 0.9


@pytest.mark.slow
def test_independent_residuals_agree_where_little_is_left():
    """Check: wilson S14.5, first half: the same mean where the posterior variance is small."""
    post = Titsias(1.0 * SquaredExponential(2.0), X[::2], noise=1e-5).condition(X, -np.sin(X[:, 0]))
    x0 = np.array([0.3])
    paths = post.paths(KEY, N, features=2048)
    drawn = np.asarray(simulate(paths, x0, None, 0.2, steps=STEPS))[:, 1:, 0]
    found = simulate_with_independent_residuals(
        [post], x0, None, 0.2, key=jax.random.key(1), n=N, steps=STEPS
    )
    found = np.asarray(found)[:, 1:, 0]
    assert np.abs(np.mean(drawn, axis=0) - np.mean(found, axis=0)).max() < 2e-3
    assert np.std(drawn, axis=0).max() < 0.02  # little is left indeed


def test_independent_residuals_forget(sparse):
    """Check: wilson S14.5, second half: far from the inducing points the variances differ.

    Residuals that are one function along the trajectory add up; independent ones average out.
    """
    x0 = np.array([3.0])
    options = {"key": jax.random.key(1), "n": N, "steps": STEPS}
    kept, forgotten = (
        np.var(np.asarray(sampler([sparse], x0, None, 0.01, **options))[:, 1:, 0], axis=0)
        for sampler in (simulate_iteratively, simulate_with_independent_residuals)
    )
    ratio = kept / forgotten
    assert abs(ratio[0] - 1.0) < 4.0 * np.sqrt(4.0 / N)  # one step: the same law
    assert ratio[-1] > 0.7 * STEPS


@pytest.mark.slow
def test_outputs_controls_and_noise():
    """Two outputs with kernels of their own and correlated noise, where little is left open."""
    s = RNG.uniform(-2.0, 2.0, (30, 3))
    targets = (-s[:, 0] + s[:, 2], s[:, 0] - s[:, 1])
    kernels = (4.0 * SquaredExponential(4.0), 4.0 * Matern52(6.0))
    posts = [
        Titsias(k, s, noise=1e-5).condition(s, y) for k, y in zip(kernels, targets, strict=True)
    ]
    cov = np.array([[0.5, 0.3], [0.3, 0.4]])
    controls = np.ones((1, 1))
    for sampler in (simulate_iteratively, simulate_with_independent_residuals):
        found = np.asarray(sampler(posts, np.array([0.5, 0.0]), controls, 0.1, cov, KEY, N))
        assert found.shape == (N, 2, 2)
        step = found[:, 1] - found[:, 0]
        # Fitting the drift leaves an error far below the standard error of the noise.
        error = (step.mean(axis=0) - 0.1 * np.array([0.5, 0.5])) / np.sqrt(np.diag(0.1 * cov) / N)
        assert np.abs(error).max() < 4.0
        scale = np.sqrt((cov**2 + np.outer(np.diag(cov), np.diag(cov))) / N)
        assert np.abs((np.cov(step.T) / 0.1 - cov) / scale).max() < 4.0


def test_bad_input(exact, sparse):
    x0 = np.zeros(1)
    with pytest.raises(ll.InvalidData, match="random key"):
        simulate_iteratively([exact], x0, steps=3)
    with pytest.raises(ll.InvalidData, match="one for each output"):
        simulate_iteratively(exact, x0, key=KEY, steps=3)
    with pytest.raises(ll.InvalidData, match="2 posteriors, but the state has 1"):
        simulate_iteratively([exact, exact], x0, key=KEY, steps=3)
    with pytest.raises(ll.InvalidData, match="1 columns, state and controls together"):
        simulate_iteratively([exact], x0, np.zeros((3, 1)), key=KEY)
    with pytest.raises(ll.InvalidData, match="same input columns"):
        simulate_iteratively([exact, by_control()], np.zeros(2), key=KEY, steps=3)
    with pytest.raises(ll.Unsupported, match="Titsias"):
        simulate_with_independent_residuals([exact], x0, key=KEY, steps=3)
    with pytest.raises(ll.Unsupported, match="exact and Titsias"):
        simulate_iteratively([ll.GP(KERNEL)], x0, key=KEY, steps=3)
