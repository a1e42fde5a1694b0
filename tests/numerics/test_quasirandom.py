"""Quasi-random points: balanced, strictly inside the cube, and decided by their seed."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from scipy import stats
from scipy.stats import qmc

from leadline.numerics import latin_hypercube, shifted_sobol, sobol, sobol_normal
from leadline.numerics._sobol import sobol_digits

SETS = pytest.mark.parametrize("points", [sobol, latin_hypercube])


@SETS
@pytest.mark.parametrize("n", [1, 7, 64])
def test_shape_and_openness(points, n):
    for seed in range(20):
        u = points(n, 3, seed)
        assert u.shape == (n, 3)
        assert np.all((u > 0.0) & (u < 1.0))
        assert np.all(np.isfinite(sobol_normal(n, 3, seed)))


def test_unscrambled_origin_would_not_be_open():
    """What the half step is for: the plain sequence starts at 0, where quantiles are infinite."""
    assert np.all(stats.qmc.Sobol(3, scramble=False).random(1) == 0.0)


def test_sobol_is_balanced():
    """64 points: one in each 1/64 slice of each coordinate, and of each 8 x 8 box of a pair."""
    u = sobol(64, 2, 5)
    assert np.all(np.sort(np.floor(64 * u), axis=0) == np.arange(64)[:, None])
    boxes = np.floor(8 * u) @ [8, 1]
    assert np.all(np.sort(boxes) == np.arange(64))


def test_a_count_between_powers_of_two_is_a_prefix():
    """No warning (warnings are errors here), and the same sequence as the larger set."""
    np.testing.assert_array_equal(sobol(50, 2, 5), sobol(64, 2, 5)[:50])


def test_latin_hypercube_has_one_point_per_slice():
    u = latin_hypercube(50, 3, 2)
    assert np.all(np.sort(np.floor(50 * u), axis=0) == np.arange(50)[:, None])


@SETS
def test_the_seed_decides(points):
    key = jax.random.key(4)
    np.testing.assert_array_equal(points(16, 2, 4), points(16, 2, 4))
    np.testing.assert_array_equal(points(16, 2, key), points(16, 2, jax.random.key(4)))
    np.testing.assert_array_equal(points(16, 2, key), points(16, 2, jax.random.key_data(key)))
    assert not np.any(points(16, 2, 4) == points(16, 2, 5))
    assert not np.any(points(16, 2, key) == points(16, 2, jax.random.key(5)))


def test_scrambled_points_are_uniform_over_seeds():
    """The first point is uniform: over 400 seeds its mean is 1/2 within 4 standard errors."""
    first = np.concatenate([sobol(1, 5, seed) for seed in range(400)])
    assert np.all(np.abs(first.mean(axis=0) - 0.5) < 4.0 * np.sqrt(1.0 / 12.0 / 400.0))


def test_normal_points_have_normal_moments():
    z = sobol_normal(4096, 3, 0)
    np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=1e-3)
    np.testing.assert_allclose(np.cov(z.T), np.eye(3), atol=5e-3)


@SETS
def test_refuses_empty_sets(points):
    with pytest.raises(ValueError, match="n = 0, d = 2"):
        points(0, 2, 0)


def test_our_sobol_sequence_is_scipys():
    for n, d in ((1, 1), (2, 3), (100, 40), (1024, 7)):
        theirs = qmc.Sobol(d, scramble=False, bits=52).random_base2(int(n - 1).bit_length())[:n]
        np.testing.assert_array_equal(sobol_digits(n, d) * 2.0**-52, theirs)


def test_shifted_points_are_the_same_kind_on_the_host_and_in_a_trace():
    host = shifted_sobol(np.random.default_rng(3), 64, 3)
    key = jax.random.key(3)
    traced = jax.jit(lambda key: shifted_sobol(key, 64, 3))(key)
    np.testing.assert_array_equal(traced, shifted_sobol(key, 64, 3))
    for points in (host, np.asarray(traced)):
        assert 0.0 < points.min() < points.max() < 1.0
        for column in points.T:  # one point in each of 64 slices
            assert sorted((64 * column).astype(int)) == list(range(64))
