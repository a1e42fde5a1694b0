"""RuLSIF and uLSIF: the closed form, its constraint, its choices, and the toy."""

import jax
import numpy as np
import pytest
import scipy
from tests.ratios import toy

from leadline.boundary import InvalidData
from leadline.ratios import RuLSIF, fit, uLSIF

KEY = jax.random.key(0)
WIDTHS = (0.2, 0.35, 0.5, 0.8, 1.2)
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)


def _moments(top, bottom, centers, width, gamma):
    phi, phi_ = (np.exp(-0.5 * (x - centers.T) ** 2 / width**2) for x in (top, bottom))
    h = gamma * phi.T @ phi / len(top) + (1.0 - gamma) * phi_.T @ phi_ / len(bottom)
    return h, phi.mean(axis=0)


def _fitted(gamma, nonnegative, width=0.7, penalty=0.01):
    top, bottom = toy.sample(25, 60, seed=3)
    x, z = np.concatenate([top, bottom]), np.repeat([1.0, 0.0], [25, 60])
    estimator = RuLSIF(gamma, 100, (width,), (penalty,), nonnegative=nonnegative)
    moments = _moments(top, bottom, top, width, gamma)
    return estimator.fit(x, z, key=KEY), moments


@pytest.mark.parametrize("gamma", [0.0, 0.25, 0.6])
def test_closed_form(gamma):
    found, (matrix, vector) = _fitted(gamma, nonnegative=False)
    theta = np.linalg.solve(matrix + 0.01 * np.eye(25), vector)
    np.testing.assert_allclose(found.coefficients, theta, rtol=1e-8)
    assert np.min(theta) < 0.0


@pytest.mark.parametrize("gamma", [0.0, 0.25])
def test_nonnegative_coefficients_are_optimal(gamma):
    found, (matrix, vector) = _fitted(gamma, nonnegative=True)
    theta = found.coefficients
    gradient = (matrix + 0.01 * np.eye(25)) @ theta - vector
    assert np.min(theta) >= 0.0
    np.testing.assert_allclose(gradient[theta > 0], 0.0, atol=1e-10)
    assert np.min(gradient) > -1e-10


def test_the_constraint_changes_nothing_that_is_nonnegative():
    strong, (matrix, vector) = _fitted(0.25, nonnegative=True, penalty=100.0)
    theta = np.linalg.solve(matrix + 100.0 * np.eye(25), vector)
    np.testing.assert_allclose(strong.coefficients, theta, rtol=1e-8)


def test_log_odds_are_those_of_the_relative_ratio():
    gamma = 0.25
    found, _ = _fitted(gamma, nonnegative=True)
    x = np.linspace(-5.0, 4.0, 40)[:, None]
    r = np.exp(-0.5 * (x - found.centers.T) ** 2 / 0.7**2) @ found.coefficients
    assert np.max(gamma * r) < 0.99
    r0 = (1.0 - gamma) * r / (1.0 - gamma * r)
    np.testing.assert_allclose(found.logits(x), np.log(r0 * 25 / 60), rtol=1e-9)


def test_an_estimate_above_its_bound_goes_on_rising():
    top, bottom = toy.sample(25, 60, seed=3)
    ratio = fit(top, bottom, RuLSIF(0.25, bandwidths=(0.1,), penalties=(1e-9,)))
    x = toy.SEARCH
    rows = (x - ratio.location) / ratio.spread
    bumps = np.exp(-0.5 * (rows - ratio.fitted.centers.T) ** 2 / 0.1**2)
    r = bumps @ ratio.fitted.coefficients
    assert np.max(r) > 4.0
    # Log ratios keep the order of the estimate, and the relative ratio keeps its bound.
    order = np.argsort(r)
    assert np.all(np.diff(ratio.log_ratio(x)[order]) >= -1e-9)
    assert np.argmax(ratio.log_ratio(x)) == np.argmax(r)
    assert np.max(ratio.relative(x, 0.25)) <= 4.0


