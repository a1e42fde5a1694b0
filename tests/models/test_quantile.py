"""Quantiles at one level and at several: which shape they have, against SciPy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
from scipy import stats

import leadline as ll
from leadline.models import Normal, NormalMixture

RNG = np.random.default_rng(0)
MEAN, VAR = RNG.normal(size=(3, 5)), RNG.uniform(0.5, 2.0, size=(3, 5))
WEIGHTS = np.array([0.2, 0.5, 0.3])
LEVELS = np.array([0.05, 0.3, 0.5, 0.7, 0.95])  # as many as there are points

ONE = Normal(MEAN[0], VAR[0])
OUTPUTS = Normal(MEAN, VAR)  # of three points and five outputs, say
MIXED = NormalMixture(WEIGHTS, OUTPUTS)


def normal(p):
    return stats.norm.ppf(p, MEAN[0], np.sqrt(VAR[0]))


def outputs(p):
    return stats.norm.ppf(p, MEAN, np.sqrt(VAR))


def mixed(p):
    """Of each point, by a root search in SciPy's distribution functions."""

    def at(i):
        def excess(y):
            return WEIGHTS @ stats.norm.cdf(y, MEAN[:, i], np.sqrt(VAR[:, i])) - p

        return scipy.optimize.brentq(excess, -20.0, 20.0, xtol=1e-13)

    return np.array([at(i) for i in range(5)])


KINDS = {"normal": (ONE, normal), "outputs": (OUTPUTS, outputs), "mixture": (MIXED, mixed)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("levels", [[0.05, 0.95], LEVELS, [0.3]], ids=["two", "as points", "one"])
def test_a_row_for_each_level(kind, levels):
    law, expected = KINDS[kind]
    found = law.quantile(levels)
    wanted = np.stack([expected(p) for p in levels])
    assert found.shape == (len(levels), *np.shape(law.mean))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_has_the_shape_of_the_laws(kind):
    law, expected = KINDS[kind]
    np.testing.assert_allclose(law.quantile(0.3), expected(0.3), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(law.quantile(np.float64(0.3)), law.quantile(0.3))


def test_points_with_levels_of_their_own():
    """More dimensions are broadcast."""
    found = ONE.quantile(LEVELS[None, :])
    np.testing.assert_allclose(found, normal(LEVELS)[None, :], rtol=1e-12)
    wanted = np.array([mixed(p)[i] for i, p in enumerate(LEVELS)])
    np.testing.assert_allclose(MIXED.quantile(LEVELS[None, :]), wanted[None, :], atol=1e-9)
    np.testing.assert_array_equal(ONE.quantile(LEVELS[:, None]), ONE.quantile(LEVELS))


def test_levels_in_a_trace():
    traced = jax.jit(lambda law, p: law.quantile(p))(ONE, jnp.asarray(LEVELS))
    np.testing.assert_allclose(traced, ONE.quantile(LEVELS), rtol=1e-9, atol=1e-9)
    shape = jax.eval_shape(lambda law, p: law.quantile(p), MIXED, jnp.asarray(LEVELS)).shape
    assert shape == (5, 5)


def test_levels_that_are_none():
    for p in ([0.1, 1.5], [-0.1], np.nan, [[0.2, np.nan]]):
        with pytest.raises(ll.InvalidData, match="probabilities between 0 and 1, got"):
            MIXED.quantile(p)
