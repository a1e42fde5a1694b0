"""The Bessel profile against SciPy's K, its derivatives against the recurrence, and its limits."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from leadline.numerics import bessel_profile

# From where only logarithms matter to where the function underflows, with the switch at z = 2.
Z = np.concatenate([10.0 ** np.arange(-140, -2, 6.0), np.linspace(0.01, 4, 200), [10, 100, 600]])
ORDERS = [1e-3, 0.3, 0.5, 1.0 - 1e-10, 1.3, 2.5, 20.1]


def log_factor(order):
    return float((1 - order) * np.log(2) - scipy.special.gammaln(order))


@partial(jax.jit, static_argnums=(0, 1))
def profile(order, factor, w):
    return bessel_profile(order, factor, w)


@partial(jax.jit, static_argnums=(0, 1))
def slope(order, factor, w):
    return jax.vmap(jax.grad(lambda w: bessel_profile(order, factor, w)))(w)


@pytest.mark.parametrize("order", ORDERS)
def test_scipy(order):
    """Where K itself overflows SciPy has no answer and 1 is the limit."""
    with np.errstate(over="ignore", invalid="ignore"):
        log_k = np.log(scipy.special.kve(order, Z)) - Z
        expected = np.exp(log_factor(order) + order * np.log(Z) + log_k)
    expected = np.where(np.isfinite(expected), expected, 1.0)
    np.testing.assert_allclose(profile(order, log_factor(order), Z**2), expected, rtol=5e-13)


@pytest.mark.parametrize("order", ORDERS)
def test_slope_is_a_profile(order):
    """d/dw z^a K_a(z) = -z^(a-1) K_(a-1)(z) / 2, with K of the order 1 - a if a < 1."""
    z = Z[Z > 1e-3]
    expected = -0.5 * z ** (order - 1) * scipy.special.kve(abs(order - 1), z) * np.exp(-z)
    scaled = np.exp(log_factor(order)) * expected
    np.testing.assert_allclose(slope(order, log_factor(order), z**2), scaled, rtol=1e-12)


def test_zero():
    """1 at zero by continuity; infinite slopes are given as 0, finite ones are exact."""
    for order in (0.3, 1.0, 2.7):
        at_zero = profile(order, log_factor(order), jnp.zeros(1))
        np.testing.assert_allclose(at_zero, 1.0, rtol=1e-14)
        expected = -0.25 / (order - 1) if order > 1 else 0.0
        np.testing.assert_allclose(slope(order, log_factor(order), jnp.zeros(1)), expected)


def test_huge_orders_do_not_overflow():
    """Gamma(900) is beyond floating point; the profile is within 1 / order of a Gaussian."""
    w = 4 * 900 * np.linspace(0, 5, 11) ** 2 / 2
    found = profile(900.0, log_factor(900.0), w)
    np.testing.assert_allclose(found, np.exp(-w / (4 * 900)), atol=1e-3)
    assert float(profile(900.0, log_factor(900.0), np.array([1e12]))[0]) == 0.0
