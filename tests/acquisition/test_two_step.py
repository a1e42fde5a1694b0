import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import leadline as ll
from leadline.acquisition import ExpectedImprovement
from leadline.acquisition._two_step import TwoStepImprovement
from leadline.models import mixture
from leadline.numerics import quick_jit

NOISE, BEST = 1e-2, np.float64(0.7)
KERNEL = 1.3 * ll.kernels.Matern52([0.4, 0.7])
rng = np.random.default_rng(0)
DATA, DESIGNS = rng.random((8, 2)), rng.random((6, 2))
NODES, WEIGHTS = np.polynomial.hermite.hermgauss(32)
NODES, WEIGHTS = np.sqrt(2) * NODES, WEIGHTS / np.sqrt(np.pi)


@pytest.fixture(scope="module")
def posterior():
    return ll.GP(KERNEL, noise=NOISE).condition(DATA, np.sin(6 * DATA[:, 0]) + DATA[:, 1] - 0.5)


@pytest.fixture(scope="module")
def acquisition(posterior):
    return TwoStepImprovement(posterior, jnp.asarray(BEST), DESIGNS)


@quick_jit
def values_and_gradients(acquisition, x):
    found, pull_back = jax.vjp(acquisition.values, x)
    return found, pull_back(jnp.ones_like(found))[0]


@quick_jit
def expected_improvements(posterior, best):
    return ExpectedImprovement(posterior, best).values(jnp.asarray(DESIGNS)[:, None])


def improvement(mean, var, threshold):
    std = np.sqrt(np.maximum(var, 1e-30))
    z = (mean - threshold) / std
    return std * (scipy.stats.norm.pdf(z) + z * scipy.stats.norm.cdf(z))


def test_it_is_the_nested_sum_over_outcomes_and_designs(posterior, acquisition):
    """And the second call never takes anything away.

    Check: wilson S1.3
    """
    joint = posterior.joint(DESIGNS)
    mean, cov = np.asarray(joint.mean), np.asarray(joint.cov)
    found, _ = values_and_gradients(acquisition, DESIGNS[:, None])
    for i, value in enumerate(found):
        var = cov[i, i] + NOISE
        one_step, two_step = 0.0, 0.0
        for t, w in zip(NODES, WEIGHTS, strict=True):
            y = mean[i] + np.sqrt(var) * t
            reached = max(BEST, y)
            second = [
                improvement(
                    mean[j] + cov[j, i] / var * (y - mean[i]),
                    cov[j, j] - cov[j, i] ** 2 / var,
                    reached,
                )
                for j in range(6)
            ]
            one_step += w * reached
            two_step += w * (reached + max(second))
        np.testing.assert_allclose(value, two_step - BEST, rtol=0, atol=1e-10)
        assert value >= one_step - BEST - 1e-10
        assert value > 1.05 * (one_step - BEST)


def test_it_is_what_a_process_with_the_first_outcome_says(posterior, acquisition):
    """Each outcome is put into the data, and the second call is worth its improvement."""
    found, _ = values_and_gradients(acquisition, DESIGNS[:, None])
    marginal = posterior.predict(DESIGNS[:2], noise=True)
    for i in range(2):
        total = -BEST
        for t, w in zip(NODES, WEIGHTS, strict=True):
            y = np.asarray(marginal.mean[i] + marginal.std[i] * t)
            reached = np.maximum(BEST, y)
            given = posterior.update(DESIGNS[i : i + 1], y[None])
            second = expected_improvements(given, reached)
            total += w * (reached + np.max(second))
        np.testing.assert_allclose(found[i], total, rtol=0, atol=1e-8)


def test_gradients_are_slopes(acquisition):
    point, step = np.array([[0.35, 0.6]]), 1e-6
    moves = step * np.eye(2)[:, None, :]
    batch = np.concatenate([point[None], point + moves, point - moves, point[None]])
    found, gradients = values_and_gradients(acquisition, batch)
    slopes = (np.asarray(found[1:3]) - np.asarray(found[3:5])) / (2 * step)
    np.testing.assert_allclose(gradients[0, 0], slopes, rtol=1e-5, atol=1e-7)


def test_without_doubt_about_the_first_call_only_the_second_counts():
    """At noise-free data the first outcome is known, and is not the best."""
    y = np.sin(6 * DATA[:, 0])
    sure = ll.GP(KERNEL, noise=0.0).condition(DATA, y)
    acquisition = TwoStepImprovement(sure, jnp.asarray(y.max()), DESIGNS)
    found, gradients = values_and_gradients(acquisition, DATA[:6, None])
    marginal = sure.predict(DESIGNS)
    second = np.max(improvement(marginal.mean, marginal.var, y.max()))
    np.testing.assert_allclose(found, second, rtol=1e-5)
    assert np.all(np.isfinite(gradients))


def test_misuse_is_an_error(posterior, acquisition):
    assert not TwoStepImprovement.submodular
    with pytest.raises(ll.InvalidData, match="one point at a time"):
        acquisition.values(np.zeros((4, 2, 2)))
    with pytest.raises(ll.InvalidData, match="nodes must be at least 1"):
        TwoStepImprovement(posterior, jnp.asarray(BEST), DESIGNS, nodes=0)
    members = mixture([posterior, posterior], [0.5, 0.5])
    with pytest.raises(ll.Unsupported, match="got MixturePosterior"):
        TwoStepImprovement(members, jnp.asarray(BEST), DESIGNS)
