"""Filon's rule: exact for parabolas, Simpson's at rest, and right where cosines are fast."""

from fractions import Fraction
from math import factorial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from leadline import Unsupported
from leadline.boundary import InvalidData
from leadline.kernels import Matern52, Periodic, SquaredExponential
from leadline.paths._features import _filon
from leadline.paths._features._filon import filon_factors, filon_integral, filon_kernel

integral = jax.jit(filon_integral)
values = jax.jit(filon_kernel, static_argnums=2, static_argnames="reach")


def parabola_integral(t):
    """int_0^2 (1 + 2 u + 3 u^2) cos(u t) du by parts."""
    value, slope, bend = 17.0, 14.0, 6.0  # at u = 2
    s, c = np.sin(2 * t), np.cos(2 * t)
    at_two = value * s / t + slope * c / t**2 - bend * s / t**3
    return at_two - 2.0 / t**2  # the slope at u = 0 is 2


@pytest.mark.parametrize("nodes", [3, 5])
def test_exact_for_parabolas(nodes):
    """At any speed, however few nodes. Check: tiao S14.5."""
    u = np.linspace(0, 2, nodes)
    t = np.array([0.7, 3.0, 20.0, 100.0, 1e4])
    found = integral(1 + 2 * u + 3 * u**2, 0.0, 2.0, t)
    np.testing.assert_allclose(found, parabola_integral(t), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found[2:4], [0.604444519, -0.147973238], atol=1e-9)


def test_simpson_at_rest():
    """t = 1e-6 and t = 0, of a function that is no parabola. Check: tiao S14.5."""
    u = np.linspace(0, 2, 5)
    g = np.exp(u)
    simpson = 0.5 / 3 * (g[0] + 4 * g[1] + 2 * g[2] + 4 * g[3] + g[4])
    found = integral(g, 0.0, 2.0, np.array([1e-6, 0.0, -1e-6, 0.0, 0.0]))
    np.testing.assert_allclose(found, simpson, rtol=0, atol=1e-9)
    assert float(found[1]) == pytest.approx(simpson, rel=1e-15)


