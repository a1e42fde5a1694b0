"""The spectral mixture kernel: its special cases, its spectrum, and padding with zero weights."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.stats
from tests.kernels.registry import gram

from leadline.kernels import Cosine, SpectralMixture, SquaredExponential

X = np.sort(np.random.default_rng(0).uniform(size=(40, 1)), axis=0)


def prior_draw(rng, n, nyquist=10.0):
    """Dirichlet weights, normal means and log-normal scales (Hamid 2023, eq. 3.10)."""
    return SpectralMixture(
        rng.dirichlet(np.ones(n)),
        rng.normal(0, nyquist / 5, size=(n, 1)),
        rng.lognormal(0.5 * np.log(nyquist), np.log(nyquist) / 10, size=(n, 1)),
    )


def test_one_component_without_frequency_is_squared_exponential():
    """With l = 1 / (2 pi sigma). Check: hamid 2 (first half)."""
    sigma = 0.37
    mixture = SpectralMixture([1.0], [[0.0]], [[sigma]])
    rbf = SquaredExponential(1 / (2 * np.pi * sigma))
    np.testing.assert_allclose(gram(mixture, X, X), gram(rbf, X, X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(mixture.diag(jnp.asarray(X)), 1.0, rtol=1e-15)


def test_one_component_without_width_is_a_wave():
    mixture = SpectralMixture([1.0], [[0.5]], [[0.0]])
    np.testing.assert_allclose(gram(mixture, X, X), gram(Cosine(2.0), X, X), atol=1e-14)


def test_prior_draws_are_positive_semi_definite():
    """20 draws, 40 points. Check: hamid 2 (second half)."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        k = np.asarray(gram(prior_draw(rng, 4), X, X))
        assert np.linalg.eigvalsh(k).min() >= -1e-10
        np.testing.assert_allclose(np.diagonal(k), 1.0, rtol=1e-14)


def test_frequencies_have_the_symmetrized_density():
    """2e5 frequencies in cycles give cos(2 pi f tau) the mean k(tau) within 0.01, and come with
    both signs. Check: hamid 3.
    """
    mixture = SpectralMixture([0.3, 0.7], [[1.5], [0.4]], [[0.2], [0.1]])
    theta, weight = mixture.frequencies(jax.random.key(2), 200_000, 1)
    cycles = np.asarray(theta)[:, 0] / (2 * np.pi)
    tau = np.linspace(0, 3, 13)
    found = np.cos(2 * np.pi * np.outer(tau, cycles)) @ np.asarray(weight)
    expected = np.asarray(mixture(jnp.asarray(tau)[:, None], jnp.zeros((1, 1))))[:, 0]
    np.testing.assert_allclose(found, expected, atol=0.01)
    np.testing.assert_allclose(found[0], 1.0, rtol=1e-12)
    # Without the halves of eq. 2.27 a frequency's sign would be that of its mean.
    assert abs(np.mean(cycles > 0) - 0.5) < 4 * 0.5 / np.sqrt(200_000)


def test_components_of_weight_zero_change_nothing():
    """Not in the kernel, the likelihood, their gradients or the features. Check: hamid 5."""
    rng = np.random.default_rng(3)
    small = prior_draw(rng, 2)
    pad = lambda a, fill: np.concatenate([a, np.full((2, *a.shape[1:]), fill)])  # noqa: E731
    for fill in (0.0, 1.7):
        weights, means, scales = (np.asarray(a) for a in jax.tree.leaves(small))
        large = SpectralMixture(pad(weights, 0.0), pad(means, fill), pad(scales, fill))
        k, padded = (np.asarray(gram(m, X, X)) for m in (small, large))
        np.testing.assert_allclose(padded, k, rtol=0, atol=1e-12)
        y = np.sin(9 * X[:, 0])
        density = [
            scipy.stats.multivariate_normal(np.zeros(40), m + 0.1 * np.eye(40)).logpdf(y)
            for m in (k, padded)
        ]
        np.testing.assert_allclose(density[1], density[0], rtol=1e-12)
        grads = jax.grad(lambda m: jnp.sum(m(X, X) ** 2))(large)
        assert all(np.isfinite(g).all() for g in jax.tree.leaves(grads))
        np.testing.assert_array_equal(grads.means[2:], 0.0)
        theta, weight = large.frequencies(jax.random.key(0), 8, 1)
        np.testing.assert_array_equal(weight[4:], 0.0)
        np.testing.assert_allclose(jnp.sum(weight), 1.0, rtol=1e-12)
        assert np.isfinite(theta).all()
