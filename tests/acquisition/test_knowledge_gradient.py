import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import leadline as ll
from leadline.acquisition import base_samples
from leadline.acquisition._knowledge_gradient import (
    KnowledgeGradient,
    LogKnowledgeGradient,
    MonteCarloKnowledgeGradient,
    known_at,
    lines,
    log_expected_rises,
    observe,
)
from leadline.models import mixture
from leadline.numerics import quick_jit

NOISE = 1e-2
KERNEL = 1.3 * ll.kernels.Matern52([0.4, 0.7])
BASE = base_samples(4096, 4)
rng = np.random.default_rng(0)
DATA, CANDIDATES, POINTS = rng.random((12, 2)), rng.random((20, 2)), rng.random((17, 1, 2))


@pytest.fixture(scope="module")
def posterior():
    return ll.GP(KERNEL, noise=NOISE).condition(DATA, np.sin(6 * DATA[:, 0]) + DATA[:, 1])


@quick_jit
def values(acquisition, x):
    return acquisition.values(x)


@quick_jit
def values_and_gradients(acquisition, x):
    found, pull_back = jax.vjp(acquisition.values, x)
    return found, pull_back(jnp.ones_like(found))[0]


@quick_jit
def lines_at(posterior, candidates, x):
    observed = observe(posterior, x)
    return lines(posterior, known_at(posterior, candidates), observed, own=False), observed


@quick_jit
def rises(a, slopes):
    return jnp.sum(jnp.exp(log_expected_rises(a, slopes)), axis=1)


def exact_values(posterior, candidates, own, x):
    """With the programs that other tests need too."""
    acquisition = KnowledgeGradient(posterior, candidates, own=own)
    return values_and_gradients(acquisition, x)[0] if own else values(acquisition, x)


def brute_force_rise(a, slopes):
    """E max - max, integrated between all crossings of lines."""
    rise = slopes[:, None] - slopes
    crossings = (a - a[:, None])[rise != 0] / rise[rise != 0]
    cuts = np.unique(np.clip(np.concatenate([[-40.0, 40.0], crossings]), -40.0, 40.0))
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    top = np.argmax(a[:, None] + slopes[:, None] * middle, axis=0)
    mass = np.diff(scipy.stats.norm.cdf(cuts))
    moment = -np.diff(scipy.stats.norm.pdf(cuts))
    return np.sum(a[top] * mass + slopes[top] * moment) - a.max()


def brute_force_lines(posterior, x, own, noise=NOISE):
    """Intercepts and slopes of the candidates and, if `own`, of the one point x itself."""
    joint = posterior.joint(np.concatenate([CANDIDATES, x]))
    keep = len(CANDIDATES) + own
    slopes = np.asarray(joint.cov)[:keep, -1] / np.sqrt(joint.cov[-1, -1] + noise)
    return np.asarray(joint.mean)[:keep], slopes


def best_points(posterior):
    """Points in the order of their worth: most of the others are worth nothing."""
    return POINTS[np.argsort(exact_values(posterior, CANDIDATES, False, POINTS))]


def assert_gradients_are_slopes(acquisition, point, program, step=1e-6):
    """At one point (q, d): all differences are taken in one batch of 17 rows."""
    moves = step * np.eye(point.size).reshape(-1, *point.shape)
    batch = np.concatenate([point[None], point + moves, point - moves])
    batch = np.concatenate([batch, np.broadcast_to(point, (17 - len(batch), *point.shape))])
    found, gradients = program(acquisition, batch)
    up, down = np.split(np.asarray(found)[1 : 1 + 2 * point.size], 2)
    slopes = ((up - down) / (2 * step)).reshape(point.shape)
    assert np.max(np.abs(slopes)) > 1e-3
    size = np.max(np.abs(slopes))
    np.testing.assert_allclose(gradients[0], slopes, rtol=1e-5, atol=1e-6 * size)


def test_the_rise_of_lines_is_its_integral():
    """Random lines, and lines with equal slopes, equal heights and crossings in one point."""
    rng = np.random.default_rng(2)
    a, slopes = rng.normal(size=(8, 30)), rng.normal(size=(8, 30))
    slopes[1] = np.round(slopes[1])
    a[2] = np.round(a[2])
    a[3], slopes[3] = np.round(2 * a[3]) / 2, np.round(2 * slopes[3]) / 2
    a[4] = -(slopes[4] ** 2)  # every line is on the envelope
    a[5] = -0.5 * slopes[5]  # all lines meet at z = 1/2
    a[6] *= 0.01
    slopes[7] = 3.0
    expected = [brute_force_rise(*case) for case in zip(a, slopes, strict=True)]
    np.testing.assert_allclose(rises(a, slopes), expected, rtol=0, atol=1e-14)
    assert rises(a, slopes)[7] == 0.0


