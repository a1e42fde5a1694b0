"""Exact posteriors: brute force for every kernel, scikit-learn, padding, draws, tracing."""

from __future__ import annotations

from functools import cache, partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as theirs
from tests.kernels.registry import KERNELS, gram, inputs

import leadline as ll
from leadline import kernels as k
from leadline.models._exact import ExactPosterior, _condition
from leadline.models._rows import Rows

N, M = 12, 7
RNG = np.random.default_rng(0)
X, XS = RNG.normal(size=(N, 3)), RNG.normal(size=(M, 3))
Y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 2.0
ARD = [0.7, 1.1, 1.6]
GP = ll.GP(1.5 * k.Matern52(ARD), mean=0.4, noise=1e-2)


def brute_force(K, cross, prior_cov, mean, mean_s, y):
    """Mean, covariance and log evidence by inverting the covariance matrix K of the data."""
    inverse = np.linalg.inv(K)
    cov = prior_cov - cross.T @ inverse @ cross
    evidence = scipy.stats.multivariate_normal.logpdf(y, mean, K)
    return mean_s + cross.T @ inverse @ (y - mean), cov, evidence


@cache
def gram_of_gp() -> np.ndarray:
    """The kernel of `GP` between all rows of X and XS, in one program."""
    rows = np.concatenate([X, XS])
    return np.asarray(gram(GP.kernel, rows, rows))


def of_gp(n: int, var=0.0):
    """Brute force for `GP` given its first `n` rows, at XS."""
    full = gram_of_gp()
    K = full[:n, :n] + np.diag(np.full(n, 1e-2) + var)
    return brute_force(K, full[:n, N:], full[N:, N:], np.full(n, 0.4), 0.4, Y[:n])


