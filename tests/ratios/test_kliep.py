"""KLIEP: optimality, its constraint, and its choice of bandwidth."""

import jax
import numpy as np
import pytest
from tests.ratios import toy

from leadline.boundary import InvalidData
from leadline.ratios import GENERATORS, KLIEP, fit

KEY = jax.random.key(0)


def _fitted(width=0.6, weight=None):
    top, bottom = toy.sample(30, 80, seed=2)
    x, z = np.concatenate([top, bottom]), np.repeat([1.0, 0.0], [30, 80])
    found = KLIEP(bandwidths=(width,)).fit(x, z, weight, key=KEY)
    phi, phi_ = (np.exp(-0.5 * (a - top.T) ** 2 / width**2) for a in (top, bottom))
    return found, phi, phi_


def test_coefficients_are_optimal():
    """The gradient of the bound of KL is 0 where coefficients are positive, else not positive."""
    found, phi, phi_ = _fitted()
    theta = found.coefficients
    unit = phi_.mean(axis=0)
    gradient = (np.mean(phi / (phi @ theta)[:, None], axis=0) - unit) / unit
    active = theta * unit > 1e-6
    assert 2 < np.sum(active) < 30
    np.testing.assert_allclose(gradient[active], 0.0, atol=1e-4)
    assert np.max(gradient) < 1e-4


def test_the_mean_of_the_ratio_is_1():
    found, _, phi_ = _fitted()
    assert np.mean(phi_ @ found.coefficients) == pytest.approx(1.0, abs=1e-10)


def test_no_other_ratio_has_a_larger_bound():
    found, phi, phi_ = _fitted()
    theta, kl = found.coefficients, GENERATORS["kl"]
    rng = np.random.default_rng(0)

    def bound(theta):
        return float(kl.bound(np.log(phi @ theta), np.log(phi_ @ theta)))

    best = bound(theta)
    for _ in range(20):
        assert bound(theta * np.exp(0.1 * rng.normal(size=30))) < best
        assert bound(theta + 0.01 * rng.uniform(size=30)) < best


def test_weights_are_repetitions():
    weight = np.random.default_rng(1).integers(1, 4, 110)
    top, bottom = toy.sample(30, 80, seed=2)
    x, z = np.concatenate([top, bottom]), np.repeat([1.0, 0.0], [30, 80])
    found, _, _ = _fitted(weight=weight.astype(float))
    one = KLIEP(centers=1000, bandwidths=(0.6,))
    repeated = one.fit(np.repeat(x, weight, axis=0), np.repeat(z, weight), key=KEY)
    np.testing.assert_allclose(found.logits(x), repeated.logits(x), atol=2e-3)


def test_toy():
    top, bottom = toy.sample(250, 750, seed=0)
    ratio = fit(top, bottom, KLIEP(centers=50))
    assert toy.relative_error(ratio, 0.25) < 0.05
    assert abs(toy.mode_of(ratio) - toy.MODE) < 0.4


def test_the_ratio_does_not_explode_on_few_rows():
    """Normal laws in five dimensions: a narrow bump is huge where no denominator row is near."""
    rng = np.random.default_rng(3)
    shift = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    x, y, new = (rng.normal(size=(n, 5)) for n in (50, 50, 2000))
    ratio = fit(x + shift, y, "kliep")
    assert np.mean(np.exp(ratio.log_ratio(new))) < 5.0
    # Negative control: the width that the likelihood of the numerator alone asks for.
    narrow = fit(x + shift, y, KLIEP(bandwidths=(0.3,)))
    assert np.mean(np.exp(narrow.log_ratio(new))) > 1e3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"centers": 0}, "centers must be at least 1"),
        ({"bandwidths": (-1.0,)}, "bandwidths must be positive"),
        ({"folds": 1}, "folds must be at least 2"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(InvalidData, match=message):
        KLIEP(**settings)
