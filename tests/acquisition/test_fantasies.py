import jax
import numpy as np
import pytest

import leadline as ll
from leadline.acquisition import ExpectedImprovement, LogExpectedImprovement, base_samples
from leadline.acquisition._fantasies import fantasize, fantasize_incumbent
from leadline.acquisition._utilities import Improvement
from leadline.models import mixture
from leadline.numerics import quick_jit

KERNEL = 1.3 * ll.kernels.Matern52([0.4, 0.7])
NOISE = 1e-2
RNG = np.random.default_rng(0)
X = RNG.random((12, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.1 * RNG.normal(size=12)
RUNNING = RNG.random((3, 2))
XS = RNG.random((6, 2))

moments = quick_jit(lambda fantasies, xs: fantasies.moments(xs))
values = quick_jit(lambda acquisition, x: acquisition.values(x))


@quick_jit
def gains_of_each(fantasies, utility, xs):
    """What each fantasy says, (s, m)."""
    mean, std, center = fantasies.moments(xs)
    return utility.gain(mean, std, center, fantasies.reached(utility)[:, None])


@pytest.fixture(scope="module")
def posterior():
    return ll.GP(KERNEL, mean=0.3, noise=NOISE).condition(X, Y)


@pytest.fixture(scope="module")
def fantasies(posterior):
    return fantasize(posterior, RUNNING)


def refit(outcomes, noise=NOISE):
    """The posterior given the data and what the calls found, without noise in the latter."""
    var = np.append(np.full(len(X), noise), np.zeros(len(RUNNING)))
    gp = ll.GP(KERNEL, mean=0.3, noise=0.0)
    return gp.condition(np.concatenate([X, RUNNING]), np.append(Y, outcomes), var)


def outcomes_of(fantasies):
    rows = len(X) + np.arange(len(RUNNING))
    return np.asarray(fantasies.outcomes)[:, rows]


def test_moments_given_outcomes_are_those_of_a_refit(fantasies, posterior):
    mean, std, center = moments(fantasies, XS)
    for i in (0, 17, 63):
        expected = refit(outcomes_of(fantasies)[i]).predict(XS)
        np.testing.assert_allclose(mean[i], expected.mean, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(std, expected.std, rtol=1e-8)
    np.testing.assert_allclose(center, posterior.predict(XS).mean, rtol=1e-11)


def test_improvement_given_outcomes_is_that_of_a_refit(fantasies):
    """One fantasy's gain is the closed form of a refit, above the best of data and outcomes.

    Check: wilson S6.8
    """
    best = 0.7
    gains = np.asarray(gains_of_each(fantasies, Improvement(np.asarray(best)), XS))
    found = outcomes_of(fantasies)
    # One fantasy that improves on the best, one that does not.
    improving = [int(np.argmax(found.max(axis=1))), int(np.argmin(found.max(axis=1)))]
    assert found[improving[0]].max() > best > found[improving[1]].max()
    for i in improving:
        threshold = np.asarray(max(best, found[i].max()))
        closed = values(ExpectedImprovement(refit(found[i]), threshold), XS[:, None, :])
        np.testing.assert_allclose(gains[i], closed, rtol=1e-6, atol=1e-8)
    # Not so with the threshold of the data alone.
    old = values(ExpectedImprovement(refit(found[improving[0]]), np.asarray(best)), XS[:, None, :])
    assert np.max(np.abs(gains[improving[0]] - old)) > 1e-2


def test_outcomes_have_the_law_of_the_posterior(posterior):
    drawn = outcomes_of(fantasize(posterior, RUNNING, 4096))
    law = posterior.joint(RUNNING)
    error = np.sqrt(np.diagonal(law.cov) / len(drawn))
    # Evenly spread draws are closer than independent ones, whose error this is.
    assert np.all(np.abs(drawn.mean(axis=0) - law.mean) < 4 * error)
    scale = np.sqrt(np.diagonal(law.cov))
    off = (np.cov(drawn.T) - law.cov) / (scale[:, None] * scale)
    assert np.all(np.abs(off) < 4.5 * np.sqrt(2 / len(drawn)))


def test_the_deviation_does_not_depend_on_outcomes(posterior, fantasies):
    """More fantasies, or others, have the same factor bit for bit, and none is computed again.

    Check: wilson S6.7
    """
    twice = fantasize(posterior, RUNNING, 128)
    others = fantasize(posterior, RUNNING, seed=5)
    for changed in (twice, others):
        assert np.array_equal(changed.factor, fantasies.factor)
        assert np.array_equal(moments(changed, XS)[1], moments(fantasies, XS)[1])
    assert not np.allclose(others.outcomes, fantasies.outcomes)
    assert twice.outcomes.shape[0] == 2 * fantasies.outcomes.shape[0]
    program = str(jax.make_jaxpr(lambda xs: twice.moments(xs))(XS))
    assert "triangular_solve" in program
    assert "cholesky" not in program


@pytest.mark.parametrize("draw", [fantasize, fantasize_incumbent])
def test_calls_one_after_the_other_or_together_are_the_same(posterior, draw):
    together = draw(posterior, RUNNING)
    stepwise = draw(posterior, RUNNING[:1]).after(RUNNING[1:2]).after(RUNNING[2:])
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(stepwise), strict=True):
        assert np.array_equal(a, b)
    assert np.array_equal(stepwise.running, RUNNING)
    # Earlier calls keep their outcomes when others follow.
    first = np.asarray(draw(posterior, RUNNING[:1]).outcomes)[:, : len(X) + 1]
    np.testing.assert_allclose(first, np.asarray(together.outcomes)[:, : len(X) + 1], rtol=1e-11)


def test_more_rows_than_a_bucket_has_are_the_same(posterior):
    """The padded size changes from 64 to 128; what is believed does not."""
    many = np.random.default_rng(3).random((60, 2))
    crossed = fantasize(posterior, many[:3]).after(many[3:])
    assert crossed.x.shape[0] == 128
    small = fantasize(posterior, many[:3])
    rows = slice(len(X), len(X) + 3)
    np.testing.assert_allclose(crossed.outcomes[:, rows], small.outcomes[:, rows], rtol=1e-9)


def test_one_more_call_compiles_nothing(posterior, compilations):
    best = np.asarray(0.7)
    acquisition = LogExpectedImprovement(posterior, best).after(RUNNING[:1])
    values(acquisition, XS[:, None, :])
    before = compilations[0]
    acquisition = acquisition.after(RUNNING[1:2])
    values(acquisition, XS[:, None, :])
    acquisition = acquisition.after(RUNNING[2:])
    values(acquisition, XS[:, None, :])
    assert compilations[0] == before


def test_without_calls_nothing_changes(posterior):
    none = fantasize(posterior, np.zeros((0, 2)))
    mean, std, center = moments(none, XS)
    marginal = posterior.predict(XS)
    np.testing.assert_allclose(mean, np.tile(marginal.mean, (64, 1)), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(std, marginal.std, rtol=1e-8)
    np.testing.assert_allclose(center, marginal.mean, rtol=1e-11)
    assert none.running.shape == (0, 2)


def test_drawn_incumbents_average_to_the_posterior(posterior):
    """Means given f(X) average to the mean given the data; so do second moments.

    Replicated rows, whose covariance without noise is singular, are no exception.
    """
    twice = ll.GP(KERNEL, mean=0.3, noise=NOISE).condition(
        np.concatenate([X, X]), np.concatenate([Y, Y + 0.1])
    )
    for post in (posterior, twice):
        mean, std, _ = moments(fantasize_incumbent(post, np.zeros((0, 2)), 4096), XS)
        mean, marginal = np.asarray(mean), post.predict(XS)
        error = mean.std(axis=0) / np.sqrt(4096)
        assert np.all(np.abs(mean.mean(axis=0) - marginal.mean) < 4.5 * error)
        variance = np.asarray(std) ** 2 + mean.var(axis=0)
        # A variance of 4096 draws has a relative standard error of 2.2 %.
        np.testing.assert_allclose(variance, marginal.var, rtol=0.1)


def test_noisy_improvement_is_the_mean_over_what_the_data_may_be(posterior):
    """Against joint draws of the function at the data and at a new point.

    Where no draw improves there is no error to measure, and nothing to find.
    """
    acquisition = LogExpectedImprovement.noisy(posterior, 4096)
    found = np.exp(values(acquisition, XS[:, None, :]))
    each = gains_of_each(acquisition.fantasies, acquisition.utility, XS)
    law = posterior.joint(np.concatenate([X, XS]))
    root = np.linalg.cholesky(law.cov + 1e-12 * np.eye(18))
    f = law.mean + np.random.default_rng(4).normal(size=(200_000, 18)) @ root.T
    gain = np.maximum(f[:, 12:] - f[:, :12].max(axis=1, keepdims=True), 0.0)
    error = np.hypot(gain.std(axis=0) / np.sqrt(200_000), np.std(each, axis=0) / 64)
    assert np.all(np.abs(found - gain.mean(axis=0)) <= 4.5 * error + 1e-9)
    assert np.sum(gain.mean(axis=0) > 1e-3) >= 2
    # The best observation, taken at its word, is another threshold.
    naive = np.maximum(f[:, 12:] - Y.max(), 0.0).mean(axis=0)
    assert np.any(np.abs(naive - gain.mean(axis=0)) > 10 * error + 1e-9)


def test_base_samples_begin_alike_and_are_normal():
    few, more = base_samples(256, 2, 7), base_samples(256, 5, 7)
    assert np.array_equal(few, more[:, :2])
    assert np.all(np.abs(more.mean(axis=0)) < 0.05)
    assert np.all(np.abs(np.cov(more.T) - np.eye(5)) < 0.2)
    assert not np.array_equal(base_samples(256, 2, 8), few)


def test_calls_at_one_point_count_once(posterior):
    best = np.asarray(0.7)
    once = LogExpectedImprovement(posterior, best).after(RUNNING)
    twice = once.after(RUNNING[:1])
    found = values(twice, XS[:, None, :])
    np.testing.assert_allclose(found, values(once, XS[:, None, :]), atol=1e-3)


def test_misuse_is_an_error(posterior, fantasies):
    with pytest.raises(ll.InvalidData, match="2 columns"):
        fantasize(posterior, np.zeros((2, 3)))
    with pytest.raises(ll.InvalidData, match="must be finite"):
        fantasies.after(np.full((1, 2), np.nan))
    with pytest.raises(ll.InvalidData, match="two dimensions"):
        fantasies.after(np.zeros(2))
    for draw in (fantasize, fantasize_incumbent):
        with pytest.raises(ll.InvalidData, match="At least 1 fantasy"):
            draw(posterior, RUNNING, 0)
        with pytest.raises(ll.Unsupported, match="exact Gaussian process, got MixturePosterior"):
            draw(mixture([posterior, posterior]), RUNNING)
