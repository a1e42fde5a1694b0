"""Matern kernels of any order: closed forms at half-integers, limits, and the spectral density."""

import jax
import numpy as np
import pytest
import scipy.integrate
import scipy.special
from tests.kernels.registry import gram

from leadline.kernels import Matern, Matern12, Matern32, Matern52, SquaredExponential
from leadline.numerics import bessel_profile

X = np.linspace(0.0, 6.0, 61)[:, None]
ORIGIN = np.zeros((1, 1))


def by_bessel(nu, r):
    log_factor = float((1 - nu) * np.log(2) - scipy.special.gammaln(nu))
    return jax.jit(lambda w: bessel_profile(nu, log_factor, w))(2 * nu * r**2)


@pytest.mark.parametrize("closed", [Matern12(), Matern32(), Matern52()])
def test_bessel_agrees_with_closed_forms(closed):
    """Check: naiff S9.7; tiao Background (half-integer closed forms)."""
    r = X[:, 0]
    expected = np.asarray(gram(closed, X, ORIGIN))[:, 0]
    np.testing.assert_allclose(by_bessel(closed.smoothness, r), expected, rtol=1e-12)
    # And through the general kernel, which takes the closed form at the half-integer itself.
    for nu in (closed.smoothness, closed.smoothness + 1e-12):
        general = np.asarray(gram(Matern(nu=nu), X, ORIGIN))[:, 0]
        np.testing.assert_allclose(general, expected, atol=1e-8)


@pytest.mark.parametrize("p", [3, 4, 6])
def test_higher_half_integers(p):
    """Nu = p + 1/2 against the polynomial form (Rasmussen and Williams 2006, eq. 4.16)."""
    nu, r = p + 0.5, X[:, 0]
    i = np.arange(p + 1)
    log_c = (
        scipy.special.gammaln(p + i + 1)
        - scipy.special.gammaln(i + 1)
        - scipy.special.gammaln(p - i + 1)
    )
    log_c += scipy.special.gammaln(p + 1) - scipy.special.gammaln(2 * p + 1)
    powers = (np.sqrt(8 * nu) * r)[:, None] ** (p - i)
    expected = np.exp(-np.sqrt(2 * nu) * r) * (powers @ np.exp(log_c))
    np.testing.assert_allclose(
        np.asarray(gram(Matern(nu=nu), X, ORIGIN))[:, 0], expected, rtol=1e-11
    )


def test_large_order_approaches_squared_exponential():
    """Check: tiao Background (Matern nu large -> SE): the error falls like 1 / nu."""
    limit = np.asarray(gram(SquaredExponential(), X, ORIGIN))
    orders = (20, 200, 2000)
    errors = [np.abs(limit - gram(Matern(nu=nu), X, ORIGIN)).max() for nu in orders]
    assert errors[2] < 2e-4
    np.testing.assert_allclose(errors[0] / errors[1], 10, rtol=0.1)
    np.testing.assert_allclose(errors[1] / errors[2], 10, rtol=0.05)


def test_value_at_one_lengthscale():
    """Check: naiff S9.5 (second half)."""
    value = gram(Matern52(0.7), np.array([[0.7]]), ORIGIN)[0, 0]
    np.testing.assert_allclose(value, 0.523994, atol=1e-6)
    np.testing.assert_allclose(value, (1 + 5**0.5 + 5 / 3) * np.exp(-(5**0.5)), rtol=1e-14)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_spectral_density(nu):
    """The density in cycles integrates to k(0), and transforms to the kernel.

    Check: naiff S9.5 (first half).
    """
    lengthscale, gamma = 0.8, scipy.special.gamma
    a = 2 * nu / lengthscale**2
    front = (
        2 * np.pi**0.5 * gamma(nu + 0.5) * (2 * nu) ** nu / (gamma(nu) * lengthscale ** (2 * nu))
    )

    def density(s):
        return front * (a + 4 * np.pi**2 * s**2) ** -(nu + 0.5)

    total = 2 * scipy.integrate.quad(density, 0, np.inf, epsabs=1e-12)[0]
    np.testing.assert_allclose(total, 1.0, atol=1e-8)
    for r in (0.3, 1.0):
        transform = scipy.integrate.quad(
            density, 0, np.inf, weight="cos", wvar=2 * np.pi * r, epsabs=1e-11, limlst=200
        )[0]
        value = gram(Matern(lengthscale, nu=nu), np.array([[r]]), ORIGIN)[0, 0]
        np.testing.assert_allclose(2 * transform, value, atol=1e-8)
