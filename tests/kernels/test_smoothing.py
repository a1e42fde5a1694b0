"""Matern kernels averaged over Gaussian differences: exact, stable, with right derivatives."""

from __future__ import annotations

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, special, stats

from leadline.kernels import SpectralMixture, SquaredExponential
from leadline.kernels._matern import matern_profile
from leadline.kernels._means._smoothing import _half_moments, gauss_hermite_mean, smoothed_matern
from leadline.measures import Gaussian

ORDERS = pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
smoothed = jax.jit(smoothed_matern, static_argnums=0)
half_moments = jax.jit(_half_moments, static_argnums=(0, 1))
gauss_hermite = jax.jit(gauss_hermite_mean, static_argnums=(0, 3))


def kappa(nu, delta, s2, lengthscale):
    """In the caller's units."""
    t, v = np.broadcast_arrays(np.asarray(delta) / lengthscale, np.asarray(s2) / lengthscale**2)
    return np.asarray(smoothed(nu, jnp.asarray(t), jnp.asarray(v)))


def profile(nu, r):
    z = np.sqrt(2.0 * nu) * np.abs(r)
    return {0.5: 1.0, 1.5: 1.0 + z, 2.5: 1.0 + z + z**2 / 3.0}[nu] * np.exp(-z)


def quadrature(k, delta, s2, width):
    """E[k(tau)] adaptively, in pieces that end at the kernel's kink and flanks."""
    s = np.sqrt(s2)
    reach = delta + 12.0 * s * np.array([-1.0, 1.0])
    cuts = np.concatenate([np.linspace(*reach, 9), width * np.arange(-40.0, 41.0, 5.0)])
    pieces = itertools.pairwise(np.unique(np.clip(cuts, *reach)))
    density = stats.norm(delta, s).pdf
    return sum(integrate.fixed_quad(lambda t: k(t) * density(t), a, b, n=40)[0] for a, b in pieces)


def random_parameters(n, seed=0):
    rng = np.random.default_rng(seed)
    return 2.0 * rng.normal(size=n), np.exp(rng.normal(size=n)), np.exp(0.5 * rng.normal(size=n))


@ORDERS
def test_matern_agrees_with_quadrature(nu):
    """Check: naiff S6.1"""
    delta, s2, l = random_parameters(50)
    expected = [
        quadrature(lambda t, w=w: profile(nu, t / w), d, v, w)
        for d, v, w in zip(delta, s2, l, strict=True)
    ]
    np.testing.assert_allclose(kappa(nu, delta, s2, l), expected, rtol=0.0, atol=1e-11)


def wave(kernel, delta, s2):
    """Kappa of a kernel in closed form: its mean at 0 against N(delta, s2)."""
    return _wave(kernel, jnp.asarray([delta]), jnp.asarray([s2]))


@jax.jit
def _wave(kernel, delta, s2):
    return kernel.mean(Gaussian(delta, s2), jnp.zeros((1, 1)))[0]


def test_squared_exponential_and_spectral_mixture_agree_with_quadrature():
    """Check: naiff S6.1"""
    rng = np.random.default_rng(1)
    for d, v, l in zip(*random_parameters(50), strict=True):
        exact = quadrature(lambda t, w=l: np.exp(-0.5 * (t / w) ** 2), d, v, l)
        np.testing.assert_allclose(wave(SquaredExponential(l), d, v), exact, atol=1e-11)
        m, w = rng.normal(), 1.0 / (2.0 * np.pi * l)
        exact = quadrature(
            lambda t, w=l, m=m: np.exp(-0.5 * (t / w) ** 2) * np.cos(2.0 * np.pi * m * t), d, v, l
        )
        mixture = SpectralMixture([1.0], [[m]], [[w]])
        np.testing.assert_allclose(wave(mixture, d, v), exact, atol=1e-11)


