"""Linear models, where every bound is known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from sklearn.decomposition import PCA
from sklearn.decomposition import FactorAnalysis as ScikitFactorAnalysis

from leadline.boundary import InvalidData
from leadline.implicit import (
    VAE,
    Affine,
    ConstantScale,
    FactorAnalysis,
    Fitted,
    Gaussian,
    KnownDensity,
    Networks,
    Objective,
)

RNG = np.random.default_rng(0)
LOADINGS = RNG.normal(size=(8, 2))
NOISE = np.array([0.3, 0.3, 0.5, 0.4, 0.8, 1.0, 0.5, 0.4])
TRUTH = FactorAnalysis(LOADINGS, RNG.normal(size=8), NOISE)
X = (
    RNG.normal(size=(400, 2)) @ LOADINGS.T
    + np.asarray(TRUTH.offset)
    + np.sqrt(NOISE) * RNG.normal(size=(400, 8))
)

# Check 1: z ~ N(0, 1), x | z ~ N(1.3 z, 1/4). Rows at plus and minus one standard deviation have
# the second moment of the law, which is all that a mean of Gaussian log densities depends on.
LINE = FactorAnalysis([[1.3]], [0.0], [0.25])
ROWS_X = np.sqrt(1.94) * np.array([[1.0], [-1.0]])
ROWS_Z = np.array([[1.0], [-1.0]])
ENTROPY_X = 0.5 * np.log(2 * np.pi * np.e * 1.94)
ENTROPY_Z = 0.5 * np.log(2 * np.pi * np.e)


def exact(model, posterior=None):
    networks = Networks(
        model.likelihood,
        posterior or model.posterior,
        KnownDensity(model.log_prior),
        KnownDensity(model.log_evidence),
    )
    d, k = model.loadings.shape
    return Fitted(networks, Objective("exact"), d, k)


def test_bounds_of_the_exact_posterior_are_entropies():
    """Check: tiao S11.1"""
    fitted = exact(LINE)
    np.testing.assert_allclose(fitted.nelbo(ROWS_X), ENTROPY_X, rtol=1e-12)
    np.testing.assert_allclose(fitted.naplbo(ROWS_Z), ENTROPY_Z, rtol=1e-12)
    np.testing.assert_allclose([ENTROPY_X, ENTROPY_Z], [1.750283, 1.418939], atol=5e-7)


@pytest.mark.parametrize("slope", [0.5, 1.0, 1.3])
@pytest.mark.parametrize("width", [0.5, 1.0, 2.0])
def test_bounds_of_other_posteriors_are_larger(slope, width):
    """Check: tiao S11.1

    By the divergence of the posterior, in closed form; 20 000 draws, within 5 standard errors.
    """
    m, t = 1.3 * 4 / (1 + 1.3**2 * 4), 1 + 1.3**2 * 4
    posterior = Gaussian(
        Affine(jnp.asarray([[slope * m]]), jnp.zeros(1)), float(width / np.sqrt(t))
    )
    fitted = exact(LINE, posterior)
    offset = (slope - 1.0) ** 2 * m**2 * 1.94 * t
    reverse = 0.5 * (width**2 - 1 + offset) - np.log(width)
    forward = 0.5 * (width**-2 - 1 + offset / width**2) + np.log(width)
    # The spread of one draw is below (1 + width^2 + offset) / width^2.
    error = (1 + width**2 + offset) / min(width, 1.0) ** 2 / np.sqrt(2 * 20_000)
    for found, entropy, divergence in (
        (fitted.nelbo(ROWS_X, draws=20_000), ENTROPY_X, reverse),
        (fitted.naplbo(ROWS_Z, draws=20_000), ENTROPY_Z, forward),
    ):
        assert abs(found - entropy - divergence) < 5 * error + 1e-12
        assert found > entropy - 1e-9


def test_bounds_are_divergences_of_joints_and_entropies():
    """Check: tiao S11.2

    With 200 000 rows and a posterior that is wrong, within 4 standard errors.
    """
    n, slope, width = 200_000, 0.5, 0.4
    rng = np.random.default_rng(3)
    posterior = Gaussian(Affine(jnp.asarray([[slope]]), jnp.asarray([0.1])), width)
    fitted = exact(LINE, posterior)
    # The joint laws of (x, z).
    p_cov = np.array([[1.94, 1.3], [1.3, 1.0]])
    q_mean = np.array([0.0, 0.1])
    q_cov = np.array([[1.94, slope * 1.94], [slope * 1.94, slope**2 * 1.94 + width**2]])

    def divergence(mean, cov, other_mean, other):
        gap = other_mean - mean
        inverse = np.linalg.inv(other)
        logdet = np.log(np.linalg.det(other) / np.linalg.det(cov))
        return 0.5 * (np.trace(inverse @ cov) - 2 + gap @ inverse @ gap + logdet)

    x = np.sqrt(1.94) * rng.normal(size=(n, 1))
    z = rng.normal(size=(n, 1))
    log_p = scipy.stats.multivariate_normal(np.zeros(2), p_cov).logpdf
    log_q = scipy.stats.multivariate_normal(q_mean, q_cov).logpdf
    for found, entropy, wanted, pairs, log_own in (
        (
            fitted.nelbo(x, draws=1),
            ENTROPY_X,
            divergence(q_mean, q_cov, np.zeros(2), p_cov),
            rng.multivariate_normal(q_mean, q_cov, 2000),
            1,
        ),
        (
            fitted.naplbo(z, draws=1),
            ENTROPY_Z,
            divergence(np.zeros(2), p_cov, q_mean, q_cov),
            rng.multivariate_normal(np.zeros(2), p_cov, 2000),
            -1,
        ),
    ):
        # A bound is an average of the same log ratio, and of the entropy's log density beside it.
        spread = np.std(log_own * (log_q(pairs) - log_p(pairs))) + 1.0
        assert abs(found - entropy - wanted) < 4 * spread / np.sqrt(n)


def test_posterior_and_evidence_are_exact():
    fitted = exact(TRUTH)
    wanted = -np.mean(
        scipy.stats.multivariate_normal.logpdf(
            X, TRUTH.offset, LOADINGS @ LOADINGS.T + np.diag(NOISE)
        )
    )
    # Every draw gives the same: a posterior that is wrong would scatter.
    np.testing.assert_allclose(fitted.nelbo(X, draws=1), wanted, rtol=1e-10)
    np.testing.assert_allclose(fitted.nelbo(X, draws=3, seed=5), wanted, rtol=1e-10)


def test_ppca_is_principal_components():
    found, pca = FactorAnalysis.ppca(X, 2), PCA(2).fit(X)
    n = len(X)
    axes = np.asarray(found.loadings) / np.linalg.norm(found.loadings, axis=0)
    np.testing.assert_allclose(np.abs(np.sum(axes.T * pca.components_, axis=1)), 1.0, rtol=1e-10)
    np.testing.assert_allclose(found.noise, pca.noise_variance_ * (n - 1) / n, rtol=1e-10)
    cov = np.asarray(found.loadings @ found.loadings.T) + np.diag(found.noise)
    top = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1][:2]
    np.testing.assert_allclose(np.linalg.eigvalsh(cov)[::-1][:2], top, rtol=1e-10)


def test_factor_analysis_is_maximum_likelihood():
    found = FactorAnalysis.fit(X, 2)
    scikit = ScikitFactorAnalysis(2, tol=1e-6, max_iter=20_000, svd_method="lapack").fit(X)
    ours = float(jnp.mean(found.log_evidence(X)))
    np.testing.assert_allclose(ours, scikit.score(X), atol=1e-7)
    np.testing.assert_allclose(found.noise, scikit.noise_variance_, rtol=1e-3)
    assert ours > float(jnp.mean(FactorAnalysis.ppca(X, 2).log_evidence(X)))
    slope = jax.grad(lambda m: jnp.mean(m.log_evidence(X)))(found)
    assert max(float(jnp.max(jnp.abs(leaf))) for leaf in jax.tree.leaves(slope)) < 1e-4


def test_a_trained_linear_posterior_finds_the_evidence():
    """With the exact likelihood NELBO comes down to the negative log evidence."""
    posterior = Gaussian(Affine(jnp.zeros((1, 1)), jnp.zeros(1)), ConstantScale(1.0, learned=True))
    x = np.sqrt(1.94) * np.random.default_rng(1).normal(size=(2000, 1))
    method = VAE(
        log_prior=LINE.log_prior,
        likelihood=Gaussian(Affine(jnp.asarray([[1.3]]), jnp.zeros(1)), 0.5),
        posterior=posterior,
        learning_rate=0.02,
    )
    fitted = method.fit(x, np.random.default_rng(2).normal(size=(50, 1)), steps=1000)
    # The likelihood is learned as well: at most as far from the data as the truth.
    truth = -float(jnp.mean(LINE.log_evidence(x)))
    assert abs(fitted.nelbo(x) - truth) < 5e-3
    gain = float(fitted.networks.likelihood.location.weight[0, 0])
    assert abs(gain**2 + 0.25 - np.mean(x**2)) < 0.1


@pytest.mark.parametrize(
    ("x", "dim", "message"),
    [
        (X, 0, "dim must be at least 1"),
        (X, 8, "below the 8 columns"),
        (X[:1], 2, "at least 2 row"),
        (np.ones((4, 3)), 1, "all rows are the same"),
    ],
)
def test_bad_data(x, dim, message):
    for fit in (FactorAnalysis.fit, FactorAnalysis.ppca):
        with pytest.raises(InvalidData, match=message):
            fit(x, dim)