def test_the_share_of_the_numerator_is_the_default_gamma():
    """Then it is least squares regression of the labels: gamma r is the class probability."""
    top, bottom = toy.sample(25, 60, seed=3)
    x, z = np.concatenate([top, bottom]), np.repeat([1.0, 0.0], [25, 60])
    estimator = RuLSIF(bandwidths=(0.7,), penalties=(0.01,), nonnegative=False)
    found = estimator.fit(x, z, key=KEY)
    phi = np.exp(-0.5 * (x - top.T) ** 2 / 0.7**2)
    beta = np.linalg.solve(phi.T @ phi / 85 + 0.01 * np.eye(25), phi.T @ z / 85)
    rows = np.linspace(-4.0, -2.0, 9)[:, None]
    probability = np.exp(-0.5 * (rows - top.T) ** 2 / 0.7**2) @ beta
    assert 0.0 < probability.min() < probability.max() < 0.99
    np.testing.assert_allclose(scipy.special.expit(found.logits(rows)), probability, rtol=1e-7)


def test_weights_are_repetitions():
    top, bottom = toy.sample(20, 40, seed=4)
    x, z = np.concatenate([top, bottom]), np.repeat([1.0, 0.0], [20, 40])
    weight = np.random.default_rng(0).integers(1, 4, 60)
    # Repeated centers share a bump's coefficient, for which the penalty is smaller: none here.
    tiny = {"bandwidths": (0.7,), "penalties": (1e-9,)}
    weighted = RuLSIF(0.25, **tiny).fit(x, z, weight.astype(float), key=KEY)
    repeated = RuLSIF(0.25, 1000, **tiny).fit(
        np.repeat(x, weight, axis=0), np.repeat(z, weight), key=KEY
    )
    np.testing.assert_allclose(weighted.logits(x), repeated.logits(x), atol=1e-3)


def test_few_centers():
    top, bottom = toy.sample(200, 300, seed=5)
    ratio = fit(top, bottom, RuLSIF(centers=30))
    assert ratio.fitted.centers.shape == (30, 1)
    assert toy.relative_error(ratio, 0.25) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("nonnegative", [False, True])
def test_toy(nonnegative):
    """Check: tiao S2.7"""
    # The check's widths are in units of x; `fit` divides rows by their spread.
    for seed in range(10):
        top, bottom = toy.sample(500, 1500, seed)
        spread = np.concatenate([top, bottom]).std()
        widths = tuple(w / spread for w in WIDTHS)
        ratio = fit(top, bottom, RuLSIF(0.25, 100, widths, PENALTIES, 5, nonnegative), seed=seed)
        assert toy.relative_error(ratio, 0.25) <= 0.05
        assert abs(toy.mode_of(ratio) - toy.MODE) < 0.4
    ones = np.ones_like(toy.GRID)
    p, q = toy.numerator(toy.GRID), toy.denominator(toy.GRID)
    mixed = 0.25 * p + 0.75 * q
    assert toy.integral((ones - p / mixed) ** 2 * mixed) == pytest.approx(1.040, abs=1e-3)


def test_default_choices_on_the_toy():
    top, bottom = toy.sample(250, 750, seed=0)
    for estimator in (RuLSIF(0.25), uLSIF(), "rulsif"):
        ratio = fit(top, bottom, estimator)
        assert toy.relative_error(ratio, 0.25) < 0.08
        assert abs(toy.mode_of(ratio) - toy.MODE) < 0.4


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"gamma": 1.0}, "gamma must be at least 0 and below 1"),
        ({"gamma": -0.1}, "gamma must be at least 0 and below 1"),
        ({"centers": 0}, "centers must be at least 1"),
        ({"bandwidths": ()}, "bandwidths must be positive"),
        ({"bandwidths": (0.0,)}, "bandwidths must be positive"),
        ({"penalties": (0.0,)}, "penalties must be positive"),
        ({"folds": 1}, "folds must be at least 2"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(InvalidData, match=message):
        RuLSIF(**settings)