def naive_kappa52(delta, s2, lengthscale):
    """The same integral by the recursion for all a, without the series."""
    lam, s = np.sqrt(5.0) / lengthscale, np.sqrt(s2)
    phi = np.exp(-0.5 * delta**2 / s2) / np.sqrt(2.0 * np.pi)
    total = np.zeros(3)
    for sign in (1.0, -1.0):
        a = (sign * delta - lam * s2) / s
        r = np.sqrt(0.5 * np.pi) * special.erfcx(-a / np.sqrt(2.0))
        total += phi * np.array([r, s * (1.0 + a * r), s2 * ((a * a + 1.0) * r + a)])
    return total @ [1.0, lam, lam**2 / 3.0]


def test_a_kernel_much_narrower_than_the_gaussian():
    """Check: naiff S6.2"""
    assert kappa(2.5, 30.0, 100.0, 1e-3) == pytest.approx(1.05706e-6, rel=1e-5)
    # The limit: the kernel's integral times the density at zero, here to first order in l^2.
    limit = 16.0 / 3.0 / np.sqrt(5.0) * 1e-3 * stats.norm(30.0, 10.0).pdf(0.0)
    assert kappa(2.5, 30.0, 100.0, 1e-3) == pytest.approx(limit, rel=1e-6)
    # Negative control: the recursion alone is not even positive.
    assert naive_kappa52(30.0, 100.0, 1e-3) < 0.0


@ORDERS
def test_values_are_between_zero_and_one_everywhere(nu):
    """Check: naiff S6.2"""
    s2, l, delta = np.meshgrid(
        np.exp(np.linspace(-8.0, 5.0, 30)),
        np.exp(np.linspace(-7.0, 3.0, 30)),
        [0.0, 1e-6, 0.3, 4.0, 30.0, 500.0],
    )
    value = kappa(nu, delta, s2, l)
    assert np.all(np.isfinite(value))
    assert value.min() >= 0.0
    assert value.max() <= 1.0 + 1e-14
    np.testing.assert_array_equal(value, kappa(nu, -delta, s2, l))


@pytest.mark.parametrize("a", [0.0, -12.0])
def test_the_branches_meet(a):
    """Where another formula takes over, all three half moments go on to eleven digits."""
    lam, v = float(np.sqrt(5.0)), 4.0
    m = lam * v + a * np.sqrt(v) + np.array([-1e-13, 1e-13])
    below, above = np.asarray(half_moments(lam, 3, jnp.asarray(m), jnp.asarray(v))).T
    np.testing.assert_allclose(below, above, rtol=1e-11)


