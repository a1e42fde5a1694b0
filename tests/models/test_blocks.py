"""Covariances of sets of rows, and between rows: blocks of one joint covariance."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.models import LaplaceClassifier, Titsias

B, Q = 5, 3
RNG = np.random.default_rng(0)
X = RNG.random((20, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1]
SETS = RNG.random((B, Q, 2))
KERNEL = 1.3 * ll.kernels.Matern52([0.4, 0.7])
POSTERIORS = {
    "exact": lambda: ll.GP(KERNEL, mean=0.3, noise=1e-2).condition(X, Y),
    "Titsias": lambda: Titsias(KERNEL, X[:6], mean=0.3, noise=1e-2).condition(X, Y),
    "Laplace": lambda: LaplaceClassifier(KERNEL, mean=0.3).condition(X, Y > 0.5),
}


@eqx.filter_jit
def moments(posterior, sets):
    rows = sets.reshape(-1, 2)
    each, cross = posterior.joint_moments_of_each(sets), posterior.cross_covariance(rows[:4], rows)
    return posterior.joint_moments(rows), each, cross, posterior.marginal_moments(rows)


@pytest.fixture(scope="module", params=list(POSTERIORS))
def found(request):
    return jax.device_get(moments(POSTERIORS[request.param](), jnp.asarray(SETS)))


def test_sets_have_the_diagonal_blocks(found):
    (mean, cov), (means, covs), _, _ = found
    np.testing.assert_allclose(means, mean.reshape(B, Q), atol=1e-12)
    blocks = cov.reshape(B, Q, B, Q)[np.arange(B), :, np.arange(B), :]
    np.testing.assert_allclose(covs, blocks, atol=1e-12)


def test_covariances_between_rows_are_the_other_blocks(found):
    (_, cov), _, cross, _ = found
    np.testing.assert_allclose(cross, cov[:4], atol=1e-12)


def test_the_diagonal_is_the_marginal_variance(found):
    (mean, cov), _, _, (marginal_mean, var) = found
    np.testing.assert_allclose(marginal_mean, mean, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(cov), var, atol=1e-10)


def test_data_took_some_covariance_away(found):
    """Negative control: the blocks are not those of the prior."""
    _, (_, covs), _, _ = found
    prior = np.asarray(KERNEL(SETS[0], SETS[0]))
    assert np.max(np.abs(prior - covs[0])) > 0.1
