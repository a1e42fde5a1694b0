"""Draws whose features alone carry the data run out of variance; decoupled draws do not."""

import jax
import numpy as np
import pytest
from scipy.cluster.vq import kmeans2

import leadline as ll
from leadline.diagnostics import decoupled_moments, wasserstein2, weight_space_moments
from leadline.models import GP, Titsias
from leadline.paths import FourierFeatures


def squared_exponential(x, y, lengthscale):
    return np.exp(-0.5 * ((x - y.T) / lengthscale) ** 2)


def matern(x, y, lengthscale):
    a = np.sqrt(5.0) * np.linalg.norm((x[:, None] - y[None]) / lengthscale, axis=-1)
    return (1.0 + a + a * a / 3.0) * np.exp(-a)


def distance(law, expected):
    return wasserstein2(law.mean, law.cov, expected.mean, expected.cov)


def random_features(kernel, size, dim, seed):
    return FourierFeatures(kernel, size, dim, key=jax.random.key(seed), points="random")


@pytest.mark.slow
def test_weight_space_starves_in_a_gap():
    """Check: tiao S15.6. Medians over ten bases and data sets, in a gap of five lengths."""
    kernel, xs, middle = ll.kernels.SquaredExponential(0.1), np.linspace(0.0, 1.0, 101)[:, None], 50
    medians = []
    for n in (4, 64, 1024):
        side = np.linspace(0.0, 0.25, n // 2)
        x = np.concatenate([side, 1.0 - side])[:, None]
        root = np.linalg.cholesky(squared_exponential(x, x, 0.1) + 1e-3 * np.eye(n))
        found = []
        for seed in range(10):
            y = root @ np.random.default_rng(seed).normal(size=n)
            post = GP(kernel, noise=1e-3).condition(x, y)
            exact = post.predict(xs)
            features = random_features(kernel, 100, 1, seed)
            starved = weight_space_moments(post, features, xs)
            error = np.max(np.abs(starved.mean - exact.mean))
            laws = starved, decoupled_moments(post, features, xs)
            found.append([error, *(w.marginals.std[middle] / exact.std[middle] for w in laws)])
        medians.append(np.median(found, axis=0))
    error, starved_ratio, decoupled_ratio = np.transpose(medians)
    assert error[2] > 3.0 * error[0]
    assert starved_ratio[2] < 0.85
    assert np.all((decoupled_ratio > 0.9) & (decoupled_ratio < 1.1))


@pytest.mark.slow
def test_weight_space_is_twice_as_far_from_the_posterior():
    """Check: wilson S10.4. As many data as features."""
    kernel, noise = ll.kernels.SquaredExponential(0.05), 1e-5
    x = np.linspace(0.25, 0.75, 1000)[:, None]
    grid = np.linspace(0.0, 1.0, 300)[:, None]
    y = np.sin(4.0 * np.pi * x[:, 0]) + np.sqrt(noise) * np.random.default_rng(0).normal(size=1000)
    post = GP(kernel, noise=noise).condition(x, y)
    exact = post.joint(grid)
    for seed in range(3):
        features = random_features(kernel, 1000, 1, seed)
        starved = distance(weight_space_moments(post, features, grid), exact)
        decoupled = distance(decoupled_moments(post, features, grid), exact)
        assert starved >= 2.0 * decoupled


LENGTHSCALE, NOISE, SEEDS = 0.5, 1e-3, range(5)
SIZES = (16, 64, 256, 1024)


def problem(n, seed):
    """Data of a Matern process in four dimensions, its posterior, and 128 test points."""
    rng = np.random.default_rng(seed)
    x, xs = rng.uniform(size=(n, 4)), rng.uniform(size=(128, 4))
    y = np.linalg.cholesky(matern(x, x, LENGTHSCALE) + NOISE * np.eye(n)) @ rng.normal(size=n)
    kernel = ll.kernels.Matern52(LENGTHSCALE)
    return kernel, x, y, xs, GP(kernel, noise=NOISE).condition(x, y)


@pytest.mark.slow
def test_decoupled_draws_get_better_with_data():
    """Check: wilson S10.5. Means over five data sets and bases of 4096 features."""
    found = []
    for n in SIZES:
        distances = []
        for seed in SEEDS:
            kernel, _, _, xs, post = problem(n, seed)
            law = decoupled_moments(post, random_features(kernel, 4096, 4, seed), xs)
            distances.append(distance(law, post.joint(xs)))
        found.append(np.mean(distances))
    assert max(found) < 1.1 * found[0]
    assert found[-1] < found[0]


@pytest.mark.slow
def test_inducing_points_serve_better_than_as_many_features():
    """Check: wilson S10.6. n / 4 of either; means over five data sets."""
    for n in SIZES:
        sparse, starved = [], []
        for seed in SEEDS:
            kernel, x, y, xs, post = problem(n, seed)
            exact = post.joint(xs)
            rng = np.random.default_rng(seed)
            points, _ = kmeans2(x, rng.permutation(x)[: n // 4], minit="matrix")
            inferred = Titsias(kernel, points, noise=NOISE).condition(x, y)
            prior = random_features(kernel, 4096, 4, seed)
            sparse.append(distance(decoupled_moments(inferred, prior, xs), exact))
            few = random_features(kernel, n // 4, 4, 100 + seed)
            starved.append(distance(weight_space_moments(post, few, xs), exact))
        assert np.mean(sparse) < np.mean(starved)