@ORDERS
def test_limits(nu):
    """Check: naiff S6.3"""
    delta = np.array([0.1, 0.7, 3.0, 10.0])
    np.testing.assert_allclose(kappa(nu, delta, 1e-12, 1.0), profile(nu, delta), rtol=1e-6)
    np.testing.assert_allclose(kappa(nu, delta, 0.0, 1.0), profile(nu, delta), rtol=1e-12)
    np.testing.assert_allclose(kappa(nu, 0.0, 0.0, 1.0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(kappa(nu, delta, 1.0, 1e9), 1.0, rtol=1e-7)


def test_a_spectral_mixture_at_frequency_zero_is_a_squared_exponential():
    """Check: naiff S6.3"""
    for d, v, l in zip(*random_parameters(5), strict=True):
        mixture = SpectralMixture([1.0], [[0.0]], [[1.0 / (2.0 * np.pi * l)]])
        exact = wave(SquaredExponential(l), d, v)
        np.testing.assert_allclose(wave(mixture, d, v), exact, rtol=1e-12)


@partial(jax.jit, static_argnums=0)
def derivatives(nu, delta, s2):
    def f(d, v):
        return smoothed_matern(nu, d, v)

    first = jax.vmap(jax.grad(f, (0, 1)))(delta, s2)
    second = jax.vmap(jax.grad(jax.grad(f, 0), (0, 1)))(delta, s2)
    return first, second


@ORDERS
def test_derivatives_and_the_heat_equation(nu):
    """Check: naiff S6.4

    First derivatives against central differences; the second derivative in delta, through the
    derivative rule of the half moments, is twice the first one in s2.
    """
    delta, s2, _ = random_parameters(20, seed=3)
    (slope, heat), (bend, mixed) = derivatives(nu, jnp.asarray(delta), jnp.asarray(s2))
    h = 1e-4
    up, middle, down = (kappa(nu, delta + e, s2, 1.0) for e in (h, 0.0, -h))
    np.testing.assert_allclose(slope, (up - down) / (2 * h), atol=1e-7)
    np.testing.assert_allclose(heat, 0.5 * (up - 2 * middle + down) / h**2, atol=1e-5)
    np.testing.assert_allclose(bend, 2.0 * heat, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        heat, (kappa(nu, delta, s2 + h, 1.0) - kappa(nu, delta, s2 - h, 1.0)) / (2 * h), atol=1e-6
    )
    shifted = [derivatives(nu, jnp.asarray(delta), jnp.asarray(s2 + e))[0][0] for e in (h, -h)]
    np.testing.assert_allclose(mixed, (shifted[0] - shifted[1]) / (2 * h), atol=1e-5)


@ORDERS
def test_derivatives_are_finite_in_the_corners(nu):
    delta = jnp.asarray(np.tile([0.0, 1e-8, 2.0, 5.0, 3e4], 4))
    s2 = jnp.asarray(np.repeat([1e-12, 1e-3, 1.0, 1e8], 5))
    for group in derivatives(nu, delta, s2):
        assert np.all(np.isfinite(group))


PROFILES = {nu: partial(lambda nu, t: matern_profile(nu, t * t), nu) for nu in (0.5, 1.5, 2.5)}


def test_gauss_hermite_agrees_where_it_can():
    """Check: naiff S6.9"""
    rng = np.random.default_rng(0)
    delta, s2 = 2.0 * rng.normal(size=3000), rng.uniform(0.05, 1.0, 3000) ** 2
    d, v = jnp.asarray(delta), jnp.asarray(s2)
    exact = np.sqrt(1.0 / (1.0 + s2)) * np.exp(-0.5 * delta**2 / (1.0 + s2))
    rule = gauss_hermite(lambda t: jnp.exp(-0.5 * t * t), d, v, 20)
    assert np.max(np.abs(rule - exact)) < 1e-8
    for nu, tolerance in ((0.5, 3e-2), (1.5, 1e-3), (2.5, 1e-4)):
        rule = gauss_hermite(PROFILES[nu], d, v, 50)
        assert np.max(np.abs(rule - kappa(nu, delta, s2, 1.0))) < tolerance


def test_gauss_hermite_misses_narrow_kernels():
    """What the closed form is for: a Gaussian 100 times as wide as the kernel, 50 nodes."""
    rule = gauss_hermite(PROFILES[2.5], jnp.zeros(1), jnp.full(1, 1e4), 50)
    exact = kappa(2.5, 0.0, 1e4, 1.0)
    assert abs(float(rule[0]) - exact) > 0.5 * exact


def test_gauss_hermite_has_the_moments_of_a_normal_law():
    """Check: tiao Background (Gauss-Hermite moments). Exact up to degree 2 nodes - 1."""
    d, v = np.array([0.7]), np.array([0.4])
    wanted = [1.0, 0.7, 0.7**2 + 0.4, 0.7**3 + 3 * 0.7 * 0.4]
    wanted += [0.7**4 + 6 * 0.7**2 * 0.4 + 3 * 0.4**2]
    found = [float(gauss_hermite_mean(lambda t, k=k: t**k, d, v, 3)[0]) for k in range(5)]
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    sixth = float(gauss_hermite_mean(lambda t: t**6, np.zeros(1), np.ones(1), 3)[0])
    assert abs(sixth - 15.0) > 1.0  # beyond its degree three nodes are not enough
