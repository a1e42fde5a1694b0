"""Kernels averaged over intervals: brute force, and where differences would cancel."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate

from leadline.kernels import ProductMatern, SquaredExponential
from leadline.measures import Uniform

LOWER, UPPER = -0.5, 1.7
KERNELS = {
    "SquaredExponential": SquaredExponential,
    "Matern12": lambda l: ProductMatern(l, nu=0.5),
    "Matern32": lambda l: ProductMatern(l, nu=1.5),
    "Matern52": lambda l: ProductMatern(l, nu=2.5),
}
every_kernel = pytest.mark.parametrize("name", KERNELS)
mean = jax.jit(lambda kernel, measure, x: kernel.mean(measure, x))
double_mean = jax.jit(lambda kernel, measure: kernel.double_mean(measure))
slope = jax.jit(lambda k, m, x: jax.grad(lambda x: jnp.sum(k.mean(m, x)))(x))


def profile(name, r):
    nu = {"Matern12": 0.5, "Matern32": 1.5, "Matern52": 2.5}.get(name)
    if nu is None:
        return np.exp(-0.5 * r * r)
    z = np.sqrt(2.0 * nu) * np.abs(r)
    return {0.5: 1.0, 1.5: 1.0 + z, 2.5: 1.0 + z + z**2 / 3.0}[nu] * np.exp(-z)


def brute_mean(name, x, lengthscale, lower=LOWER, upper=UPPER):
    """Gauss-Legendre in pieces as long as the length scale, one of which ends at x."""
    cuts = [lower + lengthscale * np.arange(int((upper - lower) / lengthscale) + 1), [upper, x]]
    pieces = itertools.pairwise(np.unique(np.clip(np.concatenate(cuts), lower, upper)))
    f = lambda t: profile(name, (t - x) / lengthscale)  # noqa: E731
    return sum(integrate.fixed_quad(f, a, b, n=30)[0] for a, b in pieces) / (upper - lower)


@every_kernel
@pytest.mark.parametrize("lengthscale", [0.02, 0.3, 1.0, 10.0])
def test_means_agree_with_quadrature(name, lengthscale):
    """Inside, at both ends and outside; Check: hamid 15"""
    x = np.array([-3.0, -0.6, LOWER, 0.0, 0.5, 1.6, UPPER, 2.0, 4.0])
    expected = [brute_mean(name, v, lengthscale) for v in x]
    value = mean(KERNELS[name](lengthscale), Uniform(LOWER, UPPER), jnp.asarray(x)[:, None])
    np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-300)


@every_kernel
@pytest.mark.parametrize("lengthscale", [0.02, 0.3, 1.0, 2.0, 10.0])
def test_double_means_agree_with_quadrature(name, lengthscale):
    """Check: hamid 15"""
    width = UPPER - LOWER
    cuts = np.append(lengthscale * np.arange(int(width / lengthscale) + 1), width)
    f = lambda r: 2.0 * (width - r) / width**2 * profile(name, r / lengthscale)  # noqa: E731
    pieces = itertools.pairwise(np.unique(cuts))
    expected = sum(integrate.fixed_quad(f, a, b, n=30)[0] for a, b in pieces)
    value = double_mean(KERNELS[name](lengthscale), Uniform(LOWER, UPPER))
    np.testing.assert_allclose(value, expected, rtol=1e-12)


@every_kernel
def test_narrow_intervals_become_the_kernel_itself(name):
    """A box of width 1e-9: the mean is k(x - box) to all digits, where differences keep seven."""
    x, width = np.array([-2.0, 0.3, 5.0]), 1e-9
    box = Uniform(0.7, 0.7 + width)
    middle = 0.7 + 0.5 * width
    value = mean(KERNELS[name](1.0), box, jnp.asarray(x)[:, None])
    np.testing.assert_allclose(value, profile(name, x - middle), rtol=1e-12)
    np.testing.assert_allclose(double_mean(KERNELS[name](1.0), box), 1.0, rtol=1e-8)


@every_kernel
def test_far_away_the_answer_keeps_its_digits(name):
    """Fifteen length scales from the box, where 1 - 1 would be all that is left."""
    l = 0.1
    x = jnp.asarray([[LOWER - 15 * l], [UPPER + 15 * l]])
    value = mean(KERNELS[name](l), Uniform(LOWER, UPPER), x)
    np.testing.assert_allclose(value, brute_mean(name, float(x[0, 0]), l), rtol=1e-9)
    assert 0.0 < float(value[0]) < 1e-7


def test_the_naive_difference_loses_them():
    """Negative control: antiderivatives of the Matern 5/2 kernel, subtracted, are off by more."""
    z1, z2 = np.sqrt(5.0) * 15.0, np.sqrt(5.0) * (15.0 + 22.0)
    antiderivative = lambda z: 8 / 3 - (8 / 3 + 5 * z / 3 + z * z / 3) * np.exp(-z)  # noqa: E731
    naive = (antiderivative(z2) - antiderivative(z1)) / (z2 - z1)
    exact = brute_mean("Matern52", LOWER - 1.5, 0.1)
    assert abs(naive / exact - 1.0) > 1e-6


@every_kernel
def test_slopes_are_differences_of_the_kernel(name):
    """D mean / dx = (k(x - lower) - k(x - upper)) / W, also where branches meet."""
    l = 0.4
    x = np.array([-3.0, -0.6, LOWER, 0.0, 0.5, 1.6, UPPER, 2.0, 4.0])
    expected = (profile(name, (x - LOWER) / l) - profile(name, (x - UPPER) / l)) / (UPPER - LOWER)
    value = slope(KERNELS[name](l), Uniform(LOWER, UPPER), jnp.asarray(x)[:, None])[:, 0]
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-14)
