"""Normal and gamma quantiles against SciPy, their derivatives, and the ends of the interval."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import scipy.stats

from leadline.numerics import gamma_quantile, normal_quantile

TAIL = 10.0 ** np.arange(-12, -0.5, 0.5)
P = np.concatenate([TAIL, np.linspace(0.2, 0.8, 25), 1 - TAIL])

quantile = jax.jit(gamma_quantile)
by_shape, by_probability = (
    jax.jit(jax.vmap(jax.grad(gamma_quantile, argnums=i), in_axes=(None, 0))) for i in (0, 1)
)


@pytest.mark.parametrize("a", [0.1, 0.3, 0.5, 0.75, 1.0, 1.5, 2.5, 4.2, 7.0, 10.0, 40.0, 500.0])
def test_gamma_quantile(a):
    """Far into both tails, with the shape an argument or part of the program."""
    near, far = scipy.special.gammaincinv(a, P), scipy.special.gammainccinv(a, 1 - P)
    expected = np.where(P < 0.5, near, far)
    np.testing.assert_allclose(quantile(a, P), expected, rtol=5e-12)
    part_of_program = gamma_quantile(a, jnp.asarray(P))
    np.testing.assert_allclose(part_of_program, expected, rtol=1e-10 if a > 0.2 else 1e-8)


@pytest.mark.parametrize("a", [0.5, 1.7, 6.0])
def test_gamma_quantile_derivatives(a):
    """In the shape by differences of SciPy's quantile, in the probability by 1 / density."""
    p = np.linspace(0.05, 0.95, 19)
    h = 1e-3
    at = lambda step: scipy.special.gammaincinv(a + step * h, p)  # noqa: E731
    expected = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)
    np.testing.assert_allclose(by_shape(a, p), expected, rtol=1e-7)
    density = scipy.stats.gamma(a).pdf(scipy.special.gammaincinv(a, p))
    np.testing.assert_allclose(by_probability(a, p), 1 / density, rtol=1e-11)


def test_ends_of_the_interval_stay_finite():
    ends = jnp.array([0.0, 1.0])
    assert np.isfinite(normal_quantile(ends)).all()
    for a in (0.01, 0.5, 3.0):
        for found in (np.asarray(quantile(a, ends)), np.asarray(gamma_quantile(a, ends))):
            assert np.isfinite(found).all()
            assert (found > 0).all()


def test_normal_quantile():
    np.testing.assert_allclose(normal_quantile(jnp.asarray(P)), scipy.stats.norm.ppf(P), rtol=1e-12)
