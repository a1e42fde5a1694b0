"""Conditionals: densities against SciPy, draws against densities, and what training may change."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from leadline.boundary import InvalidData
from leadline.implicit import (
    Affine,
    ConstantScale,
    Gaussian,
    Laplace,
    NetworkScale,
    TriangularScale,
)

RNG = np.random.default_rng(0)
GIVEN, VALUE = RNG.normal(size=(6, 3)), RNG.normal(size=(6, 2))
LOCATION = Affine(jnp.asarray(RNG.normal(size=(2, 3))), jnp.asarray([0.5, -1.0]))
MEAN = GIVEN @ np.asarray(LOCATION.weight).T + np.asarray(LOCATION.bias)
ROOT = np.array([[0.8, 0.0], [0.5, 0.3]])


def softplus_network(y):
    return jnp.asarray([y[0], y[1] * y[2]])


def scales_of(given):
    raw = np.stack([given[:, 0], given[:, 1] * given[:, 2]], axis=1)
    return 2.0 * (1e-3 + np.log1p(np.exp(raw)))


DIAGONAL = {
    "one number": (ConstantScale(0.7), np.full((6, 2), 0.7)),
    "a number a column": (ConstantScale(np.array([0.7, 2.0]), learned=True), np.array([0.7, 2.0])),
    "a network": (NetworkScale(softplus_network, jnp.asarray(2.0)), scales_of(GIVEN)),
}


@pytest.mark.parametrize("kind", DIAGONAL)
def test_densities(kind):
    scale, values = DIAGONAL[kind]
    normal = scipy.stats.norm.logpdf(VALUE, MEAN, values).sum(axis=1)
    laplace = scipy.stats.laplace.logpdf(VALUE, MEAN, values).sum(axis=1)
    np.testing.assert_allclose(Gaussian(LOCATION, scale).log_prob(VALUE, GIVEN), normal, rtol=1e-12)
    np.testing.assert_allclose(Laplace(LOCATION, scale).log_prob(VALUE, GIVEN), laplace, rtol=1e-12)


def test_density_with_a_full_covariance():
    conditional = Gaussian(LOCATION, TriangularScale(jnp.asarray(ROOT)))
    wanted = [
        scipy.stats.multivariate_normal.logpdf(v, m, ROOT @ ROOT.T)
        for v, m in zip(VALUE, MEAN, strict=True)
    ]
    np.testing.assert_allclose(conditional.log_prob(VALUE, GIVEN), wanted, rtol=1e-12)
    np.testing.assert_allclose(conditional.mean(GIVEN), MEAN, rtol=1e-12)


@pytest.mark.parametrize("family", [Gaussian, Laplace])
@pytest.mark.parametrize("matrix", [False, True])
def test_draws_have_the_moments_of_the_density(family, matrix):
    """200 000 draws of one row: means and covariances within 5 standard errors."""
    n = 200_000
    scale = TriangularScale(jnp.asarray(ROOT)) if matrix else ConstantScale(np.array([0.7, 2.0]))
    root = ROOT if matrix else np.diag([0.7, 2.0])
    conditional = family(LOCATION, scale)
    draws = np.asarray(conditional.sample(jax.random.key(1), np.tile(GIVEN[:1], (n, 1))))
    unit, kurtosis = (1.0, 3.0) if family is Gaussian else (2.0, 6.0)
    cov = unit * root @ root.T
    errors = np.sqrt(np.diag(cov) / n)
    assert np.all(np.abs(draws.mean(axis=0) - MEAN[0]) < 5 * errors)
    bound = 5 * np.sqrt(kurtosis / n) * np.sqrt(np.outer(np.diag(cov), np.diag(cov)))
    assert np.all(np.abs(np.cov(draws.T) - cov) < bound)


def test_only_learned_scales_have_a_gradient():
    def loss(conditional):
        return jnp.sum(conditional.log_prob(VALUE, GIVEN))

    learned = eqx.filter_grad(loss)(Gaussian(LOCATION, ConstantScale(0.7, learned=True)))
    given = eqx.filter_grad(loss)(Gaussian(LOCATION, 0.7))
    root = eqx.filter_grad(loss)(Gaussian(LOCATION, TriangularScale(jnp.asarray(ROOT))))
    assert learned.scale.log_value != 0.0
    assert given.scale.log_value == 0.0
    assert not np.any(root.scale.root)
    assert np.any(given.location.weight)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, np.ones((2, 2))])
def test_bad_scales(value):
    with pytest.raises(InvalidData, match="a scale must be positive"):
        ConstantScale(value)
