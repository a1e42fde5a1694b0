"""One term of a sum given data on the sum, against the joint law of all terms by brute force."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

import leadline as ll
from leadline.kernels import Constant, DirectSum, Linear, Matern52, SquaredExponential, Sum
from leadline.means import Linear as LinearMean
from leadline.models import LaplaceClassifier, Titsias, mixture
from leadline.models._part import part_of

RNG = np.random.default_rng(0)
X, XS = RNG.uniform(size=(12, 2)), RNG.uniform(size=(3, 2))
Y = np.sin(9.0 * X[:, 0]) + 2.0 * X[:, 1] + 3.0
VAR = RNG.uniform(0.0, 0.02, size=12)
NOISE = 0.01
TERMS = (1.5 * SquaredExponential(0.7), 0.5 * Matern52(0.2).on(0))
MEAN = LinearMean([0.0, 1.0], 2.5)
GP = ll.GP(TERMS[0] + TERMS[1], mean=MEAN, noise=NOISE)
KEY = jax.random.key(0)
DRAWS = 4000, 512  # and features


@pytest.fixture(scope="module")
def post():
    return GP.condition(X, Y, VAR)


@pytest.fixture(scope="module")
def joint():
    """Mean (6,) and covariance (6, 6) of both terms at XS, from their joint law with the data."""
    blocks = [[np.asarray(k(a, b)) for a, b in ((X, X), (XS, X), (XS, XS))] for k in TERMS]
    data = blocks[0][0] + blocks[1][0] + np.diag(NOISE + VAR)
    cross = np.concatenate([blocks[0][1], blocks[1][1]])
    prior = np.zeros((6, 6))
    prior[:3, :3], prior[3:, 3:] = blocks[0][2], blocks[1][2]
    residual = Y - (2.5 + X[:, 1])
    return cross @ np.linalg.solve(data, residual), prior - cross @ np.linalg.solve(data, cross.T)


@pytest.mark.parametrize("i", [0, 1])
def test_each_term(post, joint, i):
    rows = slice(3 * i, 3 * i + 3)
    mean, cov = joint[0][rows], joint[1][rows, rows]
    part = post.part(i)
    found = part.joint(XS)
    np.testing.assert_allclose(found.mean, mean, atol=1e-10)
    np.testing.assert_allclose(found.cov, cov, atol=1e-10)
    marginals = part.predict(XS, noise=True)
    np.testing.assert_allclose(marginals.mean, mean, atol=1e-10)
    np.testing.assert_allclose(marginals.var, np.diag(cov) + NOISE, atol=1e-10)
    expansion = part.expansion()
    np.testing.assert_allclose(expansion.mean_at(jnp.asarray(XS)), mean, atol=1e-10)
    explained = np.asarray(expansion.explained(jnp.asarray(XS)))
    prior = np.asarray(TERMS[i](XS, XS))
    np.testing.assert_allclose(prior - explained @ explained.T, cov, atol=1e-10)
    draws = np.asarray(part.sample(KEY, XS, 4000))
    assert np.all(np.abs(draws.mean(0) - mean) < 5 * np.sqrt(np.diag(cov) / 4000))


def test_terms_add_up_with_the_mean_function(post, joint):
    """So do the covariances, with those between the terms, which the data make negative."""
    parts = [post.part(i).joint(XS) for i in range(2)]
    whole = post.joint(XS)
    total = parts[0].mean + parts[1].mean + 2.5 + XS[:, 1]
    np.testing.assert_allclose(total, whole.mean, atol=1e-10)
    between = joint[1][:3, 3:]
    assert np.all(np.diag(between) < 0)
    found = whole.cov - parts[0].cov - parts[1].cov
    np.testing.assert_allclose(found, between + between.T, atol=1e-10)


def test_draws_of_terms_belong_together(post, joint):
    """Draws with one key have the joint law of the terms: moments within 5 standard errors."""
    n, (mean, cov) = DRAWS[0], joint
    draws = np.concatenate([np.asarray(post.part(i).paths(KEY, *DRAWS)(XS)) for i in (0, 1)], 1)
    centered = draws - mean
    assert np.all(np.abs(centered.mean(0)) < 5 * np.sqrt(np.diag(cov) / n))
    products = centered[:, :, None] * centered[:, None, :]
    assert np.all(np.abs(products.mean(0) - cov) < 5 * products.std(0) / np.sqrt(n))
    # Which is not that of terms that know nothing of one another.
    assert np.any(np.abs(cov[:3, 3:]) > 10 * products.std(0)[:3, 3:] / np.sqrt(n))


def test_draws_of_terms_add_up_to_the_data():
    """Where there is next to no noise, their sum and the mean function pass through them."""
    post = ll.GP(GP.kernel, mean=MEAN, noise=1e-8).condition(X, Y)
    draws = [np.asarray(post.part(i).paths(KEY, *DRAWS)(X)) for i in (0, 1)]
    found = draws[0] + draws[1] + 2.5 + X[:, 1]
    np.testing.assert_allclose(found, np.broadcast_to(Y, found.shape), atol=5e-3)
    assert draws[0].std(0).min() > 0.01


def test_terms_of_a_sparse_posterior(joint):
    """With inducing points at the data it is the exact one."""
    post = Titsias(GP.kernel, X, mean=MEAN, noise=NOISE).condition(X, Y, VAR)
    found = post.part(1).joint(XS)
    np.testing.assert_allclose(found.mean, joint[0][3:], atol=1e-6)
    np.testing.assert_allclose(found.cov, joint[1][3:, 3:], atol=1e-6)


def test_terms_of_a_mixture(post):
    other = ll.GP(GP.kernel, mean=MEAN, noise=0.1).condition(X, Y, VAR)
    both = mixture([post, other], [1, 3])
    part = both.part(0)
    found = part.predict(XS)
    for i, one in enumerate((post, other)):
        np.testing.assert_allclose(found.members.mean[i], one.part(0).predict(XS).mean, atol=1e-10)
        np.testing.assert_allclose(found.members.var[i], one.part(0).predict(XS).var, atol=1e-10)
    np.testing.assert_array_equal(part.weights, [0.25, 0.75])
    np.testing.assert_allclose(
        part.member(1).predict(XS).mean, other.part(0).predict(XS).mean, atol=1e-12
    )


def test_in_a_trace(post):
    traced = jax.jit(lambda post, xs: post.part(1).predict(xs).mean)(post, jnp.asarray(XS))
    np.testing.assert_allclose(traced, post.part(1).predict(XS).mean, atol=1e-12)


def test_names_of_columns_are_kept():
    named = GP.condition(pd.DataFrame(X, columns=["a", "b"]), Y, VAR).part(1)
    other = pd.DataFrame(XS, columns=["a", "b"])[["b", "a"]]
    np.testing.assert_array_equal(named.predict(other).mean, named.predict(XS).mean)
    assert named.paths(KEY, *DRAWS).input_names == ("a", "b")


def test_sums_as_they_were_written():
    a, b, c = SquaredExponential(0.3), Matern52(0.5), Linear(1.0)
    assert a.addends() == (2.0 * a).addends() == (a * (b + c)).addends() == ()
    assert len((a + (b + c)).addends()) == 3  # `+` flattens
    nested = Sum((a, Sum((b, c)))).addends()
    assert [type(k) for k in nested] == [SquaredExponential, Sum]
    assert len((a + 0.5).addends()) == 2
    assert isinstance((a + 0.5).addends()[1], Constant)
    kernels = (
        2.0 * (a + b),
        (a + b).on(1),
        (3.0 * (a + 2.0 * b)).on([0]),
        DirectSum((a, b), (0, 1)),
    )
    for kernel in kernels:
        terms = kernel.addends()
        assert len(terms) == 2
        np.testing.assert_allclose(terms[0](X, X) + terms[1](X, X), kernel(X, X), rtol=1e-12)


def test_what_has_no_parts(post):
    alone = ll.GP(2.0 * Matern52(0.3)).condition(X, Y)
    with pytest.raises(
        ll.Unsupported, match=r"2 \* Matern52\(.*\) is no sum of kernels, .* k0 \+ k1"
    ):
        alone.part(0)
    with pytest.raises(ll.Unsupported, match=r"no sum of kernels"):
        mixture([alone, alone]).part(0)
    for i in (2, -1, True, 1.0, "trend"):
        with pytest.raises(ll.InvalidData, match=f"the parts are numbered from 0 to 1, got {i!r}"):
            part_of(post, i)
    labels = LaplaceClassifier(GP.kernel).condition(X, Y > 4.0)
    with pytest.raises(ll.Unsupported, match=r"no 'part'.*ExactPosterior.*TitsiasPosterior"):
        labels.part(0)
    with pytest.raises(ll.Unsupported, match="PartPosterior has no 'update'"):
        post.part(0).update(X, Y)


def test_how_it_is_shown(post):
    text = repr(post.part(1))
    assert text.startswith(
        "PartPosterior(0.5 * Matern52(lengthscale=0.2).on([0]), part=1, of=Exact"
    )