# One program for each kernel, run once: not worth optimizing.
@partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
def everything(gp, x, y, xs):
    """The posterior, and the Gram matrix that brute force needs."""
    post = gp.condition(x, y)
    rows = jnp.concatenate([x, xs])
    return post.predict(xs), post.joint(xs), post.log_evidence, gp.kernel(rows, rows)


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_against_brute_force(name):
    noise = 1e-4
    kernel, kind = KERNELS[name]
    x, xs = inputs(kind, N, seed=1), inputs(kind, M, seed=2)
    gp = ll.GP(kernel, mean=0.4, noise=noise)
    marginal, joint, evidence, full = jax.device_get(everything(gp, x, Y, xs))
    K = full[:N, :N] + noise * np.eye(N)
    mean, cov, log_p = brute_force(K, full[:N, N:], full[N:, N:], np.full(N, 0.4), 0.4, Y)
    # What is lost grows with the condition number of K, and with the size of the answer.
    scale = max(1.0, np.linalg.cond(K) * 1e-7) * max(1.0, np.abs(mean).max(), cov.max())
    np.testing.assert_allclose(marginal.mean, mean, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(marginal.var, np.diagonal(cov), rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(joint.mean, mean, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(joint.cov, cov, rtol=0, atol=1e-8 * scale)
    np.testing.assert_allclose(evidence, log_p, rtol=1e-8, atol=1e-8)


SAME = {
    "SquaredExponential": (k.SquaredExponential(ARD), theirs.RBF(ARD)),
    "Matern12": (k.Matern12(ARD), theirs.Matern(ARD, nu=0.5)),
    "Matern32": (k.Matern32(ARD), theirs.Matern(ARD, nu=1.5)),
    "Matern52": (k.Matern52(ARD), theirs.Matern(ARD, nu=2.5)),
    "Matern4.2": (k.Matern(ARD, nu=4.2), theirs.Matern(ARD, nu=4.2)),
    "RationalQuadratic": (
        k.RationalQuadratic([1.2] * 3, alpha=0.6),
        theirs.RationalQuadratic(length_scale=1.2, alpha=0.6),
    ),
    "Linear": (k.Linear([1.0] * 3) + 0.49, theirs.DotProduct(0.7)),
    "SumOfProducts": (
        2.0 * k.Matern52(0.9) + 0.5 * k.SquaredExponential(2.0) * k.Matern12(1.5),
        theirs.ConstantKernel(2.0) * theirs.Matern(0.9, nu=2.5)
        + theirs.ConstantKernel(0.5) * theirs.RBF(2.0) * theirs.Matern(1.5, nu=0.5),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_against_scikit_learn(name):
    ours, other = SAME[name]
    marginal, joint, evidence, _ = everything(ll.GP(ours, noise=1e-3), X, Y, XS)
    reference = GaussianProcessRegressor(other, alpha=1e-3, optimizer=None).fit(X, Y)
    mean, cov = reference.predict(XS, return_cov=True)
    np.testing.assert_allclose(marginal.mean, mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(marginal.var, np.diagonal(cov), rtol=0, atol=1e-8)
    np.testing.assert_allclose(joint.cov, cov, rtol=0, atol=1e-8)
    np.testing.assert_allclose(evidence, reference.log_marginal_likelihood_value_, rtol=1e-9)


def test_the_periodic_kernel_against_scikit_learn():
    """Theirs is a function of the distance, so the two are the same for one input column."""
    ours = ll.GP(k.Periodic(lengthscale=0.8, period=2.0, active_dims=[0]), noise=1e-3)
    marginal, _, evidence, _ = everything(ours, X, Y, XS)
    reference = GaussianProcessRegressor(
        theirs.ExpSineSquared(0.8, 2.0), alpha=1e-3, optimizer=None
    ).fit(X[:, :1], Y)
    mean, std = reference.predict(XS[:, :1], return_std=True)
    np.testing.assert_allclose(marginal.mean, mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(marginal.std, std, rtol=0, atol=1e-8)
    np.testing.assert_allclose(evidence, reference.log_marginal_likelihood_value_, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, N])
def test_eager_predictions_with_row_variances(n):
    var = np.linspace(0.0, 0.5, n)
    post = GP.condition(X[:n], Y[:n], var)
    mean, cov, evidence = of_gp(n, var)
    np.testing.assert_allclose(post.predict(XS).mean, mean, rtol=0, atol=1e-10)
    np.testing.assert_allclose(post.predict(XS).var, np.diagonal(cov), rtol=0, atol=1e-10)
    np.testing.assert_allclose(post.log_evidence, evidence, rtol=1e-10)
    assert post.n == n


def test_observations_have_the_noise_of_the_process():
    latent, seen = (GP.condition(X, Y).predict(XS, noise=noise) for noise in (False, True))
    np.testing.assert_array_equal(latent.mean, seen.mean)
    np.testing.assert_allclose(seen.var - latent.var, 1e-2, rtol=0, atol=1e-14)


padded_program = jax.jit(
    lambda rows, xs: (
        ExactPosterior(GP, rows, *_condition(GP, rows)).marginal_moments(xs),
        _condition(GP, rows)[2],
    )
)


@settings(max_examples=25)
@given(n=st.integers(1, N), seed=st.integers(0, 2**32 - 1), size=st.sampled_from([16, 32]))
def test_padded_rows_are_inert_whatever_they_hold(n, seed, size):
    """Any number of padded rows, with any content: the answer of the rows that are real."""
    rng = np.random.default_rng(seed)
    rows = Rows(
        rng.normal(size=(size, 3)),
        1e3 * rng.normal(size=size),
        rng.uniform(size=size),
        (np.arange(size) < n).astype(float),
    )
    rows.x[:n], rows.y[:n], rows.var[:n] = X[:n], Y[:n], 0.0
    (mean, var), evidence = padded_program(rows, XS)
    wanted, cov, log_p = of_gp(n)
    np.testing.assert_allclose(mean, wanted, rtol=0, atol=1e-10)
    np.testing.assert_allclose(var, np.diagonal(cov), rtol=0, atol=1e-10)
    np.testing.assert_allclose(evidence, log_p, rtol=0, atol=1e-10)


def test_padded_queries_are_cut():
    post = GP.condition(X, Y)
    many = np.random.default_rng(5).normal(size=(2048 + 5, 3))
    whole = post.predict(many)
    assert whole.mean.shape == whole.var.shape == (2053,)
    pieces = [post.predict(many[i : i + 1]).mean[0] for i in (0, 1, 2047, 2048, 2052)]
    np.testing.assert_allclose(whole.mean[[0, 1, 2047, 2048, 2052]], pieces, rtol=1e-13)
    assert post.predict(np.empty((0, 3))).mean.shape == (0,)


def test_joint_marginals_are_the_predictions():
    post = GP.condition(X, Y)
    marginals, predicted = post.joint(XS).marginals, post.predict(XS)
    np.testing.assert_allclose(marginals.mean, predicted.mean, rtol=1e-12)
    np.testing.assert_allclose(marginals.var, predicted.var, rtol=0, atol=1e-13)


def test_log_density_of_joint_values():
    joint = GP.condition(X, Y).joint(XS)
    y = joint.mean + 0.1
    wanted = scipy.stats.multivariate_normal.logpdf(y, joint.mean, joint.cov)
    np.testing.assert_allclose(joint.log_prob(y), wanted, rtol=1e-9)
    traced = jax.jit(lambda joint, y: joint.log_prob(y))(joint, y)
    np.testing.assert_allclose(traced, wanted, rtol=1e-9)
    # The same point twice: the joint law has no density.
    twice = GP.condition(X, Y).joint(XS[[0, 0]])
    assert np.isfinite(twice.log_prob(twice.mean))


def test_log_evidence_is_a_chain_of_predictions():
    """Log p(y) = sum_i log p(y_i | y_1, ..., y_(i-1))."""
    prior = scipy.stats.norm(0.4, np.sqrt(1.5 + 1e-2)).logpdf(Y[0])
    chain = [
        GP.condition(X[:i], Y[:i]).predict(X[i : i + 1], noise=True).log_prob(Y[i : i + 1])[0]
        for i in range(1, N)
    ]
    evidence = float(GP.condition(X, Y).log_evidence)
    np.testing.assert_allclose(evidence, prior + sum(chain), rtol=1e-10)


def test_leave_one_out_is_refitting():
    var = np.linspace(0.0, 0.2, N)
    post = GP.condition(X, Y, var)
    found = post.leave_one_out()
    assert found.mean.shape == (N,)
    for i in range(N):
        rest = np.delete(np.arange(N), i)
        marginal = GP.condition(X[rest], Y[rest], var[rest]).predict(X[[i]], noise=True)
        np.testing.assert_allclose(found.mean[i], marginal.mean[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.var[i], marginal.var[0] + var[i], rtol=0, atol=1e-9)


def test_interpolation_without_noise():
    """Check: naiff S9.3"""
    x = np.random.default_rng(3).normal(size=(20, 3))
    y = np.sin(2.0 * x[:, 0]) + x[:, 1] * x[:, 2]
    gp = ll.GP(k.ProductMatern([1.0, 1.5, 2.0], nu=1.5), noise=1e-10)
    found = gp.condition(x, y).predict(x)
    assert np.max(np.abs(found.mean - y)) < 1e-6
    assert np.max(found.var) < 1e-6


def test_draws_have_the_moments_of_the_joint_law():
    """Within four standard errors, each entry."""
    post, draws = GP.condition(X, Y), 20_000
    joint = post.joint(XS)
    sample = np.asarray(post.sample(jax.random.key(0), XS, draws))
    assert sample.shape == (draws, M)
    variances = np.diagonal(joint.cov)
    errors = np.abs(sample.mean(0) - joint.mean) / np.sqrt(variances / draws)
    assert errors.max() < 4.0
    deviation = np.sqrt((np.outer(variances, variances) + joint.cov**2) / draws)
    assert (np.abs(np.cov(sample.T) - joint.cov) / deviation).max() < 4.0


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_draws_where_nothing_is_uncertain(scale):
    """At noise-free data what is left of the covariance is rounding: draws are the data."""
    gp = ll.GP(scale**2 * k.Matern52([2.0] * 3), noise=0.0)
    draws = gp.condition(X, scale * Y).sample(jax.random.key(0), X, 5)
    np.testing.assert_allclose(draws, np.broadcast_to(scale * Y, (5, N)), atol=2e-5 * scale)


def test_the_law_of_a_value_without_doubt():
    certain = ll.models.Normal(np.zeros(2), np.array([0.0, 1.0]))
    assert certain.log_prob(np.zeros(2))[0] > 300
    assert certain.log_prob(np.full(2, 5.0))[0] == -np.inf
    np.testing.assert_array_equal(certain.cdf(np.array([-1.0, -np.inf])), [0.0, 0.0])
    np.testing.assert_array_equal(certain.cdf(np.array([1.0, np.inf])), [1.0, 1.0])
    np.testing.assert_allclose(certain.quantile(0.5), [0.0, 0.0])
    with pytest.raises(ll.InvalidData, match=r"between 0 and 1, got 1\.5"):
        certain.quantile(1.5)


def test_marginals_are_normal_laws():
    found = GP.condition(X, Y).predict(XS)
    law = scipy.stats.norm(found.mean, found.std)
    np.testing.assert_allclose(found.log_prob(XS[:, 0]), law.logpdf(XS[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(found.cdf(XS[:, 0]), law.cdf(XS[:, 0]), rtol=1e-12)
    np.testing.assert_allclose(found.quantile(0.9), law.ppf(0.9), rtol=1e-12)
    np.testing.assert_allclose(found.cdf(found.quantile(0.2)), 0.2, rtol=1e-10)
    draws = np.asarray(found.sample(jax.random.key(0), 4000))
    assert np.max(np.abs(draws.mean(0) - found.mean) / found.std) < 4.0 / np.sqrt(4000)


def test_traced_predictions_are_the_eager_ones():
    post = GP.condition(X, Y)
    wanted = post.predict(XS, noise=True)
    for found in (
        jax.jit(lambda post, xs: post.predict(xs, noise=True))(post, XS),
        jax.jit(lambda xs: post.predict(xs, noise=True))(XS),
        jax.jit(jax.vmap(lambda x: jax.tree.map(lambda a: a[0], post.predict(x[None], True))))(XS),
    ):
        np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-12)
        np.testing.assert_allclose(found.var, wanted.var, rtol=1e-11)
    joint = jax.jit(lambda post, xs: post.joint(xs))(post, XS)
    np.testing.assert_allclose(joint.cov, post.joint(XS).cov, rtol=0, atol=1e-12)


def test_gradients_in_the_query():
    post = GP.condition(X, Y)

    def total(xs):
        found = post.predict(xs)
        return jnp.sum(found.mean) + jnp.sum(found.std)

    gradient = jax.jit(jax.grad(total))(XS)
    step = 1e-5
    for i, j in [(0, 0), (3, 2), (6, 1)]:
        moved = np.repeat(XS[None], 2, axis=0)
        moved[0, i, j] += step
        moved[1, i, j] -= step
        up, down = (post.predict(xs) for xs in moved)
        difference = up.mean.sum() + up.std.sum() - down.mean.sum() - down.std.sum()
        np.testing.assert_allclose(gradient[i, j], difference / (2 * step), rtol=1e-6, atol=1e-8)


def test_gradient_through_a_draw():
    """Reparameterized draws move with the query, as Monte Carlo acquisitions need."""
    post, key = GP.condition(X, Y), jax.random.key(1)
    program = jax.jit(jax.value_and_grad(lambda shift: jnp.sum(post.sample(key, XS + shift, 3))))
    step = 1e-5
    slope = (program(step)[0] - program(-step)[0]) / (2 * step)
    np.testing.assert_allclose(program(0.0)[1], slope, rtol=1e-6)


def test_a_traced_posterior_is_the_eager_one():
    """Conditioning traces too, from lists as well, and has the gradient of the evidence."""
    gradient = eqx.filter_jit(
        eqx.filter_value_and_grad(lambda gp, y: gp.condition(X.tolist(), y, 0.1).log_evidence)
    )
    value, found = gradient(GP, Y)
    np.testing.assert_allclose(value, GP.condition(X, Y, 0.1).log_evidence, rtol=1e-12)
    rows = Rows(*map(jnp.asarray, (X, Y, np.full(N, 0.1), np.ones(N))))
    wanted = eqx.filter_jit(eqx.filter_grad(ll.models._exact.log_evidence))(GP, rows)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_what_a_posterior_shows():
    post = GP.condition(X, Y)
    assert repr(post).startswith("ExactPosterior(GP(kernel=1.5 * Matern52(lengthscale=[0.7, 1.1, ")
    assert f"n={N}" in repr(post)
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        post.colour  # noqa: B018


def test_what_a_posterior_cannot_do():
    class Bare(ll.models.Posterior):
        def predict(self, xs, noise=False):
            return None

        def sample(self, key, xs, n):
            return None

    for ability in ("joint", "update", "leave_one_out"):
        with pytest.raises(ll.Unsupported, match=f"Bare has no '{ability}'. It is an ability of"):
            getattr(Bare(), ability)
        assert not hasattr(Bare(), ability)


def test_predictions_show_their_numbers():
    post = ll.GP(ll.kernels.Matern52(1.0), noise=0.1).condition([[0.0], [1.0]], [0.0, 1.0])
    assert repr(post.predict([[0.0]])).startswith("Normal(mean=[0.")
    assert repr(post.predict([[0.0]] * 50)) == "Normal(mean=f64[50], var=f64[50])"


def test_ceilings_have_the_mean_and_no_less_variance():
    rng = np.random.default_rng(2)
    x, xs = rng.random((40, 2)), rng.random((30, 2))
    post = ll.GP(2.0 * ll.kernels.Matern52(0.4), mean=1.0, noise=1e-3).condition(x, rng.random(40))
    found, exact = post.ceilings(xs), post.predict(xs)
    np.testing.assert_allclose(found.mean, exact.mean, rtol=1e-9)
    # Data are padded to 64 rows, of which the first 16 take variance away.
    few = post.gp.condition(x[:16], np.zeros(16)).predict(xs)
    np.testing.assert_allclose(found.var, few.var, rtol=1e-7)
    assert np.all(found.var >= exact.var - 1e-12)
