import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.acquisition import (
    ExpectedImprovement,
    ExpectedMaximum,
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
)
from leadline.acquisition._fantasies import fantasize
from leadline.acquisition._utilities import Confidence, Exceedance, Highest, Improvement
from leadline.models import Titsias, mixture
from leadline.numerics import quick_jit

RNG = np.random.default_rng(0)
X = RNG.random((12, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1]
RUNNING = np.array([[0.3, 0.9], [0.45, 0.6], [0.9, 0.95]])
POINT = np.array([0.25, 0.65])
ROWS = np.concatenate([RUNNING, POINT[None]])
BETA = np.asarray(2.0)


def _values_and_gradients(acquisition, x):
    found, back = jax.vjp(acquisition.values, x)
    return found, back(jnp.ones_like(found))[0]


values_and_gradients = quick_jit(_values_and_gradients)


def every(posterior, best, fantasies=None):
    """One of each kind."""
    with_best = (
        ExpectedImprovement,
        ProbabilityOfImprovement,
        LogExpectedImprovement,
        LogProbabilityOfImprovement,
    )
    found = {kind.__name__: kind(posterior, best, fantasies=fantasies) for kind in with_best}
    found["UpperConfidenceBound"] = UpperConfidenceBound(posterior, BETA, fantasies=fantasies)
    found["ExpectedMaximum"] = ExpectedMaximum(posterior, fantasies=fantasies)
    return found


@quick_jit
def values_of_all(posterior, best, fantasies, x):
    return {k: a.values(x) for k, a in every(posterior, best, fantasies).items()}


@quick_jit
def gradients_of_all(posterior, best, fantasies, x):
    found = every(posterior, best, fantasies)
    return {k: _values_and_gradients(a, x) for k, a in found.items()}


@quick_jit
def gains_of_each(fantasies, best, xs):
    """What each fantasy says, (s, m), by the name of the acquisition."""
    utilities = {
        "ExpectedImprovement": Improvement(best),
        "ProbabilityOfImprovement": Exceedance(best),
        "UpperConfidenceBound": Confidence(BETA),
        "ExpectedMaximum": Highest(),
    }
    moments = fantasies.moments(xs)
    return {k: u.gain(*moments, fantasies.reached(u)[:, None]) for k, u in utilities.items()}


def worths(name, y, mean, best):
    """What each of the values (n, m) is worth, and what is reached before."""
    if name == "UpperConfidenceBound":
        return mean + np.sqrt(0.5 * np.pi * BETA) * np.abs(y - mean), -np.inf
    return {
        "ExpectedImprovement": (y, best),
        "ProbabilityOfImprovement": ((y > best).astype(float), 0.0),
        "ExpectedMaximum": (y, -np.inf),
    }[name]


def drawn_values(posterior, rows, n, seed=1):
    law = posterior.joint(rows)
    root = np.linalg.cholesky(law.cov)
    z = np.random.default_rng(seed).normal(size=(n, len(rows)))
    return law.mean + z @ root.T, law.mean


@pytest.fixture(scope="module")
def posterior():
    gp = ll.GP(1.3 * ll.kernels.Matern52([0.4, 0.7]), mean=0.2, noise=1e-3)
    return gp.condition(X, Y)


@pytest.fixture(scope="module")
def unlikely(posterior):
    """A threshold that the point passes with a probability of about 0.002."""
    marginal = posterior.predict(POINT[None])
    return np.asarray(marginal.mean[0] + 2.9 * marginal.std[0])


def test_gains_are_unbiased_and_vary_less(posterior, unlikely):
    """The mean is that of naive draws of all values together, and the variance is smaller.

    Check: wilson S6.1
    Check: wilson S6.2
    """
    running = RUNNING[:2]
    fantasies = fantasize(posterior, running, 4000)
    found = gains_of_each(fantasies, unlikely, jnp.asarray(POINT[None]))
    y, mean = drawn_values(posterior, np.concatenate([running, POINT[None]]), 2_000_000)
    assert np.mean(y[:, 2] > unlikely) < 0.01
    for name, gains in found.items():
        worth, start = worths(name, y, mean, float(unlikely))
        reached = np.maximum(worth[:, :2].max(axis=1), start)
        naive = np.maximum(worth[:, 2] - reached, 0.0)
        error = np.hypot(naive.std() / np.sqrt(len(naive)), np.std(gains) / np.sqrt(4000))
        assert abs(np.mean(gains) - naive.mean()) < 4 * error, name
        assert np.var(gains) <= naive.var(), name
        if name in ("ExpectedImprovement", "ProbabilityOfImprovement"):
            assert naive.var() > 10 * np.var(gains), name


def test_gains_in_turn_add_up_to_the_worth_of_all(posterior):
    """The sum of what each call adds to those before it, against draws of all together.

    Check: wilson S6.5
    """
    best = np.asarray(1.2)
    alone = values_of_all(posterior, best, None, jnp.asarray(ROWS)[:, None])
    fantasies = fantasize(posterior, ROWS[:1], 4000)
    stages = []
    for i in (1, 2, 3):
        stages.append(gains_of_each(fantasies, best, jnp.asarray(ROWS[i : i + 1])))
        fantasies = fantasies.after(ROWS[i : i + 1])
    y, mean = drawn_values(posterior, ROWS, 1_000_000)
    for name in stages[0]:
        total = alone[name][0] + sum(np.mean(gains[name]) for gains in stages)
        variance = sum(np.var(gains[name]) / 4000 for gains in stages)
        worth, start = worths(name, y, mean, float(best))
        naive = np.maximum(worth.max(axis=1), start) - (start if np.isfinite(start) else 0.0)
        assert abs(total - naive.mean()) < 4 * np.sqrt(variance + naive.var() / len(naive)), name
        if name in ("ExpectedImprovement", "ProbabilityOfImprovement"):
            # Each for itself would count twice what they share.
            assert np.sum(alone[name]) > 1.05 * total, name


def test_beside_no_calls_gains_are_the_closed_form(posterior):
    """Check: wilson S6.3"""
    x, best = jnp.asarray(ROWS)[:, None, :], np.asarray(1.2)
    alone = values_of_all(posterior, best, None, x)
    beside_none = values_of_all(posterior, best, fantasize(posterior, np.zeros((0, 2))), x)
    for name, closed in alone.items():
        np.testing.assert_allclose(beside_none[name], closed, rtol=1e-8, atol=1e-12)
    marginal = posterior.predict(ROWS)
    bound = marginal.mean + np.sqrt(2.0) * marginal.std
    np.testing.assert_allclose(alone["UpperConfidenceBound"], bound, rtol=1e-11)
    np.testing.assert_allclose(alone["ExpectedMaximum"], marginal.mean, rtol=1e-11)


def test_values_are_the_means_of_gains_and_logarithms_of_the_same(posterior):
    fantasies, best = fantasize(posterior, RUNNING[:2] + 0.1), np.asarray(1.2)
    found = values_of_all(posterior, best, fantasies, jnp.asarray(ROWS)[:, None, :])
    for name, gains in gains_of_each(fantasies, best, jnp.asarray(ROWS)).items():
        np.testing.assert_allclose(found[name], np.mean(gains, axis=0), rtol=1e-11)
    for name in ("ExpectedImprovement", "ProbabilityOfImprovement"):
        np.testing.assert_allclose(found["Log" + name], np.log(found[name]), rtol=1e-9)
    kinds = {name: type(a) for name, a in every(posterior, best).items()}
    assert {name for name, kind in kinds.items() if kind.logarithmic} == {
        "LogExpectedImprovement",
        "LogProbabilityOfImprovement",
    }
    assert all(kind.submodular and kind.traceable for kind in kinds.values())


def test_nothing_is_left_where_every_fantasy_has_improved(posterior):
    """Then the probability is 0 exactly; its logarithm still has a finite slope.

    Check: wilson S6.3
    """
    x, low = jnp.asarray(ROWS)[:, None, :], np.asarray(-20.0)
    fantasies = fantasize(posterior, RUNNING)
    gone = values_of_all(posterior, low, fantasies, x)
    assert np.all(np.asarray(gone["ProbabilityOfImprovement"]) == 0.0)
    logarithm = LogProbabilityOfImprovement(posterior, low, fantasies=fantasies)
    value, gradient = values_and_gradients(logarithm, x)
    assert np.all(value < -600)
    assert np.all(np.isfinite(gradient))


def test_branches_of_the_confidence_bound_meet():
    """Where the others' bound is at the mean, and where nothing is left to doubt.

    Check: wilson S6.4
    """
    c = np.sqrt(0.5 * np.pi * 2.0)
    shift, std = np.array([0.3, -0.7, 0.0]), np.array([0.5, 0.2, 1.3])

    @quick_jit
    def gain(std, reached):
        return Confidence(BETA).gain(0.4 + shift, std, 0.4, reached)

    # The slope in `reached` is at most 1, so a step of 1e-12 is a jump if anything above shows.
    above, at, below = (np.asarray(gain(std, np.asarray(0.4 + s))) for s in (1e-12, 0.0, -1e-12))
    assert np.max(np.abs(above - below)) < 1e-9
    assert np.max(np.abs(above - at)) < 1e-9
    for reached in (0.1, 0.6, 1.1):
        certain = gain(np.full(3, 1e-12), np.asarray(reached))
        expected = np.maximum(0.4 + c * np.abs(shift) - reached, 0.0)
        np.testing.assert_allclose(certain, expected, atol=1e-10)


def test_gradients_are_right_and_not_zero_where_naive_ones_are(posterior, unlikely):
    """Against central differences, at a point where no sample of 64 improves.

    Check: wilson S6.6
    """
    hopeless = np.asarray(float(unlikely) + 0.3)
    acquisition = ExpectedImprovement(posterior, hopeless).after(RUNNING[:2])
    x = jnp.asarray(POINT)[None, None]
    _, gradient = values_and_gradients(acquisition, x)
    step = 1e-5
    for column in range(2):
        moved = jnp.zeros((1, 1, 2)).at[..., column].set(step)
        up, down = (values_and_gradients(acquisition, x + sign * moved)[0] for sign in (1, -1))
        np.testing.assert_allclose(gradient[0, 0, column], (up - down)[0] / (2 * step), rtol=1e-6)
    assert np.all(np.abs(gradient) > 1e-8)

    z = jnp.asarray(np.random.default_rng(2).normal(size=64))

    def naive(row):
        mean, std, _ = acquisition.fantasies.moments(row[None])
        reached = acquisition.fantasies.reached(acquisition.utility)
        return jnp.mean(jnp.maximum(mean[:, 0] + std[0] * z - reached, 0.0))

    assert np.all(np.asarray(jax.jit(jax.grad(naive))(x[0, 0])) == 0.0)


def undoubted(scale):
    """A posterior of data without noise, and the best of them."""
    gp = ll.GP(scale**2 * ll.kernels.Matern52([0.4, 0.7]), noise=0.0)
    return gp.condition(X, scale * Y), np.asarray(scale * Y.max())


def test_gradients_are_finite_at_a_call_and_at_data():
    """For values of any size."""
    x = jnp.asarray(np.stack([RUNNING[0], RUNNING[1] + 1e-9, X[0], X[3] + 1e-8]))[:, None, :]
    for scale in (1.0, 1e6):
        post, best = undoubted(scale)
        acquisition = LogExpectedImprovement(post, best)
        for each in (acquisition, acquisition.after(RUNNING)):
            assert all(np.all(np.isfinite(a)) for a in values_and_gradients(each, x))


@pytest.mark.slow
def test_gradients_are_finite_at_all_calls_and_data():
    """For every kind."""
    near = [RUNNING, RUNNING + 1e-9, RUNNING + 1e-6, X, X + 1e-8, POINT[None]]
    x = jnp.asarray(np.concatenate(near))[:, None, :]
    for scale in (1.0, 1e6):
        post, best = undoubted(scale)
        for fantasies in (None, fantasize(post, RUNNING)):
            for name, found in gradients_of_all(post, best, fantasies, x).items():
                assert all(np.all(np.isfinite(a)) for a in found), name
        noisy = LogExpectedImprovement.noisy(post).after(RUNNING)
        assert all(np.all(np.isfinite(a)) for a in values_and_gradients(noisy, x))


def test_a_running_call_leaves_little_to_gain_beside_it(posterior):
    """At the call itself nothing; far away, where it says nothing, almost all."""
    best = np.asarray(Y.max())
    x = jnp.asarray(np.resize(np.stack([POINT, [0.95, 0.05]]), (4, 2)))[:, None, :]
    beside = values_of_all(posterior, best, fantasize(posterior, POINT[None]), x)
    alone = values_of_all(posterior, best, None, x)
    before, after = alone["ExpectedImprovement"], beside["ExpectedImprovement"]
    assert after[0] < 1e-5 * before[0]
    np.testing.assert_allclose(after[1], before[1], rtol=0.05, atol=1e-9)


def test_misuse_is_an_error(posterior):
    acquisition = ExpectedImprovement(posterior, np.asarray(0.0))
    for each in (acquisition, acquisition.after(RUNNING)):
        with pytest.raises(ll.InvalidData, match="one point at a time"):
            each.values(jnp.zeros((4, 2, 2)))
    with pytest.raises(ll.InvalidData, match="2 columns"):
        acquisition.after(np.zeros((1, 3)))
    with pytest.raises(ll.InvalidData, match="At least 1 fantasy"):
        acquisition.after(RUNNING, 0)
    for beta in (0.0, -1.0, np.nan):
        with pytest.raises(ll.InvalidData, match="beta must be positive"):
            UpperConfidenceBound(posterior, np.asarray(beta))
    with pytest.raises(ll.Unsupported, match="no normal marginals"):
        ExpectedMaximum(mixture([posterior, posterior]))
    titsias = Titsias(posterior.gp.kernel, X[:6], noise=1e-3).condition(X, Y)
    with pytest.raises(ll.Unsupported, match="exact Gaussian process, got TitsiasPosterior"):
        ExpectedMaximum(titsias).after(RUNNING)
