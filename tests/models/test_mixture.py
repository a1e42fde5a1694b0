"""Mixtures of posteriors: marginals against brute force, draws, and what a mixture must refuse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

import leadline as ll
from leadline.models import mixture

RNG = np.random.default_rng(0)
X = RNG.uniform(size=(12, 2))
Y = np.sin(5 * X[:, 0]) + 0.1 * RNG.normal(size=12)
XS = RNG.uniform(size=(5, 2))
WEIGHTS = np.array([0.2, 0.5, 0.3])


@pytest.fixture(scope="module")
def members():
    return [
        ll.GP(s * ll.kernels.Matern52(lengthscale=l), mean=m, noise=v).condition(X, Y)
        for s, l, m, v in [(1.0, 0.3, 0.0, 0.01), (2.0, 0.6, 1.0, 0.1), (0.5, 1.0, -1.0, 0.02)]
    ]


@pytest.fixture(scope="module")
def post(members):
    return mixture(members, 10 * WEIGHTS)


@pytest.mark.parametrize("noise", [False, True])
def test_marginals_are_those_of_the_members(post, members, noise):
    each = [m.predict(XS, noise=noise) for m in members]
    mean = sum(w * p.mean for w, p in zip(WEIGHTS, each, strict=True))
    second = sum(w * (p.var + p.mean**2) for w, p in zip(WEIGHTS, each, strict=True))
    found = post.predict(XS, noise=noise)
    np.testing.assert_allclose(found.mean, mean, atol=1e-12)
    np.testing.assert_allclose(found.var, second - mean**2, atol=1e-12)
    np.testing.assert_allclose(found.std, np.sqrt(found.var))


def test_density_cdf_and_quantile_belong_together(post):
    found = post.predict(XS)
    y = found.mean + 0.3 * found.std
    density = sum(
        w * stats.norm.pdf(y, found.members.mean[i], found.members.std[i])
        for i, w in enumerate(WEIGHTS)
    )
    np.testing.assert_allclose(found.log_prob(y), np.log(density), rtol=1e-12)

    def first(t):
        return float(np.exp(found.log_prob(np.full(5, t)))[0])

    low = float(found.mean[0] - 12 * found.std[0])
    below, _ = integrate.quad(first, low, float(y[0]), epsabs=1e-11, limit=400)
    np.testing.assert_allclose(found.cdf(y)[0], below, atol=1e-8)
    for p in (0.01, 0.5, 0.975):
        np.testing.assert_allclose(found.cdf(found.quantile(p)), p, atol=1e-10)


def test_draws_have_the_moments_of_the_mixture(post, members):
    """Joint draws: means and covariances within 5 standard errors of the exact ones."""
    n = 20_000
    draws = np.asarray(post.sample(jax.random.key(0), XS, n))
    joint = [m.joint(XS) for m in members]
    mean = sum(w * j.mean for w, j in zip(WEIGHTS, joint, strict=True))
    second = sum(
        w * (j.cov + np.outer(j.mean, j.mean)) for w, j in zip(WEIGHTS, joint, strict=True)
    )
    cov = second - np.outer(mean, mean)
    error = np.sqrt(np.diag(cov) / n)
    assert np.all(np.abs(draws.mean(0) - mean) < 5 * error)
    products = (draws - mean)[:, :, None] * (draws - mean)[:, None, :]
    assert np.all(np.abs(products.mean(0) - cov) < 5 * products.std(0) / np.sqrt(n))
    single = np.asarray(post.predict(XS).sample(jax.random.key(1), n))
    assert np.all(np.abs(single.mean(0) - mean) < 5 * error)


def test_traced_equals_eager(post):
    eager = post.predict(XS)
    traced = jax.jit(lambda p, x: p.predict(x))(post, jnp.asarray(XS))
    np.testing.assert_allclose(traced.mean, eager.mean, rtol=1e-12)
    np.testing.assert_allclose(traced.quantile(0.3), eager.quantile(0.3), rtol=1e-10)


def test_members_and_abilities(post, members):
    np.testing.assert_allclose(
        post.member(1).predict(XS).mean, members[1].predict(XS).mean, rtol=1e-12
    )
    assert "3 x ExactPosterior" in repr(post)
    assert not post.gaussian
    with pytest.raises(ll.Unsupported, match="joint"):
        post.joint(XS)


def test_what_cannot_be_mixed(members):
    with pytest.raises(ll.InvalidData, match="at least one"):
        mixture([])
    with pytest.raises(ll.InvalidData, match="weights"):
        mixture(members, [0.5, -0.1, 0.6])
    other = ll.GP(ll.kernels.Matern32(), noise=0.1).condition(X, Y)
    with pytest.raises(ll.InvalidData, match="structure"):
        mixture([members[0], other])


def test_nuts_averages_over_hyper_parameters():
    """Draws of the noise agree with its posterior on a grid, all else fixed.

    The grid integrates evidence times prior exactly; 32 thinned draws must have its mean within 5
    of their standard errors, with the exact deviation.
    """
    gp = ll.GP(
        ll.fixed(1.0) * ll.kernels.Matern52(lengthscale=ll.fixed(0.4)),
        mean=ll.fixed(0.0),
        noise=0.05,
    )
    post = gp.fit(X, Y, inference="nuts", seed=1)
    draws = np.log(np.asarray(post.members.gp.noise))
    assert draws.shape == (32,)
    assert np.all(post.weights == 1 / 32)

    unit = 2 * np.log(Y.std())
    grid = np.linspace(unit - 25, unit + 6, 400)
    logs = np.array(
        [
            float(
                ll.GP(gp.kernel, mean=ll.fixed(0.0), noise=float(np.exp(u)))
                .condition(X, Y)
                .log_evidence
            )
            - 0.5 * ((u - unit + 4.0) / 3.0) ** 2
            for u in grid
        ]
    )
    p = np.exp(logs - logs.max())
    p /= p.sum()
    mean = p @ grid
    std = np.sqrt(p @ (grid - mean) ** 2)
    assert abs(draws.mean() - mean) < 5 * std / np.sqrt(32)
    assert 0.4 < draws.std() / std < 2.0


def test_nuts_needs_priors():
    with pytest.raises(ll.InvalidData, match="prior"):
        ll.GP(ll.kernels.Matern52()).fit(X, Y, inference="nuts", priors=None)
