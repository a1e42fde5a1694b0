"""Gradients of averages over draws: of the average itself, and of what it estimates."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

import leadline as ll
from leadline.acquisition import (
    ExpectedImprovement,
    ProbabilityOfImprovement,
    base_samples,
)
from leadline.acquisition._monte_carlo import LogMonteCarlo, MonteCarlo
from leadline.acquisition._utilities import (
    Confidence,
    Exceedance,
    Highest,
    Improvement,
    SmoothExceedance,
)
from leadline.numerics import quick_jit

RNG = np.random.default_rng(0)
X = RNG.random((8, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1]
KERNEL = 1.1 * ll.kernels.Matern52([0.4, 0.6])
POSTERIOR = ll.GP(KERNEL, noise=1e-3).condition(X, Y)
BEST = 1.1
EI = Improvement(np.asarray(BEST))
UTILITIES = (EI, Highest(), Confidence(np.asarray(2.0)))
M = 200_000
BASE = np.random.default_rng(1).normal(size=(M, 2))
POINTS = np.array([[0.3, 0.8], [0.12, 0.5], [0.45, 0.95], [0.2, 0.2]])
STEP = 1e-5


def slow(q):
    return pytest.param(q, marks=pytest.mark.slow)


def moved(x):
    """The set moved along each of its coordinates, forward and back: (2 q d, q, d)."""
    steps = STEP * np.eye(x.size).reshape(-1, *x.shape)
    return jnp.asarray(np.concatenate([x + steps, x - steps]))


def slope(values, shape):
    """Central differences of the values at the moved sets."""
    forward, back = np.split(np.asarray(values), 2)
    return ((forward - back) / (2 * STEP)).reshape(shape)


@quick_jit
def gradients_and_values(acquisitions, x, others):
    """Gradients of one set (q, d), and values at others (b, q, d)."""
    gradients = [jax.grad(lambda x, a=a: a.values(x[None])[0])(x) for a in acquisitions]
    return gradients, [a.values(others) for a in acquisitions]


@quick_jit
def gradient_of_each_draw(utility, x, base):
    """(q d, m): along each coordinate, in every draw alone."""

    def values(x):
        return jax.vmap(lambda z: MonteCarlo(POSTERIOR, utility, z[None], None, False).values(x))(
            base
        )[:, 0]

    directions = np.eye(x.size).reshape(-1, *x.shape)
    # One direction after the other: a mapped solve would be a batch of LAPACK's.
    return jnp.stack([jax.jvp(values, (x,), (jnp.asarray(e),))[1] for e in directions])


def assert_mean(samples, wanted, slack=0.0):
    """The mean over draws, within 4 standard errors."""
    error = np.std(samples, axis=1) / np.sqrt(samples.shape[1])
    off = np.abs(np.mean(samples, axis=1) - wanted)
    assert np.all(off <= 4.0 * error + slack), (np.mean(samples, axis=1), wanted, error)


def moments(x):
    joint = POSTERIOR.joint(x)
    return np.asarray(joint.mean), np.asarray(joint.cov)


def excess(m, s, t):
    u = (m - t) / s
    return s * (norm.pdf(u) + u * norm.cdf(u))


def averages(posterior, rao_blackwell):
    base = base_samples(64, 4, 0)
    return [MonteCarlo(posterior, u, base, None, rao_blackwell) for u in UTILITIES]


both_forms = pytest.mark.parametrize("rao_blackwell", [True, False])


@both_forms
@pytest.mark.parametrize("q", [slow(1), 2, slow(3), slow(4)])
def test_they_are_those_of_the_average(q, rao_blackwell):
    """By central differences with the same draws, to 1e-5 of the largest.

    Check: wilson S3.1
    """
    x = POINTS[:q]
    acquisitions = averages(POSTERIOR, rao_blackwell)
    found, values = gradients_and_values(acquisitions, jnp.asarray(x), moved(x))
    for gradient, value in zip(found, values, strict=True):
        scale = np.max(np.abs(gradient))
        assert scale > 1e-3
        np.testing.assert_allclose(gradient, slope(value, x.shape), rtol=0, atol=1e-5 * scale)


@both_forms
@pytest.mark.parametrize("q", [2, slow(4)])
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_they_are_finite_where_points_meet(q, noise, rao_blackwell):
    """Points within 1e-6 of one another, at the same place, and at a row of the data.

    Check: wilson S3.5
    """
    acquisitions = averages(ll.GP(KERNEL, noise=noise).condition(X, Y), rao_blackwell)
    assert_finite(acquisitions, q)


def test_they_do_not_depend_on_how_the_compiler_rounds():
    """With little optimization it computes some values twice, and not always to the same digit.

    A gradient that looks for the value that equals the largest finds none then.
    """

    def gradient(acquisition, x, level):
        options = {"xla_backend_optimization_level": level}
        return eqx.filter_jit(
            jax.grad(lambda x, a: a.values(x[None])[0]), compiler_options=options
        )(x, acquisition)

    x, (*_, confidence) = jnp.asarray(POINTS[:2]), averages(POSTERIOR, False)
    little, much = (gradient(confidence, x, level) for level in (0, 3))
    assert np.max(np.abs(much)) > 0.1
    np.testing.assert_allclose(little, much, rtol=1e-8)


def assert_finite(acquisitions, q):
    point, known = POINTS[0], X[np.argmax(Y)]
    for pair in ([point, point + 1e-6], [point, point], [known, point], [known, known]):
        x = np.stack([*pair, known, POINTS[3]][:q])
        gradients, values = gradients_and_values(acquisitions, jnp.asarray(x), moved(x))
        for gradient, value in zip(gradients, values, strict=True):
            assert np.all(np.isfinite(value))
            assert np.all(np.isfinite(gradient))


def test_the_logarithm_has_a_gradient_where_the_value_is_0():
    """And so do probabilities: both are finite where points meet.

    Check: wilson S3.5
    """
    posterior = ll.GP(KERNEL, noise=0.0).condition(X, Y)
    base, x = base_samples(64, 4, 0), POINTS[:2]

    def pair(posterior, best):
        probability = MonteCarlo(posterior, Exceedance(np.asarray(best)), base)
        return [probability, LogMonteCarlo(posterior, Improvement(np.asarray(best)), base)]

    gradients, values = gradients_and_values(pair(POSTERIOR, 61.0), jnp.asarray(x), moved(x))
    np.testing.assert_array_equal(values[0], 0.0)
    assert np.all(np.isfinite(values[1]))
    found, wanted = gradients[1], slope(values[1], x.shape)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5 * np.max(np.abs(wanted)))
    assert np.max(np.abs(wanted)) > 1.0
    assert_finite(pair(posterior, BEST), 2)


@pytest.fixture(scope="module")
def of_one_point():
    """Gradients of closed forms, and of draws of the probability."""
    x, best, base = jnp.asarray(POINTS[:1]), np.asarray(BEST), base_samples(64, 1, 0)
    acquisitions = {
        "EI": ExpectedImprovement(POSTERIOR, best),
        "PI": ProbabilityOfImprovement(POSTERIOR, best),
        "naive PI": MonteCarlo(POSTERIOR, Exceedance(best), base, None, False),
        "Rao-Blackwellized PI": MonteCarlo(POSTERIOR, Exceedance(best), base),
    }
    found, values = gradients_and_values(list(acquisitions.values()), x, x[None])
    assert 0.0 < values[2][0] < 1.0
    return dict(zip(acquisitions, map(np.ravel, found), strict=True))


def test_of_one_point_their_mean_is_the_gradient_of_expected_improvement(of_one_point):
    """Check: wilson S3.2"""
    samples = np.asarray(gradient_of_each_draw(EI, jnp.asarray(POINTS[None, :1]), BASE[:, :1]))
    assert np.max(np.abs(of_one_point["EI"])) > 0.05
    assert_mean(samples, of_one_point["EI"])


def test_of_two_points_their_mean_is_the_gradient_of_the_integral():
    """By quadrature over the first value on both sides of where it counts.

    Check: wilson S3.3
    """
    nodes, weights = np.polynomial.legendre.leggauss(200)

    def integral(x):
        mean, cov = moments(x)
        std, shift = np.sqrt(cov[0, 0]), cov[0, 1] / cov[0, 0]
        rest = np.sqrt(cov[1, 1] - shift * cov[0, 1])
        total, middle = excess(mean[0], std, BEST), (BEST - mean[0]) / std
        for low, high in ((-9.0, middle), (middle, 9.0)):
            u = low + (high - low) * 0.5 * (nodes + 1.0)
            gain = excess(mean[1] + shift * std * u, rest, np.maximum(BEST, mean[0] + std * u))
            total += np.sum(weights * norm.pdf(u) * gain) * 0.5 * (high - low)
        return total

    x = POINTS[:2]
    wanted = slope([integral(other) for other in np.asarray(moved(x))], (4,))
    samples = np.asarray(gradient_of_each_draw(EI, jnp.asarray(x)[None], BASE))
    assert np.min(np.abs(wanted)) > 0.01
    assert_mean(samples, wanted)


class TestProbabilityOfImprovement:
    """An indicator jumps: draws of it have no slope, although their mean has."""

    def test_of_the_indicator_they_are_all_0(self, of_one_point):
        """Check: wilson S3.4"""
        np.testing.assert_array_equal(of_one_point["naive PI"], 0.0)
        assert np.max(np.abs(of_one_point["PI"])) > 0.1

    def test_of_the_closed_form_they_are_right(self, of_one_point):
        found = of_one_point["Rao-Blackwellized PI"]
        np.testing.assert_allclose(found, of_one_point["PI"], rtol=1e-10)

    def test_of_the_sigmoid_they_are_those_of_its_average(self):
        """Check: wilson S3.4"""
        x = POINTS[:2]
        smooth = SmoothExceedance(np.asarray(BEST), np.asarray(0.1), np.asarray(0.0))
        acquisition = MonteCarlo(POSTERIOR, smooth, base_samples(64, 2, 0), None, False)
        (found,), (value,) = gradients_and_values([acquisition], jnp.asarray(x), moved(x))
        scale = np.max(np.abs(found))
        assert scale > 0.1
        np.testing.assert_allclose(found, slope(value, x.shape), rtol=0, atol=1e-6 * scale)


def test_whole_function_draws_have_the_same_mean_gradient():
    """Slopes of drawn functions where they improve, within 4 standard errors and a tenth.

    Check: wilson S3.6
    """
    x = jnp.asarray(POINTS[:1])
    mean, cov = moments(POINTS[:1])
    assert norm.cdf((mean[0] - BEST) / np.sqrt(cov[0, 0])) >= 0.1
    paths = POSTERIOR.paths(jax.random.key(0), 2000, features=4096)

    def improvements(x):
        return jnp.maximum(paths(x)[:, 0] - BEST, 0.0)

    along = [jax.jvp(improvements, (x,), (jnp.asarray(e)[None],))[1] for e in np.eye(2)]
    of_functions = np.stack([np.asarray(a) for a in along])
    of_values = np.asarray(gradient_of_each_draw(EI, x[None], BASE[:, :1]))
    wanted = of_values.mean(axis=1)
    error = of_values.std(axis=1) / np.sqrt(M)
    assert_mean(of_functions, wanted, slack=4.0 * error + 0.1 * np.abs(wanted))
