import jax
import jax.numpy as jnp
import numpy as np
import pytest

import leadline as ll
from leadline.acquisition import base_samples
from leadline.acquisition._knowledge_gradient import MonteCarloKnowledgeGradient, observe
from leadline.acquisition._nested_knowledge_gradient import (
    NestedKnowledgeGradient,
    OneShotKnowledgeGradient,
)
from leadline.models import mixture
from leadline.numerics import minimize_together, quick_jit, sobol

BASE = base_samples(16, 2)
STARTS = sobol(64, 2, seed=0)
rng = np.random.default_rng(0)
DATA, POINTS = rng.random((12, 2)), rng.random((9, 2, 2))


@pytest.fixture(scope="module")
def posterior():
    kernel = 1.3 * ll.kernels.Matern52([0.4, 0.7])
    return ll.GP(kernel, noise=1e-2).condition(DATA, np.sin(6 * DATA[:, 0]) + DATA[:, 1])


@pytest.fixture(scope="module")
def nested(posterior):
    return NestedKnowledgeGradient(posterior, BASE, STARTS)


@quick_jit
def values_and_gradients(acquisition, x):
    found, pull_back = jax.vjp(acquisition.values, x)
    return found, pull_back(jnp.ones_like(found))[0]


@quick_jit
def completed(acquisition, x):
    return acquisition.completed(x)


@quick_jit
def search_jointly(acquisition, starts):
    def losses(rows, acquisition):
        return -acquisition.values(rows.reshape(starts.shape))

    flat = starts.reshape(len(starts), -1)
    found = minimize_together(losses, acquisition, flat, jnp.zeros((1, 36)), jnp.ones((1, 36)))
    return found.u.reshape(starts.shape), -found.value