@pytest.mark.parametrize("own", [True, False])
def test_the_exact_form_is_the_mean_of_samples(posterior, own):
    """The variance of the observation has its noise.

    Check: wilson S2.8
    """
    exact = np.asarray(exact_values(posterior, CANDIDATES, own, POINTS))
    z = np.random.default_rng(4).normal(size=400_000)
    for x, value in zip(POINTS[:4], exact[:4], strict=True):
        a, slopes = brute_force_lines(posterior, x, own)
        samples = np.max(a[:, None] + slopes[:, None] * z, axis=0) - a.max()
        assert abs(samples.mean() - value) < 4 * samples.std() / np.sqrt(z.size)
    expected = [brute_force_rise(*brute_force_lines(posterior, x, own)) for x in POINTS]
    np.testing.assert_allclose(exact, expected, rtol=1e-9, atol=1e-14)
    wrong = [brute_force_rise(*brute_force_lines(posterior, x, own, noise=0.0)) for x in POINTS]
    assert np.max(np.abs(wrong - exact)) > 1e-3


def test_the_sampled_form_has_the_value_of_the_exact_one(posterior):
    """Check: wilson S2.8"""
    acquisition = MonteCarloKnowledgeGradient(posterior, CANDIDATES, BASE)
    found, _ = values_and_gradients(acquisition, POINTS)
    for x, value in zip(POINTS, found, strict=True):
        a, slopes = brute_force_lines(posterior, x, own=True)
        heights = a[:, None] + slopes[:, None] * BASE[:, 0]
        samples = np.max(heights, axis=0) - heights[np.argmax(a)]
        np.testing.assert_allclose(value, samples.mean(), rtol=1e-9, atol=1e-14)
        error = samples.std() / np.sqrt(len(BASE))
        # Where no sample changes the choice there is no error to measure, and nothing to find.
        assert abs(brute_force_rise(a, slopes) - value) < 4 * error + 1e-9


def test_the_knowledge_gradient_is_not_negative(posterior):
    """And it is 0 where an observation says nothing about the candidates.

    Check: wilson S1.5
    """
    xs = np.random.default_rng(5).random((20, 17, 1, 2))
    for own in (True, False):
        found = np.array([exact_values(posterior, CANDIDATES, own, x) for x in xs])
        assert np.all(found >= 0)
        assert np.max(found) > 1e-2
    assert np.all(lines_at(posterior, CANDIDATES, np.full((3, 3, 2), 1e4))[0][1] == 0.0)
    far = np.full((17, 1, 2), 1e4)
    assert np.all(exact_values(posterior, CANDIDATES, False, far) == 0.0)
    log = LogKnowledgeGradient(posterior, CANDIDATES, own=False)
    found, gradients = values_and_gradients(log, far)
    assert np.all(found == -np.inf)
    assert np.all(gradients == 0.0)


def test_what_is_known_already_is_worth_nothing():
    sure = ll.GP(KERNEL, noise=0.0).condition(DATA, np.sin(6 * DATA[:, 0]))
    rows = np.concatenate([DATA, CANDIDATES[:8]])
    at_data = np.resize(DATA[:, None, :], (17, 1, 2))
    found, gradients = values_and_gradients(KnowledgeGradient(sure, rows), at_data)
    assert np.all(found >= 0)
    assert np.all(found < 1e-8)
    assert np.all(np.isfinite(gradients))


def test_the_covariance_of_the_lines_is_what_observations_take_away(posterior):
    """With the root L^-1 instead of L^-T it is not.

    Check: wilson S2.9
    """
    x = np.random.default_rng(7).random((3, 3, 2))
    (_, slopes), observed = lines_at(posterior, CANDIDATES, x)
    for i in range(3):
        cov = np.asarray(posterior.joint(np.concatenate([CANDIDATES, x[i]])).cov)
        cross, own = cov[:20, 20:], cov[20:, 20:] + NOISE * np.eye(3)
        expected = cross @ np.linalg.solve(own, cross.T)
        np.testing.assert_allclose(slopes[i] @ slopes[i].T, expected, rtol=0, atol=1e-10)
        wrong = cross @ np.linalg.inv(observed.factor[i])
        assert np.max(np.abs(wrong @ wrong.T - expected)) > 1e-3


