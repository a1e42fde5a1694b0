"""Expected excess and its logarithm, and the closed forms of improvement that rest on them."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
from scipy.stats import norm

import leadline as ll
from leadline.acquisition import (
    ExpectedImprovement,
    LogExpectedImprovement,
    ProbabilityOfImprovement,
)
from leadline.acquisition._improvement import expected_excess, log_expected_excess, log_h
from leadline.models import mixture

Z = np.array([4.0, 1.0, 0.0, -0.5, -0.999, -1.001, -3.0, -10.0, -37.0, -60.0, -99.0, -101.0, -1e4])
KERNEL = 1.3 * ll.kernels.Matern52([0.4, 0.7])
RNG = np.random.default_rng(0)
X = RNG.random((12, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1]
XS = np.random.default_rng(1).random((5, 2))


@pytest.fixture(scope="module")
def posterior():
    return ll.GP(KERNEL, noise=1e-3).condition(X, Y)


def brute_force_log_h(z):
    """With h = phi(z) times the integral of u exp(z u - u^2 / 2) over u > 0, z scaled out."""
    scale = max(1.0, abs(z)) if z < 0 else 1.0
    shift = 0.0 if z < 0 else 0.5 * z**2  # the largest exponent

    def integrand(t):
        u = t / scale
        return t * np.exp(z * u - 0.5 * u**2 - shift) / scale**2

    value, _ = scipy.integrate.quad(integrand, 0.0, 60.0, epsabs=0, epsrel=1e-12, limit=400)
    return np.log(value) + shift - 0.5 * z**2 - 0.5 * np.log(2 * np.pi)


def test_log_h_is_the_integral_it_stands_for():
    expected = [brute_force_log_h(z) for z in Z]
    np.testing.assert_allclose(log_h(jnp.asarray(Z)), expected, rtol=1e-11)


def test_the_derivative_of_log_h_is_right_in_every_piece():
    gradient = jax.vmap(jax.grad(log_h))(jnp.asarray(Z))
    step = 1e-5
    differences = [
        (brute_force_log_h(z + step) - brute_force_log_h(z - step)) / (2 * step) for z in Z[:-1]
    ]
    np.testing.assert_allclose(gradient[:-1], differences, rtol=1e-6)
    # h is phi(z) / z^2 far out, so the slope of its logarithm is -z - 2 / z.
    np.testing.assert_allclose(gradient[-1], -Z[-1] - 2 / Z[-1], rtol=1e-12)


def test_far_out_the_logarithm_stays_finite_where_the_value_does_not():
    z = jnp.array([-1e3, -1e8])
    naive = jnp.exp(-0.5 * z**2) / jnp.sqrt(2 * jnp.pi) + z * jax.scipy.special.ndtr(z)
    assert np.all(naive <= 0.0)  # nothing to take a logarithm of
    assert np.all(np.isfinite(log_h(z)))
    assert np.all(np.isfinite(jax.vmap(jax.grad(log_h))(z)))


def test_the_excess_scales_with_the_deviation():
    """Of N(m, s^2) over t it is s h((m - t) / s), and m - t where that is many deviations."""
    mean, std, threshold = np.array([0.3, -1.0, 2.0]), np.array([0.7, 2.0, 1e-3]), 0.5
    z = (mean - threshold) / std
    wanted = std * (norm.pdf(z) + z * norm.cdf(z))
    found = expected_excess(jnp.asarray(mean), jnp.asarray(std), threshold)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(found[2], mean[2] - threshold, rtol=1e-12)
    log = log_expected_excess(jnp.asarray(mean), jnp.asarray(std), threshold)
    np.testing.assert_allclose(log, np.log(wanted), rtol=1e-12)


def test_expected_improvement_is_what_a_call_adds_to_the_best_seen(posterior):
    """E max(best, y) - best, by quadrature on both sides of the best.

    Check: wilson S1.1
    """
    best = 0.9
    marginal = posterior.predict(XS)
    nodes, weights = np.polynomial.legendre.leggauss(100)
    found = ExpectedImprovement(posterior, np.asarray(best)).values(jnp.asarray(XS)[:, None, :])
    for mean, std, value in zip(marginal.mean, marginal.std, found, strict=True):
        total = 0.0
        ends = (mean - 12 * std, np.clip(best, mean - 12 * std, mean + 12 * std), mean + 12 * std)
        for low, high in itertools.pairwise(ends):
            y = low + (high - low) * 0.5 * (nodes + 1.0)
            density = norm.pdf(y, mean, std) * 0.5 * (high - low)
            total += np.sum(weights * density * np.maximum(best, y))
        assert abs(total - best - value) < 1e-10


def test_expected_improvement_is_the_mean_of_improvements(posterior):
    best = 0.9
    closed = ExpectedImprovement(posterior, jnp.asarray(best)).values(XS[:, None, :])
    marginal = posterior.predict(XS)
    normal = np.random.default_rng(2).normal(size=(400_000, 1))
    gains = np.maximum(marginal.mean + marginal.std * normal - best, 0.0)
    error = gains.std(axis=0) / np.sqrt(len(gains))
    # Where no draw improves there is no error to measure, and nothing to find.
    assert np.all(np.abs(gains.mean(axis=0) - closed) < 4.5 * error + 1e-12)


def test_the_probability_is_how_fast_the_expectation_falls_with_the_threshold(posterior):
    """Larger values are better here, so the slope is minus the probability.

    Check: tiao S3-S6.2
    """
    best, step, rows = 0.9, 1e-5, jnp.asarray(XS)[:, None, :]
    probability = ProbabilityOfImprovement(posterior, jnp.asarray(best)).values(rows)
    up, down = (
        ExpectedImprovement(posterior, jnp.asarray(best + h)).values(rows) for h in (step, -step)
    )
    np.testing.assert_allclose((down - up) / (2 * step), probability, atol=1e-6)
    marginal = posterior.predict(XS)
    np.testing.assert_allclose(
        probability, norm.cdf((marginal.mean - best) / marginal.std), rtol=1e-9, atol=1e-15
    )
    draws = marginal.mean + marginal.std * np.random.default_rng(3).normal(size=(1_000_000, 1))
    better = np.mean(draws > best, axis=0)
    error = np.sqrt(better * (1.0 - better) / len(draws))
    assert np.all(np.abs(better - probability) < 4.0 * error + 1e-6)


def test_without_noise_there_is_nothing_to_gain_at_the_data():
    """The best call itself has a value of exactly `best`, known up to rounding.

    Whether rounding puts it above or below `best` is chance, so nothing is said of its probability.

    Check: wilson S1.2
    """
    posterior = ll.GP(KERNEL, noise=0.0).condition(X, Y)
    best, rows = np.asarray(Y.max()), jnp.asarray(X)[:, None, :]
    assert np.max(posterior.predict(X).var) <= 1e-8
    assert np.max(ExpectedImprovement(posterior, best).values(rows)) <= 1e-8
    others = np.delete(np.arange(12), np.argmax(Y))
    assert np.max(ProbabilityOfImprovement(posterior, best).values(rows)[others]) <= 1e-8
    # Elsewhere there is.
    elsewhere = jnp.asarray(XS)[:, None, :]
    assert np.max(ExpectedImprovement(posterior, best).values(elsewhere)) > 1e-4


def test_both_forms_agree_and_so_do_their_gradients(posterior):
    xs = jnp.asarray(np.random.default_rng(3).random((5, 1, 2)))
    best = jnp.asarray(0.5)
    plain, log = ExpectedImprovement(posterior, best), LogExpectedImprovement(posterior, best)

    @jax.jit
    def program(xs):
        pair = log.values(xs), plain.values(xs)
        return *pair, jax.grad(lambda x: jnp.sum(log.values(x)))(xs)

    logs, values, gradient = program(xs)
    np.testing.assert_allclose(logs, np.log(values), rtol=1e-10)
    step = 1e-6
    for column in range(2):
        moved = step * np.eye(2)[column]
        slope = (program(xs + moved)[0] - program(xs - moved)[0]) / (2 * step)
        np.testing.assert_allclose(gradient[:, 0, column], slope, rtol=1e-5, atol=1e-7)


def test_at_a_point_without_doubt_the_logarithm_is_finite():
    """The variance at noise-free data is 0, and 0 has no logarithm."""
    x = np.array([[0.2], [0.8]])
    posterior = ll.GP(ll.kernels.Matern52(0.3), noise=0.0).condition(x, [0.0, 1.0])
    at_data = LogExpectedImprovement(posterior, jnp.asarray(1.0)).values(x[:, None, :])
    assert np.all(np.isfinite(at_data))
    assert np.all(at_data < -15)


def test_misuse_is_an_error(posterior):
    acquisition = LogExpectedImprovement(posterior, jnp.asarray(0.0))
    with pytest.raises(ll.InvalidData, match="one point at a time"):
        acquisition.values(jnp.zeros((4, 2, 2)))
    with pytest.raises(ll.Unsupported, match="no normal marginals"):
        LogExpectedImprovement(mixture([posterior, posterior], [0.5, 0.5]), jnp.asarray(0.0))
