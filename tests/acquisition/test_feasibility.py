"""Acquisitions weighted by the probability that all constraint values are at most 0."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

import leadline as ll
from leadline.acquisition import (
    ExpectedImprovement,
    LogExpectedImprovement,
    LogProbabilityOfImprovement,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
    maximize,
)
from leadline.acquisition._feasibility import (
    Feasible,
    LogFeasible,
    LogProbabilityAllowed,
    feasible,
    log_ndtr,
)
from leadline.models import mixture

BEST = np.asarray(0.2)
POINTS = np.random.default_rng(1).random((5, 2))
RUNNING = np.array([[0.55, 0.4], [0.1, 0.9]])
DRAWS = 200_000


def process(values, noise=1e-3, n=12):
    x = np.random.default_rng(0).random((n, 2))
    return ll.GP(1.0 * ll.kernels.Matern52([0.5, 0.5]), noise=noise).condition(x, values(x))


@pytest.fixture(scope="module")
def objective():
    return process(lambda x: np.sin(6 * x[:, 0]) * x[:, 1], noise=0.05)


@pytest.fixture(scope="module")
def constraints():
    """The first allows a left part, the second an upper part; both with doubt."""
    return (
        process(lambda x: x[:, 0] - 0.6, noise=0.05),
        process(lambda x: 0.4 - x[:, 1], noise=0.02),
    )


@eqx.filter_jit
def values(acquisition, x):
    return acquisition.values(x)


@eqx.filter_jit
def gradients(acquisition, x):
    return jax.grad(lambda x: jnp.sum(acquisition.values(x)))(x)


def draws(posterior, rng, x=POINTS):
    marginal = posterior.predict(x)
    return np.asarray(marginal.mean) + np.asarray(marginal.std) * rng.normal(size=(DRAWS, len(x)))


def monte_carlo(samples):
    return samples.mean(axis=0), samples.std(axis=0) / np.sqrt(len(samples))


def test_it_is_the_mean_of_what_allowed_calls_improve(objective, constraints):
    rng = np.random.default_rng(2)
    gain = np.maximum(draws(objective, rng) - BEST, 0.0)
    allowed = [draws(posterior, rng) <= 0.0 for posterior in constraints]
    mean, error = monte_carlo(gain * allowed[0] * allowed[1])
    closed = values(Feasible(ExpectedImprovement(objective, BEST), constraints), POINTS[:, None])
    assert np.all(np.abs(mean - closed) < 4 * error)
    # The negative control: whoever forgets a constraint expects too much.
    mean, error = monte_carlo(gain * allowed[0])
    assert np.any(np.abs(mean - closed) > 40 * error)


def test_the_probability_alone_is_how_often_all_constraints_allow(constraints):
    rng = np.random.default_rng(3)
    allowed = [draws(posterior, rng) <= 0.0 for posterior in constraints]
    mean, error = monte_carlo(1.0 * (allowed[0] & allowed[1]))
    closed = np.exp(values(feasible(None, constraints), POINTS[:, None]))
    assert np.all(np.abs(mean - closed) < 4 * error)


@pytest.mark.parametrize(
    ("plain", "logarithm"),
    [
        (ExpectedImprovement, LogExpectedImprovement),
        (ProbabilityOfImprovement, LogProbabilityOfImprovement),
    ],
)
def test_the_logarithm_of_the_product_is_the_sum(objective, constraints, plain, logarithm):
    product = feasible(plain(objective, BEST), constraints)
    total = feasible(logarithm(objective, BEST), constraints)
    assert (type(product), type(total)) == (Feasible, LogFeasible)
    assert (product.logarithmic, total.logarithmic) == (False, True)
    worth = values(product, POINTS[:, None])
    np.testing.assert_allclose(values(total, POINTS[:, None]), np.log(worth), rtol=1e-9, atol=1e-9)


def test_their_gradients_agree(objective, constraints):
    x = POINTS[:, None]
    product = Feasible(ExpectedImprovement(objective, BEST), constraints)
    total = LogFeasible(LogExpectedImprovement(objective, BEST), constraints)
    slopes = gradients(product, x) / np.asarray(values(product, x))[:, None, None]
    np.testing.assert_allclose(gradients(total, x), slopes, rtol=1e-7, atol=1e-9)


Z = np.array([40.0, 6.0, 1.0, 0.0, -1.0, -19.0, -21.0, -1e3, -1e6, -1e8, -1e12, -1e100])


def test_the_logarithm_of_phi_and_its_slope_are_exact_in_the_tail():
    exact = scipy.special.log_ndtr(Z)
    np.testing.assert_allclose(log_ndtr(jnp.asarray(Z)), exact, rtol=1e-9, atol=1e-15)
    # The slope is phi / Phi, the inverse of Mills' ratio.
    exact = np.sqrt(2 / np.pi) / scipy.special.erfcx(-Z / np.sqrt(2))
    np.testing.assert_allclose(jax.vmap(jax.grad(log_ndtr))(jnp.asarray(Z)), exact, rtol=1e-12)
    # The negative control: of JAX's own slope no digit is left so far out.
    theirs = jax.grad(jax.scipy.special.log_ndtr)(-1e12)
    assert abs(theirs / 1e12 - 1.0) > 0.5


def test_far_from_allowed_points_there_is_still_a_direction(objective):
    """Constraints far above 0, which fall with the first input."""
    sure = 2 * (process(lambda x: 1e3 * (2.0 - x[:, 0]), noise=1e-6),)
    x = POINTS[:, None]
    product = Feasible(ExpectedImprovement(objective, BEST), sure)
    assert np.all(values(product, x) == 0.0)
    assert np.all(gradients(product, x) == 0.0)
    for far in (LogFeasible(LogExpectedImprovement(objective, BEST), sure), feasible(None, sure)):
        assert np.all(np.isfinite(values(far, x)))
        assert np.all(values(far, x) < -1e3)
        assert np.all(np.isfinite(gradients(far, x)))
        assert np.all(np.any(gradients(far, x) != 0.0, axis=(1, 2)))


def test_without_any_doubt_values_and_gradients_are_numbers():
    known = 2 * (process(lambda x: 1e80 * (x[:, 0] + 1.0), noise=0.0),)
    x = np.asarray(known[0].rows.x)[:5, None]
    assert np.all(np.isfinite(values(feasible(None, known), x)))
    assert np.all(np.isfinite(gradients(feasible(None, known), x)))


def test_running_calls_are_the_acquisitions(objective, constraints):
    x, inner = POINTS[:, None], LogExpectedImprovement(objective, BEST)
    beside = LogFeasible(inner, constraints).after(RUNNING, n=32, seed=3)
    alone = values(inner.after(RUNNING, n=32, seed=3), x)
    allowed = values(LogProbabilityAllowed(constraints), x)
    np.testing.assert_allclose(values(beside, x), alone + allowed, rtol=1e-12)
    assert np.any(np.abs(alone - values(inner, x)) > 0.01)


def joint_draws(posterior, rng):
    """At the running calls, then at the points; (draws, running), (draws, points)."""
    rows = np.concatenate([RUNNING, POINTS])
    joint = posterior.joint(rows)
    drawn = rng.multivariate_normal(
        np.asarray(joint.mean), np.asarray(joint.cov), size=DRAWS, method="eigh"
    )
    return drawn[:, : len(RUNNING)], drawn[:, len(RUNNING) :]


def test_the_probability_beside_running_calls_is_of_the_first_allowed_point(constraints):
    rng = np.random.default_rng(4)
    pairs = [joint_draws(posterior, rng) for posterior in constraints]
    running = np.all([there <= 0.0 for there, _ in pairs], axis=0)
    allowed = np.all([here <= 0.0 for _, here in pairs], axis=0)
    mean, error = monte_carlo(1.0 * (allowed & ~running.any(axis=1)[:, None]))
    n = 4096
    beside = LogProbabilityAllowed(constraints).after(RUNNING, n=n)
    closed = np.exp(values(beside, POINTS[:, None]))
    # Our fantasies have an error of their own, at most that of as many independent ones.
    own = np.sqrt(mean * (1.0 - mean) / n)
    assert np.all(np.abs(mean - closed) < 4 * np.hypot(error, own))
    # The negative control: with one order of draws for all, constraints would not be independent.
    together = beside.fantasies[0], _in_order_of(beside.fantasies[0], beside.fantasies[1])
    wrong = np.exp(values(LogProbabilityAllowed(constraints, fantasies=together), POINTS[:, None]))
    assert np.any(np.abs(mean - wrong) > 5 * np.hypot(error, own))


def _in_order_of(first, second):
    """The second's fantasies, from the lowest first outcome to the highest as in the first's."""
    column = int(np.flatnonzero(np.asarray(first.drawn))[0])
    ranks = np.argsort(np.argsort(np.asarray(first.outcomes)[:, column]))
    order = np.argsort(np.asarray(second.outcomes)[:, column])[ranks]
    return eqx.tree_at(
        lambda f: (f.weights, f.outcomes),
        second,
        (second.weights[:, order], second.outcomes[order]),
    )


def test_running_calls_one_after_the_other_or_together(constraints):
    alone = LogProbabilityAllowed(constraints)
    together = values(alone.after(RUNNING), POINTS[:, None])
    in_turn = alone.after(RUNNING[:1]).after(RUNNING[1:])
    np.testing.assert_allclose(values(in_turn, POINTS[:, None]), together, rtol=1e-9)
    # A call is worth least beside one that would have told the same.
    beside = RUNNING[:1, None] + 1e-3
    fall = values(alone, beside) - values(alone.after(RUNNING[:1]), beside)
    away = values(alone, POINTS[:, None]) - values(alone.after(RUNNING[:1]), POINTS[:, None])
    assert fall[0] > np.max(away)


def test_where_a_running_call_is_surely_allowed_values_are_still_numbers():
    sure = (process(lambda x: -5.0 + x[:, 0], noise=1e-6),)
    alone = LogProbabilityAllowed(sure)
    x = POINTS[:, None]
    np.testing.assert_allclose(values(alone.after(RUNNING), x), values(alone, x), atol=1e-6)


def test_the_search_stays_where_points_are_allowed():
    """The objective rises to the right, where the constraint does not allow anything."""
    rising = process(lambda x: x[:, 0] + 0.1 * x[:, 1], n=32)
    limit = (process(lambda x: x[:, 0] - 0.5, n=32),)
    space, key = ll.Space([(0.0, 1.0)] * 2), jax.random.key(0)
    inner = LogExpectedImprovement(rising, np.asarray(0.4))
    nothing = np.zeros((0, 2))
    found = maximize(LogFeasible(inner, limit), space, key, close_to=nothing, avoid=nothing)
    assert 0.3 < found.row[0] < 0.55
    unaware = maximize(inner, space, key, close_to=nothing, avoid=nothing)
    assert unaware.row[0] > 0.9


def test_what_cannot_be_weighted(objective, constraints):
    bound = UpperConfidenceBound(objective, np.asarray(4.0))
    names = "ExpectedImprovement and ProbabilityOfImprovement.*got UpperConfidenceBound"
    with pytest.raises(ll.Unsupported, match=names):
        feasible(bound, constraints)
    with pytest.raises(ll.Unsupported, match=r"LogFeasible.*got LogExpectedImprovement"):
        Feasible(LogExpectedImprovement(objective, BEST), constraints)
    with pytest.raises(ll.Unsupported, match=r"logarithmic acquisitions.*got ExpectedImprovement"):
        LogFeasible(ExpectedImprovement(objective, BEST), constraints)
    with pytest.raises(ll.InvalidData, match="at least one constraint"):
        feasible(None, ())
    several = mixture([objective, objective], [0.5, 0.5])
    with pytest.raises(ll.Unsupported, match="no normal marginals"):
        feasible(None, (several,))
    for acquisition in (
        feasible(None, constraints),
        feasible(ExpectedImprovement(objective, BEST), constraints),
    ):
        with pytest.raises(ll.InvalidData, match="one point at a time"):
            acquisition.values(np.zeros((3, 2, 2)))
