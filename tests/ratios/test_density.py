"""The ratio of two kernel density estimates, and how it fails."""

import jax
import numpy as np
import pytest
import scipy
from tests.ratios import toy

from leadline.ratios import KernelDensity, fit

KEY = jax.random.key(0)


@pytest.mark.parametrize("columns", [1, 3])
def test_densities_are_those_of_scipy(columns):
    """SciPy's covariance is diagonal here only in one column: others are compared column-wise."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(50, columns)), rng.normal(1.0, 2.0, (70, columns))
    z = np.repeat([1.0, 0.0], [50, 70])
    found = KernelDensity().fit(np.concatenate([x, y]), z, key=KEY)
    query = rng.normal(size=(9, columns))

    def log_density(rows):
        n, d = rows.shape
        h = rows.std(axis=0, ddof=1) * (4.0 / ((d + 2.0) * n)) ** (1.0 / (d + 4.0))
        each = scipy.stats.norm.logpdf(query[:, None], rows, h).sum(axis=2)
        return scipy.special.logsumexp(each, axis=1) - np.log(n)

    wanted = log_density(x) - log_density(y) + np.log(50 / 70)
    np.testing.assert_allclose(found.logits(query), wanted, rtol=1e-9, atol=1e-9)
    if columns == 1:
        kde = scipy.stats.gaussian_kde(x[:, 0], "silverman")
        own = jax.jit(lambda f, q: f.numerator.log_density(q))(found, query)
        np.testing.assert_allclose(own, np.log(kde(query[:, 0])), rtol=1e-6)


def test_weights_are_repetitions_but_for_the_bandwidth():
    """Rows that count twice are one sample twice: densities differ by the bandwidth alone."""
    x = np.random.default_rng(0).normal(size=(40, 1))
    z = np.repeat([1.0, 0.0], 20)
    plain, twice = (KernelDensity().fit(x, z, w, key=KEY) for w in (None, np.full(40, 2.0)))
    np.testing.assert_allclose(plain.logits(x), twice.logits(x))


def test_its_mode_is_wrong():
    """Check: tiao S2.6, the negative control alone"""
    modes = [toy.mode_of(fit(*toy.sample(250, 750, seed), "kde")) for seed in range(20)]
    assert np.sum(np.array(modes[:10]) < -3.5) >= 8
    # The published mean is -3.88 with a standard deviation of 0.23, so 0.05 of the mean.
    assert np.mean(modes) == pytest.approx(-3.88, abs=0.2)
