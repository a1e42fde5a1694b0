import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate

import leadline as ll
from leadline.acquisition import ExpectedImprovement, LogExpectedImprovement
from leadline.acquisition._expected_improvement import log_h
from leadline.models import mixture

Z = np.array([4.0, 1.0, 0.0, -0.5, -0.999, -1.001, -3.0, -10.0, -37.0, -60.0, -99.0, -101.0, -1e4])


@pytest.fixture(scope="module")
def posterior():
    rng = np.random.default_rng(0)
    x = rng.random((12, 2))
    y = np.sin(6 * x[:, 0]) + x[:, 1]
    return ll.GP(1.3 * ll.kernels.Matern52([0.4, 0.7]), noise=1e-3).condition(x, y)


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


def test_expected_improvement_is_the_mean_of_improvements(posterior):
    xs = np.random.default_rng(1).random((5, 2))
    best = 0.9
    closed = ExpectedImprovement(posterior, jnp.asarray(best)).values(xs[:, None, :])
    marginal = posterior.predict(xs)
    normal = np.random.default_rng(2).normal(size=(400_000, 1))
    gains = np.maximum(marginal.mean + marginal.std * normal - best, 0.0)
    error = gains.std(axis=0) / np.sqrt(len(gains))
    # Where no draw improves there is no error to measure, and nothing to find.
    assert np.all(np.abs(gains.mean(axis=0) - closed) < 4.5 * error + 1e-12)


def test_both_forms_agree_and_so_do_their_gradients(posterior):
    xs = jnp.asarray(np.random.default_rng(3).random((5, 1, 2)))
    best = jnp.asarray(0.5)
    plain, log = ExpectedImprovement(posterior, best), LogExpectedImprovement(posterior, best)
    np.testing.assert_allclose(log.values(xs), np.log(plain.values(xs)), rtol=1e-10)
    gradient = jax.grad(lambda x: jnp.sum(log.values(x)))(xs)
    step = 1e-6
    for column in range(2):
        moved = jnp.zeros((1, 1, 2)).at[..., column].set(step)
        slope = (log.values(xs + moved) - log.values(xs - moved)) / (2 * step)
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
