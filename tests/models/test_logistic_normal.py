"""The averaged logistic function: against composite Gauss-Legendre quadrature, into both tails."""

import jax
import numpy as np
import pytest

from leadline.models import averaged_log_odds

DEVIATIONS = [1e-3, 0.1, 0.5, 1.0, 1.99, 2.0, 2.01, 3.0, 10.0, 100.0]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(20)
log_odds = jax.jit(averaged_log_odds)
gradients = jax.jit(jax.grad(lambda mean, var: averaged_log_odds(mean, var).sum(), argnums=(0, 1)))


def reference(mu, s):
    """Log odds for mu <= 0, by 20 nodes on each stretch of one unit of f or t."""
    low, high = -13.0, 13.0 + min(s, -mu / s)
    edges = np.linspace(low, high, int(np.ceil((high - low) * max(s, 1.0))) + 1)
    half = 0.5 * np.diff(edges)[:, None]
    t = edges[:-1, None] + half + half * NODES
    logs = -np.logaddexp(0.0, -(mu + s * t)) - 0.5 * t**2
    log_p = logs.max() + np.log(np.sum(half * WEIGHTS * np.exp(logs - logs.max())))
    log_p -= 0.5 * np.log(2.0 * np.pi)
    return log_p - np.log1p(-np.exp(log_p))


def means(s):
    """From the middle to far beyond where the tail changes its character, at -s^2."""
    return -np.array([1e-3, 0.1, 1.0, 3.0, 40.0, *(s * s * np.array([0.25, 0.5, 0.75, 1.0, 2.0]))])


@pytest.mark.parametrize("s", DEVIATIONS)
def test_log_odds_are_right_in_the_middle_and_in_the_tails(s):
    """An error of the log odds is a relative one of the smaller probability."""
    mu = means(s)
    wanted = np.array([reference(m, s) for m in mu])
    found = np.asarray(log_odds(mu, np.full(mu.size, s * s)))
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-8)


def test_gauss_hermite_would_not_do():
    """Negative control: 32 nodes are wrong by more than a percent where the latent is uncertain."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(32)
    s, mu = 10.0, -1.0
    hermite = weights @ (1.0 / (1.0 + np.exp(-(mu + s * nodes)))) / weights.sum()
    p = 1.0 / (1.0 + np.exp(-reference(mu, s)))
    assert abs(hermite - p) > 1e-2


def test_it_is_odd_and_its_gradient_is_that_of_central_differences():
    s = np.array(DEVIATIONS)
    mu = np.linspace(-3.0, 4.0, s.size)
    np.testing.assert_array_equal(log_odds(mu, s**2), -log_odds(-mu, s**2))
    by_mean, by_var = gradients(mu, s**2)
    h = 1e-4
    wanted = (log_odds(mu + h, s**2) - log_odds(mu - h, s**2)) / (2.0 * h)
    np.testing.assert_allclose(by_mean, wanted, atol=1e-6)
    wanted = (log_odds(mu, s**2 * (1.0 + h)) - log_odds(mu, s**2 * (1.0 - h))) / (2.0 * h)
    np.testing.assert_allclose(by_var * s**2, wanted, atol=1e-6)


def test_without_variance_it_is_the_mean():
    mu = np.linspace(-800.0, 800.0, 10)
    np.testing.assert_allclose(log_odds(mu, np.zeros(10)), mu, rtol=1e-10)
    assert all(np.all(np.isfinite(g)) for g in gradients(mu, np.zeros(10)))
