"""Calls made together: against closed forms, quadrature, and one estimate against the other."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

import leadline as ll
from leadline.acquisition import (
    Acquisition,
    ExpectedImprovement,
    ExpectedMaximum,
    ProbabilityOfImprovement,
    UpperConfidenceBound,
    base_samples,
)
from leadline.acquisition import _monte_carlo as module
from leadline.acquisition._monte_carlo import LogMonteCarlo, MonteCarlo, added_worth
from leadline.acquisition._pairs import expected_maximum_of_two
from leadline.acquisition._utilities import (
    Confidence,
    Exceedance,
    Highest,
    Improvement,
    SmoothExceedance,
)
from leadline.models import mixture
from leadline.numerics import quick_jit, small_cholesky

RNG = np.random.default_rng(0)
X = RNG.random((8, 2))
Y = np.sin(6 * X[:, 0]) + X[:, 1]
GP = ll.GP(1.1 * ll.kernels.Matern52([0.4, 0.6]), noise=1e-3)
POSTERIOR = GP.condition(X, Y)
BEST = 1.1
UTILITIES = {
    "improvement": Improvement(np.asarray(BEST)),
    "highest": Highest(),
    "confidence": Confidence(np.asarray(2.0)),
    "exceedance": Exceedance(np.asarray(BEST)),
}
CLOSED = {
    "improvement": ExpectedImprovement(POSTERIOR, np.asarray(BEST)),
    "highest": ExpectedMaximum(POSTERIOR),
    "confidence": UpperConfidenceBound(POSTERIOR, np.asarray(2.0)),
    "exceedance": ProbabilityOfImprovement(POSTERIOR, np.asarray(BEST)),
}
M = 2**16
BASE = np.random.default_rng(1).normal(size=(M, 4))
SETS = np.random.default_rng(2).random((4, 3, 2))
RUNNING = np.array([[0.3, 0.9], [0.25, 0.7]])


@quick_jit
def values(acquisitions, x):
    """Those of one acquisition, or of each in a dictionary: one program for all of them."""
    return jax.tree.map(
        lambda one: one.values(x), acquisitions, is_leaf=lambda one: isinstance(one, Acquisition)
    )


@quick_jit
def draws(posterior, x, base, running, rao_blackwell):
    """The estimate of each draw alone, (m, b), for every utility."""

    def one(z):
        return {
            name: MonteCarlo(posterior, utility, z[None], running, rao_blackwell).values(x)
            for name, utility in UTILITIES.items()
        }

    return jax.vmap(one)(base)


def naive(x, running=None, base=BASE):
    return jax.device_get(draws(POSTERIOR, jnp.asarray(x), base, running, False))


def rao_blackwell(x, running=None, base=BASE):
    return jax.device_get(draws(POSTERIOR, jnp.asarray(x), base, running, True))


@pytest.fixture(scope="module")
def of_sets():
    return naive(SETS), rao_blackwell(SETS)


def error(samples):
    return samples.std(axis=0) / np.sqrt(len(samples))


def assert_same_mean(a, b):
    """Within 4 standard errors of the difference."""
    both = np.hypot(error(a), error(b))
    assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) <= 4.0 * both + 1e-12)


@pytest.fixture(scope="module")
def of_points():
    """Closed forms of one point, and what the Rao-Blackwellized form makes of it."""
    ours = {n: MonteCarlo(POSTERIOR, u, BASE[:64]) for n, u in UTILITIES.items()}
    return jax.device_get(values((CLOSED, ours), jnp.asarray(SETS[:, :1])))


def pair_improvement(mean, cov, best):
    """The expected improvement of two values: that of one, and of the other given it.

    By quadrature over the first, on both sides of where it starts to count.
    """
    nodes, weights = np.polynomial.legendre.leggauss(200)
    std = np.sqrt(cov[0, 0])
    ends = np.array([-9.0, np.clip((best - mean[0]) / std, -9.0, 9.0), 9.0])
    slope = cov[0, 1] / cov[0, 0]
    rest = np.sqrt(cov[1, 1] - slope * cov[0, 1])

    def excess(m, s, t):
        u = (m - t) / s
        return s * (norm.pdf(u) + u * norm.cdf(u))

    total = excess(mean[0], std, best)
    for low, high in itertools.pairwise(ends):
        u = low + (high - low) * 0.5 * (nodes + 1.0)
        gain = excess(mean[1] + slope * std * u, rest, np.maximum(best, mean[0] + std * u))
        total += np.sum(weights * norm.pdf(u) * gain) * 0.5 * (high - low)
    return total


class TestOnePoint:
    def test_draws_agree_with_closed_forms(self, of_points):
        """Within 4 standard errors.

        Check: wilson S2.1
        """
        for name, samples in naive(SETS[:, :1]).items():
            off = np.abs(samples.mean(axis=0) - of_points[0][name])
            assert np.all(off <= 4.0 * error(samples))

    def test_the_confidence_bound_is_the_mean_and_some_deviations(self, of_points):
        """Check: wilson S2.1"""
        marginal = POSTERIOR.predict(SETS[:, 0])
        wanted = marginal.mean + np.sqrt(2.0) * marginal.std
        np.testing.assert_allclose(of_points[0]["confidence"], wanted, rtol=1e-12)

    def test_the_rao_blackwellized_form_is_the_closed_form(self, of_points):
        closed, ours = of_points
        for name in UTILITIES:
            np.testing.assert_allclose(ours[name], closed[name], rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize(
        "names",
        [
            ("improvement", "confidence"),
            pytest.param(("highest", "exceedance"), marks=pytest.mark.slow),
        ],
    )
    def test_beside_running_calls_it_is_the_gain_in_closed_form(self, names):
        """With the same draws of their outcomes, which `after` of the closed forms takes too."""
        base = base_samples(64, 3, 3)
        beside = {n: CLOSED[n].after(RUNNING, n=64, seed=3) for n in names}
        ours = {n: MonteCarlo(POSTERIOR, UTILITIES[n], base, RUNNING) for n in names}
        wanted, found = jax.device_get(values((beside, ours), jnp.asarray(SETS[:, :1])))
        for name in names:
            np.testing.assert_allclose(found[name], wanted[name], atol=1e-9)


class TestTwoPoints:
    def test_the_highest_of_two_by_clark(self):
        """Draws within 4 standard errors of the exact value.

        Check: wilson S2.2
        """
        samples = naive(SETS[:, :2])["highest"]
        joints = [POSTERIOR.joint(x) for x in SETS[:, :2]]
        wanted = expected_maximum_of_two(
            np.stack([j.mean for j in joints]), np.stack([j.cov for j in joints])
        )
        assert np.all(np.abs(samples.mean(axis=0) - wanted) <= 4.0 * error(samples))

    @pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.5, 0.99])
    def test_clark_against_quadrature_in_two_dimensions(self, correlation):
        """Over the second value on both sides of the first, then over the first.

        Check: wilson S2.2
        """
        mean, std = np.array([0.3, -0.2]), np.array([0.7, 1.3])
        cov = np.outer(std, std) * np.array([[1.0, correlation], [correlation, 1.0]])
        nodes, weights = np.polynomial.legendre.leggauss(400)
        first = mean[0] + 10.0 * std[0] * nodes
        center = mean[1] + cov[0, 1] / cov[0, 0] * (first - mean[0])
        rest = std[1] * np.sqrt(1.0 - correlation**2)
        kink = np.clip((first - center) / rest, -10.0, 10.0)
        inner = np.zeros_like(first)
        for low, high in ((-10.0, kink), (kink, 10.0)):
            half = 0.5 * (high - low)
            u = low + half * (nodes[:, None] + 1.0)
            best = np.maximum(first, center + rest * u)
            inner += half * np.sum(weights[:, None] * norm.pdf(u) * best, axis=0)
        wanted = np.sum(weights * 10.0 * norm.pdf(10.0 * nodes) * inner)
        assert abs(float(expected_maximum_of_two(mean, cov)) - wanted) < 1e-10

    def test_clark_without_doubt_is_the_larger_mean(self):
        mean, cov = jnp.array([0.4, 1.5]), jnp.full((2, 2), 0.3)  # the same but for a constant
        assert float(expected_maximum_of_two(mean, cov)) == 1.5
        gradient = jax.grad(expected_maximum_of_two, argnums=(0, 1))(mean, cov)
        assert all(np.all(np.isfinite(part)) for part in gradient)
        np.testing.assert_array_equal(gradient[0], [0.0, 1.0])

    def test_improvement_of_two_by_quadrature(self):
        """Within 4 standard errors.

        Check: wilson S2.3
        """
        samples = naive(SETS[:, :2])["improvement"]
        for b, x in enumerate(SETS[:, :2]):
            joint = POSTERIOR.joint(x)
            wanted = pair_improvement(np.asarray(joint.mean), np.asarray(joint.cov), BEST)
            assert abs(samples[:, b].mean() - wanted) <= 4.0 * error(samples)[b]

    def test_a_transposed_factor_draws_from_another_law(self, monkeypatch):
        """Negative control of the one above: by hand and in the program, many errors away."""
        x = np.array([[[0.11, 0.41], [0.11, 0.56]]])
        joint = POSTERIOR.joint(x[0])
        mean, cov = np.asarray(joint.mean), np.asarray(joint.cov)
        wanted = pair_improvement(mean, cov, BEST)
        factor = np.linalg.cholesky(cov)
        for a, right in ((factor, True), (factor.T, False)):
            gains = np.maximum(np.max(mean + BASE[:, :2] @ a.T, axis=1) - BEST, 0.0)
            off = abs(gains.mean() - wanted) / error(gains)
            assert off <= 4.0 if right else off > 10.0

        def program():
            acquisition = MonteCarlo(POSTERIOR, UTILITIES["improvement"], BASE)
            return float(jax.jit(lambda x: acquisition.values(x))(jnp.asarray(x))[0])

        def transposed(a, variances):
            return jnp.swapaxes(small_cholesky(a, variances), 1, 2)

        assert abs(program() - wanted) < 0.01 * wanted
        monkeypatch.setattr(module, "small_cholesky", transposed)
        assert abs(program() - wanted) > 0.1 * wanted

    def test_the_highest_beside_the_best_call_is_its_value_and_an_improvement(self):
        """Without noise the best call has no doubt left, so that EMAX of both is best + EI.

        Check: wilson S2.4
        """
        posterior = ll.GP(GP.kernel, noise=0.0).condition(X, Y)
        best = Y.max()
        x = jnp.asarray(SETS[:, :1])
        both = jnp.concatenate([jnp.broadcast_to(X[np.argmax(Y)], (4, 1, 2)), x], axis=1)
        base, improvement = base_samples(256, 2, 0), Improvement(np.asarray(best))
        # The point has the same draws in both: it is the second column.
        alone = [MonteCarlo(posterior, improvement, base[:, 1:], None, f) for f in (True, False)]
        beside = [MonteCarlo(posterior, Highest(), base, None, f) for f in (True, False)]
        for found, wanted in zip(values(beside, both), values(alone, x), strict=True):
            np.testing.assert_allclose(found, best + wanted, rtol=0, atol=1e-6)


class TestSets:
    def test_both_forms_have_the_same_mean(self, of_sets):
        """Within 4 standard errors for each utility, and closed forms vary less."""
        plain, closed = of_sets
        for name in UTILITIES:
            assert_same_mean(plain[name], closed[name])
            assert np.all(closed[name].var(axis=0) <= plain[name].var(axis=0))

    def test_the_order_of_points_is_of_no_account(self, of_sets):
        """Draws differ, their mean does not.

        Check: wilson S2.5
        """
        turned = naive(SETS[:, [2, 0, 1]])
        for name in UTILITIES:
            assert_same_mean(of_sets[0][name], turned[name])
        assert np.any(of_sets[0]["highest"] != turned["highest"])

    def test_one_more_point_never_makes_a_set_worse(self, of_sets):
        """In each draw, because those of the points before stay as they are.

        Check: wilson S2.6
        Check: wilson S5.2
        """
        fewer = naive(SETS[:, :2])
        for name in UTILITIES:
            # The sums of products behind the draws may differ in their last digits.
            assert np.all(of_sets[0][name] >= fewer[name] - 1e-14)
            assert np.any(of_sets[0][name] > fewer[name] + 1e-3)

    @pytest.mark.parametrize("name", list(UTILITIES))
    def test_gains_diminish(self, name):
        """With the same draws a set gains no less from a point than a set that contains it.

        EMAX and UCB are bounded below by the lowest worth.

        Check: wilson S5.1
        """
        rng = np.random.default_rng(5)
        joint = POSTERIOR.joint(rng.random((12, 2)))
        mean = np.asarray(joint.mean)[:, None]
        y = mean + np.linalg.cholesky(joint.cov + 1e-10 * np.eye(12)) @ rng.normal(size=(12, 64))
        utility = UTILITIES[name]
        worth = np.asarray(utility.worth(y, mean))
        start = max(float(utility.start), worth.min())
        large = rng.random((12, 2000)) < rng.random(2000)
        point = rng.integers(12, size=2000)
        large[point, np.arange(2000)] = False
        small = large & (rng.random((12, 2000)) < rng.random(2000))

        def value(inside):
            chosen = np.where(inside[:, :, None], worth[:, None, :], -np.inf)
            return np.mean(added_worth(jnp.asarray(chosen), start), axis=1)

        one = np.arange(12)[:, None] == point
        from_small, from_large = (value(s | one) - value(s) for s in (small, large))
        assert np.all(from_large >= 0.0)
        assert np.max(from_large - from_small) <= 1e-12
        assert np.max(from_small - from_large) > 1e-3

    def test_the_same_draws_give_the_same_values(self):
        """To the last bit; others do not.

        Check: wilson S2.10
        """
        acquisition = MonteCarlo(POSTERIOR, Highest(), base_samples(64, 3, 0))
        x = jnp.asarray(SETS)
        first = values(acquisition, x)
        np.testing.assert_array_equal(first, values(acquisition, x))
        again = acquisition.with_base(base_samples(64, 3, 0))
        np.testing.assert_array_equal(first, values(again, x))
        fresh = acquisition.with_base(base_samples(64, 3, 1))
        assert np.all(first != values(fresh, x))

    def test_smooth_exceedance_becomes_exceedance(self):
        """As temperature and offset go to 0.

        Check: wilson S2.7
        """
        x, zero = jnp.asarray(SETS), np.asarray(0.0)
        hard = values(MonteCarlo(POSTERIOR, UTILITIES["exceedance"], BASE, None, False), x)
        off = []
        for temperature in (0.3, 0.1, 0.03, 0.01):
            smooth = SmoothExceedance(
                np.asarray(BEST), np.asarray(temperature), np.asarray(0.1 * temperature)
            )
            found = values(MonteCarlo(POSTERIOR, smooth, BASE, None, False), x)
            off.append(np.max(np.abs(found - hard)))
        assert np.all(np.diff(off) < 0.0)
        assert off[-1] <= 0.02
        exact = SmoothExceedance(np.asarray(BEST), np.asarray(1e-9), zero)
        found = values(MonteCarlo(POSTERIOR, exact, BASE, None, False), x)
        np.testing.assert_allclose(found, hard, atol=1e-6)


class TestCallsUnderWay:
    def test_the_value_is_what_points_add(self, of_sets):
        """In each draw the set with the calls less the calls alone, in either form."""
        together = np.concatenate([np.broadcast_to(RUNNING, (4, 2, 2)), SETS[:, :1]], axis=1)
        alone = jnp.broadcast_to(jnp.asarray(RUNNING), (4, 2, 2))
        for form in (naive, rao_blackwell):
            added, all_three, two = form(SETS[:, :1], RUNNING), form(together), form(alone)
            for name in UTILITIES:
                np.testing.assert_allclose(added[name], all_three[name] - two[name], atol=1e-9)

    def test_more_calls_come_after_those_before(self):
        acquisition = MonteCarlo(POSTERIOR, Highest(), base_samples(64, 3, 0))
        at_once = acquisition.after(RUNNING)
        one_by_one = acquisition.after(RUNNING[:1]).after(RUNNING[1:])
        np.testing.assert_array_equal(at_once.running, one_by_one.running)
        assert (acquisition.n_running, at_once.n_running) == (0, 2)
        assert at_once.submodular


def test_the_logarithm_is_the_logarithm():
    """Values of EMAX and UCB are positive beside running calls."""
    base = base_samples(64, 4, 0)
    first = {
        n: (u, base, None if n in ("improvement", "exceedance") else RUNNING)
        for n, u in UTILITIES.items()
    }
    plain = {n: MonteCarlo(POSTERIOR, *rest) for n, rest in first.items()}
    log = {n: LogMonteCarlo(POSTERIOR, *rest) for n, rest in first.items()}
    wanted, found = values((plain, log), jnp.asarray(SETS[:, :2]))
    for name in UTILITIES:
        np.testing.assert_allclose(found[name], np.log(wanted[name]), rtol=0, atol=1e-10)


@pytest.mark.parametrize("form", [pytest.param(True, marks=pytest.mark.slow), False])
def test_sets_in_pieces_have_the_same_values_and_gradients(monkeypatch, form):
    """Seven sets in pieces of two, the last of which is filled up."""
    x = jnp.asarray(np.random.default_rng(6).random((7, 1, 2)))
    acquisition = MonteCarlo(POSTERIOR, Highest(), base_samples(16, 2, 0), RUNNING[:1], form)

    def both(x):
        found, pull = jax.vjp(acquisition.values, x)
        return found, pull(jnp.arange(1.0, 8.0))[0]

    whole = jax.jit(lambda x: both(x))(x)
    monkeypatch.setattr(module, "_ENTRIES", 2 * 16 * 2 + 1)
    in_pieces = jax.jit(lambda x: both(x))(x)
    for a, b in zip(whole, in_pieces, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_misuse_is_an_error():
    base = base_samples(16, 2, 0)
    acquisition = MonteCarlo(POSTERIOR, Highest(), base)
    with pytest.raises(ll.InvalidData, match="need 3 columns of base samples, got 2"):
        acquisition.values(jnp.asarray(SETS))
    with pytest.raises(ll.InvalidData, match="need 3 columns of base samples, got 2"):
        acquisition.after(RUNNING).values(jnp.asarray(SETS[:, :1]))
    with pytest.raises(ll.InvalidData, match=r"sets of points, \(b, q, 2\)"):
        acquisition.values(jnp.zeros((3, 1, 5)))
    with pytest.raises(ll.InvalidData, match="running must be rows of 2 columns"):
        MonteCarlo(POSTERIOR, Highest(), base, np.zeros((1, 3)))
    with pytest.raises(ll.InvalidData, match="rows must have 2 columns"):
        acquisition.after(np.zeros((1, 3)))
    with pytest.raises(ll.InvalidData, match="at least one row"):
        MonteCarlo(POSTERIOR, Highest(), np.zeros((0, 2)))
    with pytest.raises(ll.Unsupported, match="no jointly normal values"):
        MonteCarlo(mixture([POSTERIOR, POSTERIOR], [0.5, 0.5]), Highest(), base)
    with pytest.raises(ll.Unsupported, match="may be negative"):
        LogMonteCarlo(POSTERIOR, Highest(), base)
    with pytest.raises(ll.Unsupported, match="rao_blackwell=True"):
        LogMonteCarlo(POSTERIOR, UTILITIES["improvement"], base, rao_blackwell=False)
    smooth = SmoothExceedance(np.asarray(0.0), np.asarray(0.1), np.asarray(0.0))
    with pytest.raises(ll.Unsupported, match="no closed form"):
        MonteCarlo(POSTERIOR, smooth, base).values(jnp.asarray(SETS[:, :1]))