def taylor_coefficients(terms=24):
    """Of alpha, beta and gamma, as fractions: the series of sine and cosine in their formulas."""
    sine = [Fraction((-1) ** (i // 2) * (i % 2), factorial(i)) for i in range(terms)]
    cosine = [Fraction((-1) ** (i // 2) * (1 - i % 2), factorial(i)) for i in range(terms)]

    def times(a, b):
        return [sum(a[j] * b[i - j] for j in range(i + 1)) for i in range(terms)]

    def power(k, a):
        return [Fraction(0)] * k + a[: terms - k]

    one = [Fraction(i == 0) for i in range(terms)]
    alpha = [4 * (s - c) for s, c in zip(sine, power(1, cosine), strict=True)]
    around = [o + c for o, c in zip(one, times(cosine, cosine), strict=True)]
    both = times(sine, cosine)
    beta = [2 * (a - 2 * b) for a, b in zip(power(1, around), both, strict=True)]
    square = times(sine, sine)
    thirds = zip(power(2, one), power(1, both), square, strict=True)
    gamma = [o + b - 2 * s for o, b, s in thirds]
    factors = [alpha, beta, gamma]
    # All three are divided by the cube of theta, and so vanish that fast.
    assert not any(any(f[:3]) for f in factors)
    return [f[3:] for f in factors]


TAYLOR = taylor_coefficients()


def test_series():
    """Each coefficient: those of small terms hardly show in the sum. Check: tiao S14.6."""
    alpha, beta, gamma = TAYLOR
    for found, series in (
        (_filon._ALPHA, alpha[::2]),
        (_filon._BETA, beta[::2]),
        (_filon._GAMMA, gamma[3::2]),
    ):
        np.testing.assert_allclose(found, [float(c) for c in series[: len(found)]], rtol=1e-15)


def test_factors():
    """Both forms where they meet, and each of them on its side. Check: tiao S14.6."""
    below, above = np.nextafter(0.3, 0.0), 0.3
    factors = np.array(filon_factors(jnp.array([below, above])))
    np.testing.assert_allclose(factors[:, 0], factors[:, 1], rtol=0, atol=1e-12)
    # The printed series, up to their last terms.
    t = np.array([0.02, 0.1])
    alpha = 4 / 3 - 2 * t**2 / 15 + t**4 / 210 - t**6 / 11340 + t**8 / 997920
    beta = 2 / 3 + 2 * t**2 / 15 - 4 * t**4 / 105 + 2 * t**6 / 567 - 4 * t**8 / 22275
    gamma = 2 * t**3 / 45 - 2 * t**5 / 315 + 2 * t**7 / 4725 - 8 * t**9 / 467775
    found = np.array(filon_factors(jnp.asarray(t)))
    np.testing.assert_allclose(found, [alpha, beta, gamma], rtol=1e-11)
    # The series with their last terms.
    t = np.linspace(0.25, below, 8)
    exact = [[float(sum(c * Fraction(x) ** i for i, c in enumerate(f))) for x in t] for f in TAYLOR]
    np.testing.assert_allclose(filon_factors(jnp.asarray(t)), exact, rtol=2e-15)
    # Why there are series: what the direct form of alpha makes of a small theta.
    small = 1e-5
    direct = 4 * (np.sin(small) - small * np.cos(small)) / small**3
    assert abs(direct - 4 / 3) > 1e-7
    np.testing.assert_allclose(filon_factors(jnp.array([small, 0.0]))[0], 4 / 3, rtol=1e-10)


def test_kernels():
    """A squared exponential at near and far lags, where Simpson's rule has long gone wrong; a
    Matern kernel up to what lies beyond the reach.
    """
    near, far = np.linspace(-3, 3, 40), np.linspace(100, 1000, 40)
    kernel = 1.5 * SquaredExponential(0.2)
    at = lambda k, lags: np.asarray(k(jnp.asarray(lags)[:, None], jnp.zeros((1, 1))))[:, 0]  # noqa: E731
    np.testing.assert_allclose(values(kernel, near, 257), at(kernel, near), atol=5e-8)
    assert np.abs(values(kernel, far, 257)).max() < 1e-8
    theta = np.linspace(0, 30, 257)
    density = np.asarray(kernel.spectral_density(jnp.asarray(theta)[:, None]))
    weight = np.full(257, 2.0)
    weight[1::2], weight[[0, -1]] = 4.0, 1.0
    mass = 2 * 30 / (3 * 256) * weight * density
    assert np.abs(np.cos(far[:, None] * theta) @ mass).max() > 0.1
    matern = Matern52(0.5)
    np.testing.assert_allclose(values(matern, near, 257), at(matern, near), atol=2e-3)
    wide = values(matern, near, 2001, reach=60.0)
    np.testing.assert_allclose(wide, at(matern, near), atol=5e-7)


def test_gradients():
    """In lags and length scales, also where lags are zero."""
    lags = jnp.array([0.0, 0.1, 0.7])
    total = lambda scale, lags: jnp.sum(filon_kernel(SquaredExponential(scale), lags, 129))  # noqa: E731
    by_scale, by_lag = jax.jit(jax.grad(total, argnums=(0, 1)))(0.3, lags)
    k = np.exp(-0.5 * (lags / 0.3) ** 2)
    np.testing.assert_allclose(by_lag, -lags / 0.3**2 * k, atol=1e-6)
    np.testing.assert_allclose(by_scale, np.sum(lags**2 / 0.3**3 * k), atol=1e-6)


def test_errors():
    with pytest.raises(InvalidData, match="odd number of nodes"):
        filon_integral(np.ones(4), 0.0, 1.0, np.ones(1))
    with pytest.raises(InvalidData, match="odd number of nodes"):
        filon_kernel(SquaredExponential(), np.ones(1), 256)
    with pytest.raises(Unsupported, match="not for Periodic"):
        filon_kernel(Periodic(), np.ones(1), 257)
