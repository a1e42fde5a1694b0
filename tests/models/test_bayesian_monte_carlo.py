"""Exact posteriors and kernel means together: integrals with error bars (Naiff 2019, chapter 4)."""

import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.kernels import Matern52, ProductMatern, SquaredExponential

MEASURE = ll.measures.Gaussian(np.zeros(2), np.array([0.5, 1.0]))
RNG = np.random.default_rng(0)
X = RNG.normal(size=(25, 2))
Y = np.exp(-np.sum(X**2, axis=1)) + 0.3 * X[:, 0]


def integral(post, measure):
    """Mean and variance of the integral, from the posterior's own factor (eqs. 4.5 to 4.7)."""
    x, mask = jnp.asarray(post.rows.x), post.rows.mask
    z = mask * post.gp.kernel.mean(measure, x)
    mean = post.gp.mean.integral(measure) + z @ post.weights
    explained = np.linalg.solve(np.asarray(post.factor), np.asarray(z))
    return float(mean), float(post.gp.kernel.double_mean(measure) - explained @ explained)


GP = ll.GP(0.8 * SquaredExponential(lengthscale=[1.0, 1.5]), mean=0.1, noise=1e-4)


def test_variance_shrinks_with_every_point():
    """Check: naiff S6.6"""
    post = GP.condition(X[:5], Y[:5])
    last = integral(post, MEASURE)[1]
    for i in range(5, 25):
        post = post.update(X[i : i + 1], Y[i : i + 1])
        now = integral(post, MEASURE)[1]
        assert -1e-10 <= now <= last + 1e-12
        last = now


def test_rank_one_reduction_of_the_variance():
    """Check: naiff S6.7"""
    post = GP.condition(X[:10], Y[:10])
    new = X[10:11]
    cross = post.rows.mask * np.asarray(GP.kernel(jnp.asarray(post.rows.x), jnp.asarray(new)))[:, 0]
    z = post.rows.mask * np.asarray(GP.kernel.mean(MEASURE, jnp.asarray(post.rows.x)))
    factor = np.asarray(post.factor)
    a, b = np.linalg.solve(factor, cross), np.linalg.solve(factor, z)
    covariance = float(GP.kernel.mean(MEASURE, jnp.asarray(new))[0]) - a @ b
    noisy = post.predict(new, noise=True).var[0]
    after = integral(post.update(new, Y[10:11]), MEASURE)[1]
    before = integral(post, MEASURE)[1]
    np.testing.assert_allclose(before - covariance**2 / noisy, after, atol=1e-10)


def test_affine_equivariance():
    """Check: naiff S6.8"""
    a, b = 7.0, -3.0
    mean, var = integral(GP.condition(X, Y), MEASURE)
    scaled = ll.GP(a**2 * GP.kernel, mean=a * 0.1 + b, noise=a**2 * 1e-4).condition(X, a * Y + b)
    found = integral(scaled, MEASURE)
    np.testing.assert_allclose(found[0], a * mean + b, atol=1e-8)
    np.testing.assert_allclose(found[1], a**2 * var, atol=1e-8)


@pytest.mark.parametrize(
    "kernel", [SquaredExponential(), Matern52(), ProductMatern(2.5)], ids=lambda k: type(k).__name__
)
def test_parabola_from_five_points(kernel):
    """Check: naiff S6.10"""
    x = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])[:, None]
    gp = ll.GP(1.0 * kernel, mean=ll.fixed(0.0), noise=ll.fixed(1e-8))
    post = gp.fit(x, -(x[:, 0] ** 2), priors=None)
    mean, var = integral(post, ll.measures.Gaussian(np.zeros(1), np.array([0.5])))
    assert abs(mean + 0.5) < 0.02
    assert var >= -1e-10