def test_observations_move_the_means_as_the_lines_say(posterior):
    """A line at z is the mean given the observations mean(X) + L z."""
    x = np.random.default_rng(8).random((3, 3, 2))
    (a, slopes), observed = lines_at(posterior, CANDIDATES, x)
    z = np.random.default_rng(9).normal(size=3)
    for i in range(3):
        y = np.asarray(observed.mean[i] + observed.factor[i] @ z)
        expected = posterior.update(x[i], y).predict(CANDIDATES).mean
        np.testing.assert_allclose(a[i] + slopes[i] @ z, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("q", [1, *(pytest.param(q, marks=pytest.mark.slow) for q in (2, 3, 4))])
def test_gradients_are_slopes_with_fixed_samples(posterior, q):
    """Check: wilson S3.1"""
    acquisition = MonteCarloKnowledgeGradient(posterior, CANDIDATES, BASE)
    point = best_points(posterior)[-q:, 0]
    assert_gradients_are_slopes(acquisition, point, values_and_gradients)


@pytest.mark.parametrize(
    ("form", "own"), [(KnowledgeGradient, True), (LogKnowledgeGradient, False)]
)
def test_gradients_of_the_exact_forms_are_slopes(posterior, form, own):
    """Check: wilson S3.1"""
    acquisition = form(posterior, CANDIDATES, own=own)
    for point in best_points(posterior)[-3:]:
        assert_gradients_are_slopes(acquisition, point, values_and_gradients)


def test_the_logarithm_goes_on_where_the_value_underflows(posterior):
    plain = exact_values(posterior, CANDIDATES, False, POINTS)
    log = LogKnowledgeGradient(posterior, CANDIDATES, own=False)
    np.testing.assert_allclose(values_and_gradients(log, POINTS)[0], np.log(plain), rtol=1e-9)
    # One row is far above the others, which observations can move only a little.
    rows = np.concatenate([DATA, CANDIDATES[:8]])
    sure = ll.GP(KERNEL, noise=1e-6).condition(DATA, 9.0 * np.eye(12)[0])
    points = np.resize(DATA[:, None] + 0.01, (17, 1, 2))
    gone = np.asarray(exact_values(sure, rows, False, points)) == 0.0
    assert np.sum(gone) >= 6
    late = LogKnowledgeGradient(sure, rows, own=False)
    found, gradients = values_and_gradients(late, np.resize(points[gone], (17, 1, 2)))
    assert np.all(np.isfinite(found))
    assert np.all(found < -700)
    assert np.all(np.linalg.norm(gradients[:, 0], axis=1) > 1.0)


def test_beside_running_calls_it_is_what_one_more_adds(posterior):
    """In each sample: the choice with all outcomes, compared to the one with those before."""
    x = np.random.default_rng(7).random((3, 3, 2))
    x[:, :2] = x[0, :2]
    first, last = x[0, :2], x[:, 2:]
    acquisition = MonteCarloKnowledgeGradient(posterior, CANDIDATES, BASE, own=False)
    beside = acquisition.after(first)
    (a, slopes), _ = jax.device_get(lines_at(posterior, CANDIDATES, x))
    for i, value in enumerate(values(beside, last)):
        without = a[i] + BASE[:, :2] @ slopes[i, :, :2].T
        heights = a[i] + BASE[:, :3] @ slopes[i].T
        gains = np.max(heights, axis=1) - heights[np.arange(len(BASE)), np.argmax(without, axis=1)]
        np.testing.assert_allclose(value, gains.mean(), rtol=1e-10)
        # What is reached with all outcomes, minus what is reached without the last.
        naive = np.max(heights, axis=1) - np.max(without, axis=1)
        np.testing.assert_allclose(value, naive.mean(), atol=4 * naive.std() / len(BASE) ** 0.5)
        assert gains.std() < naive.std()
    one_by_one = acquisition.after(first[:1]).after(first[1:])
    np.testing.assert_array_equal(one_by_one.running, beside.running)
    assert acquisition.after(np.zeros((0, 2))).running.shape == (0, 2)


def test_a_call_that_is_running_without_noise_need_not_be_made_again():
    sure = ll.GP(KERNEL, noise=0.0).condition(DATA, DATA[:, 0])
    again = MonteCarloKnowledgeGradient(sure, CANDIDATES, BASE, own=False).after(POINTS[:2, 0])
    found = values(again, POINTS[:3])
    assert np.all(found >= 0)
    assert np.all(found[:2] < 1e-5)


def test_no_guarantee_is_claimed_for_greedy_batches():
    """Check: wilson S5.6"""
    for form in (KnowledgeGradient, LogKnowledgeGradient, MonteCarloKnowledgeGradient):
        assert not form.submodular


def test_misuse_is_an_error(posterior):
    acquisition = KnowledgeGradient(posterior, CANDIDATES)
    with pytest.raises(ll.InvalidData, match="one point at a time"):
        acquisition.values(np.zeros((4, 2, 2)))
    with pytest.raises(ll.Unsupported, match="no 'after'"):
        acquisition.after(CANDIDATES)
    with pytest.raises(ll.InvalidData, match="candidates must have 2 columns"):
        KnowledgeGradient(posterior, CANDIDATES[:, :1])
    sampled = MonteCarloKnowledgeGradient(posterior, CANDIDATES, BASE)
    with pytest.raises(ll.InvalidData, match="draws 5 observations together"):
        sampled.after(CANDIDATES[:4]).values(np.zeros((4, 1, 2)))
    members = mixture([posterior, posterior], [0.5, 0.5])
    with pytest.raises(ll.Unsupported, match="got MixturePosterior"):
        KnowledgeGradient(members, CANDIDATES)
