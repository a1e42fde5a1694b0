import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp

import leadline as ll
from leadline.acquisition import ExpectedImprovement, LogExpectedImprovement
from leadline.acquisition._averaged import Averaged, LogAveraged, averaged
from leadline.acquisition._max_value_entropy import MaxValueEntropy
from leadline.models import mixture
from leadline.numerics import quick_jit

RNG = np.random.default_rng(0)
X = RNG.random((10, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.05 * RNG.normal(size=10)
RUNNING = RNG.random((2, 2))
XS = jnp.asarray(RNG.random((5, 1, 2)))
WEIGHTS = np.array([0.2, 0.5, 0.3])

values = quick_jit(lambda acquisition, x: acquisition.values(x))


@quick_jit
def values_and_gradients(acquisition, x):
    found, back = jax.vjp(acquisition.values, x)
    return found, back(jnp.ones_like(found))[0]


def own_best(kind):
    """The improvement on the best posterior mean among the data, which each member has its own."""
    return lambda post: kind(post, jnp.asarray(np.max(post.predict(X).mean)))


@pytest.fixture(scope="module")
def posteriors():
    scales, noises = ([0.3, 0.5], [0.6, 0.4], [0.2, 1.0]), (1e-3, 3e-2, 1e-2)
    return [
        ll.GP(1.2 * ll.kernels.Matern52(scale), noise=noise).condition(X, Y)
        for scale, noise in zip(scales, noises, strict=True)
    ]


@pytest.fixture(scope="module")
def mixed(posteriors):
    return mixture(posteriors, WEIGHTS)


def log_mean(each):
    return logsumexp(np.stack(each), axis=0, b=WEIGHTS[:, None])


def test_logarithms_are_of_weighted_means(posteriors, mixed):
    """With a best value of each member."""
    make = own_best(LogExpectedImprovement)
    acquisition, each = averaged(make, mixed), [make(post) for post in posteriors]
    assert type(acquisition) is LogAveraged
    assert len({float(a.best) for a in each}) == 3
    expected = log_mean([values(a, XS) for a in each])
    np.testing.assert_allclose(values(acquisition, XS), expected, rtol=1e-10)


def test_running_calls_are_those_of_each_member(posteriors, mixed, compilations):
    """And one more of them compiles nothing."""
    make = own_best(LogExpectedImprovement)
    acquisition = averaged(make, mixed)
    in_turn = acquisition.after(RUNNING[:1])
    alone = values(in_turn, XS)
    before = compilations[0]
    in_turn = in_turn.after(RUNNING[1:])
    found = values(in_turn, XS)
    assert compilations[0] == before
    expected = log_mean([values(make(post).after(RUNNING), XS) for post in posteriors])
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    assert np.array_equal(found, values(acquisition.after(RUNNING), XS))
    assert not np.allclose(found, alone, rtol=1e-3)


def test_they_are_of_the_kind_of_their_members(mixed):
    plain = averaged(own_best(ExpectedImprovement), mixed)
    log = averaged(own_best(LogExpectedImprovement), mixed)
    told = averaged(lambda post: MaxValueEntropy(post, np.array([1.8, 2.0])), mixed)
    assert log.logarithmic
    assert not plain.logarithmic
    assert not told.logarithmic
    assert plain.submodular
    assert log.submodular
    assert not told.submodular
    assert plain.traceable


def test_of_one_member_it_is_that_member(posteriors):
    make = own_best(LogExpectedImprovement)
    alone = averaged(make, mixture(posteriors[:1]))
    np.testing.assert_allclose(values(alone, XS), values(make(posteriors[0]), XS), rtol=1e-12)


def test_values_are_weighted_means(posteriors, mixed):
    """Of information, for which each member has its own draws of the maximum."""

    def make(post):
        return MaxValueEntropy(post, np.max(post.predict(X).mean) + np.array([0.1, 0.5]))

    expected = WEIGHTS @ np.stack([values(make(post), XS) for post in posteriors])
    acquisition = averaged(make, mixed)
    assert type(acquisition) is Averaged
    np.testing.assert_allclose(values(acquisition, XS), expected, rtol=1e-9)


def test_gradients_are_means_of_gradients(posteriors, mixed):
    """Of a logarithm, weighted by what each member says the point is worth."""
    make = own_best(LogExpectedImprovement)
    found, gradient = values_and_gradients(averaged(make, mixed), XS)
    logs, slopes = zip(*(values_and_gradients(make(post), XS) for post in posteriors), strict=True)
    shares = WEIGHTS[:, None] * np.exp(np.stack(logs) - np.asarray(found))
    expected = np.einsum("sb,sbqd->bqd", shares, np.stack(slopes))
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-10)


def test_a_member_without_weight_does_not_count(posteriors):
    without = mixture(posteriors, [1.0, 0.0, 0.0])
    make = own_best(LogExpectedImprovement)
    found, gradient = values_and_gradients(averaged(make, without), XS)
    np.testing.assert_allclose(found, values(make(posteriors[0]), XS), rtol=1e-10)
    assert np.all(np.isfinite(gradient))


@pytest.mark.slow
def test_uncertain_hyper_parameters_are_worth_something_else():
    """The mean over sampled hyper-parameters is not the value at their mean."""
    gp = ll.GP(
        ll.fixed(1.0) * ll.kernels.Matern52(lengthscale=[0.4, 0.4]), mean=ll.fixed(0.0), noise=0.01
    )
    mixed = gp.fit(X, Y, inference="nuts", seed=1)
    scale = np.asarray(mixed.members.gp.kernel.kernel.lengthscale).mean(axis=0)
    noise = float(np.mean(mixed.members.gp.noise))
    at_mean = ll.GP(ll.kernels.Matern52(scale), mean=0.0, noise=noise).condition(X, Y)
    make = own_best(LogExpectedImprovement)
    found = np.asarray(values(averaged(make, mixed), XS))
    each = np.stack([values(make(mixed.member(i)), XS) for i in range(mixed.n_members)])
    np.testing.assert_allclose(found, logsumexp(each, axis=0) - np.log(len(each)), rtol=1e-9)
    assert np.max(np.abs(found - np.asarray(values(make(at_mean), XS)))) > 0.1


def test_misuse_is_an_error(posteriors, mixed):
    with pytest.raises(ll.Unsupported, match="members of a mixture, got ExactPosterior"):
        averaged(own_best(ExpectedImprovement), posteriors[0])
    sizes = iter([2, 3, 3])
    with pytest.raises(ll.InvalidData, match="one structure and one shape"):
        averaged(lambda post: MaxValueEntropy(post, np.ones(next(sizes))), mixed)
    told = averaged(lambda post: MaxValueEntropy(post, np.ones(2)), mixed)
    with pytest.raises(ll.Unsupported, match="MaxValueEntropy has no 'after'"):
        told.after(RUNNING)

    class Host(ExpectedImprovement):
        traceable = False

    with pytest.raises(ll.Unsupported, match="no JAX program"):
        averaged(own_best(Host), mixed)
