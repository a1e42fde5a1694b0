"""Closed-form moments against Monte Carlo, and limits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

import leadline as ll
from leadline.dynamics import (
    CartPole,
    Encoding,
    GaussianReward,
    Moments,
    moment_matching,
    probit_moments,
)
from leadline.kernels import Matern52, SquaredExponential
from leadline.models import Titsias

RNG = np.random.default_rng(0)
N = 100_000
X = RNG.normal(size=(20, 3))
Y = (np.sin(X[:, 0]) + X[:, 1], X[:, 0] * X[:, 2])
MEAN = np.array([0.2, -0.3, 0.5])
ROOT = RNG.normal(size=(3, 3)) * 0.45
COV = ROOT @ ROOT.T
LENGTHS = np.array([1.0, 1.5, 2.0])


@jax.jit
def probit(mean, var):
    return probit_moments(jnp.asarray(mean), jnp.asarray(var))


@eqx.filter_jit
def expectation(reward, mean, cov):
    return reward.expectation(mean, cov)


@eqx.filter_jit
def rewards(reward, x):
    return reward(x)


def posteriors(model):
    kernels = 1.0 * SquaredExponential(LENGTHS), 2.0 * SquaredExponential(1.3 * LENGTHS)
    if model == "exact":
        gps = [ll.GP(k, mean=m, noise=0.01) for k, m in zip(kernels, (0.0, 0.3), strict=True)]
    else:
        gps = [
            Titsias(k, X[:m], mean=b, noise=0.01)
            for k, b, m in zip(kernels, (0.0, 0.3), (8, 6), strict=True)
        ]
    return [gp.condition(X, y) for gp, y in zip(gps, Y, strict=True)]


def in_standard_errors(samples, expected):
    samples = np.asarray(samples)
    return np.abs(samples.mean(axis=0) - expected) / (samples.std(axis=0) / np.sqrt(len(samples)))


@pytest.mark.parametrize("model", ["exact", pytest.param("sparse", marks=pytest.mark.slow)])
def test_against_monte_carlo(model):
    """Check: wilson S15.2: two outputs, three inputs, within 4 standard errors."""
    posts = posteriors(model)
    found = Moments(*jax.device_get(moment_matching(posts, MEAN, COV)))
    rng = np.random.default_rng(1)
    x = MEAN + rng.normal(size=(N, 3)) @ ROOT.T
    law = [post.predict(x) for post in posts]
    mean = np.stack([one.mean for one in law], axis=1)
    f = mean + np.sqrt(np.stack([one.var for one in law], axis=1)) * rng.normal(size=(N, 2))
    assert in_standard_errors(f, found.mean).max() < 4.0
    dx, df = x - MEAN, f - np.asarray(found.mean)
    assert in_standard_errors(df[:, :, None] * df[:, None, :], found.cov).max() < 4.0
    assert in_standard_errors(dx[:, :, None] * df[:, None, :], COV @ found.slope).max() < 4.0
    # Negative control: without the uncertainty of the functions, the variances are too small.
    certain = np.var(mean, axis=0)
    assert np.all(certain < 0.99 * np.diag(found.cov))


def test_a_known_input_gives_the_prediction():
    """With no variance, and with almost none, where differences of moments would lose digits."""
    posts = posteriors("exact")
    law = [post.predict(MEAN[None]) for post in posts]
    for cov in (np.zeros((3, 3)), 1e-14 * COV):
        found = Moments(*jax.device_get(moment_matching(posts, MEAN, cov)))
        np.testing.assert_allclose(found.mean, [one.mean[0] for one in law], atol=1e-10)
        np.testing.assert_allclose(np.diag(found.cov), [one.var[0] for one in law], atol=1e-10)

    @jax.jit
    @jax.jacobian
    def slope(x):
        return jnp.stack([post.predict(x[None]).mean[0] for post in posts])

    np.testing.assert_allclose(found.slope, slope(jnp.asarray(MEAN)).T, atol=1e-10)
    tangent = np.asarray(found.slope.T @ (1e-14 * COV) @ found.slope)
    assert found.cov[0, 1] == pytest.approx(tangent[0, 1], rel=1e-6)


def test_far_away_the_prior_is_left():
    """Nothing overflows where the expected kernel values underflow."""
    for far, cov in ((1e3, COV), (50.0, COV), (0.0, 1e8 * COV)):
        found = jax.device_get(moment_matching(posteriors("exact"), np.full(3, far), cov))
        np.testing.assert_allclose(found[0], [0.0, 0.3], atol=1e-3)
        np.testing.assert_allclose(found[1], np.diag([1.0, 2.0]), atol=1e-2)
        np.testing.assert_allclose(found[2], 0.0, atol=1e-6)


def test_probit_moments():
    """Check: wilson S15.3, first half."""
    z0 = np.random.default_rng(2).normal(size=N)
    for mean, var in ((0.3, 0.5), (-1.5, 2.0), (0.0, 10.0)):
        z = mean + np.sqrt(var) * z0
        p = scipy.special.ndtr(z)
        first, second, slope = jax.device_get(probit(mean, var))
        assert in_standard_errors(p[:, None], first).max() < 4.0
        assert in_standard_errors((p[:, None] - float(first)) ** 2, second).max() < 4.0
        assert in_standard_errors((z - mean)[:, None] * p[:, None], var * slope).max() < 4.0
    first, second, slope = jax.device_get(probit(0.7, 0.0))
    np.testing.assert_allclose(first, 0.758036, atol=1e-6)
    assert abs(float(second)) < 1e-15
    np.testing.assert_allclose(slope, 0.312254, atol=1e-6)


def test_expected_reward():
    """Check: wilson S15.3, second half. Exact where no angle is encoded."""
    matrix, target = np.array([[1.0, 0.5, 0.0], [0.0, -1.0, 2.0]]), np.array([0.3, -0.1])
    reward = GaussianReward(jnp.asarray(matrix), jnp.asarray(target), 0.8, Encoding(3))
    x = MEAN + np.random.default_rng(3).normal(size=(N, 3)) @ ROOT.T
    expected = np.asarray(expectation(reward, MEAN, COV))
    assert in_standard_errors(np.asarray(rewards(reward, x))[:, None], expected).max() < 4.0
    missed = matrix @ MEAN - target
    at = expectation(reward, MEAN, np.zeros((3, 3)))
    np.testing.assert_allclose(at, np.exp(-0.5 * missed @ missed / 0.64), rtol=1e-12)


def test_expected_reward_of_the_tip():
    """With an angle: close for small variances, and off for a pole that may point anywhere."""
    reward, rng = CartPole.standard().reward(0.25), np.random.default_rng(4)
    mean = np.array([0.1, np.pi - 0.2, 0.0, 0.0])
    for scale, tolerance in ((0.05, 2e-3), (0.2, 3e-2)):
        x = mean + scale * rng.normal(size=(N, 4))
        expected = float(expectation(reward, mean, scale**2 * np.eye(4)))
        found = np.asarray(rewards(reward, x))
        assert found.mean() == pytest.approx(expected, rel=tolerance)


def test_encoded_moments():
    """The moments of sine and cosine are exact."""
    encoding = Encoding(3, angle=1)
    mean, s, cross = jax.device_get(jax.jit(encoding.moments)(MEAN, COV))
    x = MEAN + np.random.default_rng(5).normal(size=(N, 3)) @ ROOT.T
    e = np.asarray(jax.jit(encoding)(x))
    np.testing.assert_allclose(e[:, 2:], np.stack([np.sin(x[:, 1]), np.cos(x[:, 1])], axis=1))
    np.testing.assert_array_equal(e[:, :2], x[:, [0, 2]])
    assert in_standard_errors(e, mean).max() < 4.0
    de, dx = e - np.asarray(mean), x - MEAN
    assert in_standard_errors(de[:, :, None] * de[:, None, :], s).max() < 4.0
    assert in_standard_errors(dx[:, :, None] * de[:, None, :], cross).max() < 4.0


def test_bad_input():
    posts = posteriors("exact")
    with pytest.raises(ll.InvalidData, match=r"mean must be \(3,\)"):
        moment_matching(posts, np.zeros(2), np.eye(2))
    matern = ll.GP(Matern52(np.ones(3))).condition(X, Y[0])
    with pytest.raises(ll.Unsupported, match="squared exponential"):
        moment_matching([matern], MEAN, COV)
    tilted = ll.GP(SquaredExponential(), mean=ll.means.Linear(np.ones(3))).condition(X, Y[0])
    with pytest.raises(ll.Unsupported, match="constant mean"):
        moment_matching([tilted], MEAN, COV)
    with pytest.raises(ll.InvalidData, match="angle must be a column"):
        Encoding(3, angle=3)