def grid(size):
    side = np.linspace(0.0, 1.0, size)
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def test_gradients_hold_the_inner_maxima_fixed(posterior, nested):
    """They are those of the finite form on many candidates, and slopes of the values.

    The candidates are dense where it matters: around the inner maxima, which are not among them.

    Check: wilson S3.7
    """
    found, gradients = values_and_gradients(nested, POINTS)
    inner = np.asarray(completed(nested.one_shot, POINTS)[:, 2:])
    around = inner[:, :, None, :] + (5.0 * grid(5) - 2.3) / 1500
    highest = nested.one_shot.starts[-1:]
    rows = np.concatenate([grid(33), np.clip(around, 0.0, 1.0).reshape(-1, 2), highest])
    dense = MonteCarloKnowledgeGradient(posterior, rows, BASE, own=False)
    values, expected = values_and_gradients(dense, POINTS)
    size = np.linalg.norm(expected, axis=(1, 2))
    assert np.all(np.linalg.norm(gradients - expected, axis=(1, 2)) < 1e-2 * size)
    # With the same samples, and the row that is highest now, no finite set is worth more.
    assert np.all(found >= values - 1e-12)
    assert np.all(found - values < 1e-5)
    assert np.all(found > 0)

    best, step = np.argmax(found), 1e-5
    moves = step * np.eye(4).reshape(4, 2, 2)
    point = POINTS[best]
    batch = np.concatenate([point[None], point + moves, point - moves])
    around, _ = values_and_gradients(nested, batch)
    slopes = (np.asarray(around[1:5]) - np.asarray(around[5:])).reshape(2, 2) / (2 * step)
    np.testing.assert_allclose(gradients[best], slopes, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_gradients_are_those_on_a_uniform_dense_set_in_one_dimension():
    """The candidates know nothing of the inner searches, nor of the row that is highest now.

    Check: wilson S3.7
    """
    x = DATA[:8, :1]
    line = ll.GP(1.3 * ll.kernels.Matern52(0.3), noise=1e-2).condition(x, np.sin(6 * x[:, 0]))
    nested = NestedKnowledgeGradient(line, BASE, STARTS[:, :1])
    points = POINTS[:, :, :1]
    _, gradients = values_and_gradients(nested, points)
    rows = np.linspace(0.0, 1.0, 8193)[:, None]
    dense = MonteCarloKnowledgeGradient(line, rows, BASE, own=False)
    _, expected = values_and_gradients(dense, points)
    size = np.linalg.norm(expected, axis=(1, 2))
    assert np.all(np.linalg.norm(gradients - expected, axis=(1, 2)) < 1e-2 * size)


def test_one_shot_is_nested_at_the_inner_maxima_and_lower_elsewhere(nested):
    one_shot = nested.one_shot
    found, gradients = values_and_gradients(nested, POINTS)
    sets = completed(one_shot, POINTS)
    assert sets.shape == (9, 18, 2)
    np.testing.assert_array_equal(sets[:, :2], POINTS)
    at_best, one_shot_gradients = values_and_gradients(one_shot, np.asarray(sets))
    np.testing.assert_allclose(at_best, found, rtol=1e-12)
    # Inner rows are at maxima, so what is left of the gradient is that of X.
    np.testing.assert_allclose(one_shot_gradients[:, :2], gradients, rtol=1e-8, atol=1e-12)
    inside = np.all((sets[:, 2:] > 0) & (sets[:, 2:] < 1), axis=-1)
    assert np.max(np.abs(one_shot_gradients[:, 2:][inside])) < 1e-5
    moved = np.array(sets)
    moved[:, 2:] = np.clip(
        moved[:, 2:] + 0.05 * np.random.default_rng(1).normal(size=(9, 16, 2)), 0, 1
    )
    assert np.all(values_and_gradients(one_shot, moved)[0] < found)


def test_the_mean_given_an_outcome_is_that_of_the_updated_process(posterior, nested):
    """And no other row has a higher one than the inner maximum."""
    sets = np.asarray(completed(nested.one_shot, POINTS))
    observed = jax.device_get(jax.jit(observe)(posterior, POINTS))
    rises = np.zeros(16)
    for i, z in enumerate(BASE):
        y = observed.mean[0] + observed.factor[0] @ z
        rows = np.concatenate([sets[0, 2 + i][None], nested.one_shot.starts[-1:], sobol(510, 2, i)])
        then, now, *others = posterior.update(POINTS[0], y).predict(rows).mean
        assert max(others) < then
        rises[i] = then - now
    found, _ = values_and_gradients(nested, POINTS)
    np.testing.assert_allclose(found[0], np.mean(rises), rtol=1e-8)


@pytest.mark.slow
def test_searching_for_all_rows_together_leads_to_a_set_that_is_worth_what_it_says(nested):
    one_shot = nested.one_shot
    starts = completed(one_shot, POINTS)
    before, _ = values_and_gradients(nested, POINTS)
    sets, worth = search_jointly(one_shot, starts)
    assert np.all(worth >= before)
    assert np.max(worth) > 1.02 * np.max(before)
    after, _ = values_and_gradients(nested, np.asarray(sets[:, :2]))
    best = np.argmax(worth)
    assert np.all(after >= worth - 1e-9)
    np.testing.assert_allclose(after[best], worth[best], rtol=1e-2)


def test_no_guarantee_is_claimed_for_greedy_batches():
    """Check: wilson S5.6"""
    assert not NestedKnowledgeGradient.submodular
    assert not OneShotKnowledgeGradient.submodular


def test_misuse_is_an_error(posterior, nested):
    with pytest.raises(ll.InvalidData, match="a row for each of the 16 samples"):
        nested.one_shot.values(np.zeros((4, 16, 2)))
    with pytest.raises(ll.InvalidData, match="draws 3 observations together"):
        nested.values(np.zeros((4, 3, 2)))
    members = mixture([posterior, posterior], [0.5, 0.5])
    for form in (NestedKnowledgeGradient, OneShotKnowledgeGradient):
        with pytest.raises(ll.Unsupported, match=f"{form.__name__} needs an exact"):
            form(members, BASE, STARTS)
