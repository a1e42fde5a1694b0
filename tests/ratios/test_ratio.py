"""Ratios through class probabilities: corrections, relative ratios, errors."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.ratios import toy

import leadline as ll
from leadline.boundary import InvalidData
from leadline.ratios import RuLSIF, Scikit, fit, relative_ratio

LINE = np.array([[0.0], [1.0]])


def _unpenalized():
    return LogisticRegression(C=1e6, tol=1e-8)


def _line_of(function):
    at_0, at_1 = function(LINE)
    return at_0, at_1 - at_0


def _two_normals(n, share, seed):
    rng = np.random.default_rng(seed)
    first = round(n * share)
    return rng.normal(0.0, 1.0, (first, 1)), rng.normal(1.0, 1.0, (n - first, 1))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_imbalance_is_corrected(share):
    """Check: tiao S2.5"""
    x, y = _two_normals(20_000, share, seed=1)
    ratio = fit(x, y, _unpenalized())
    intercept, slope = _line_of(ratio.log_ratio)
    assert abs(intercept - 0.5) < 0.08
    assert abs(slope + 1.0) < 0.08
    # Negative control: log odds that are not corrected are off by those of the share.
    raw, _ = _line_of(lambda rows: ratio.fitted.logits((rows - ratio.location) / ratio.spread))
    assert raw - intercept == pytest.approx(np.log(share / (1.0 - share)), abs=1e-10)
    if share != 0.5:
        assert abs(raw - 0.5) > 1.0


def test_weights_are_part_of_the_balance():
    """A numerator that counts seven times gives the same ratio of a model that is exact."""
    x, y = _two_normals(20_000, 0.3, seed=2)
    plain = fit(x, y, _unpenalized())
    heavy = fit(x, y, _unpenalized(), weight_numerator=np.full(len(x), 7.0))
    np.testing.assert_allclose(heavy.log_ratio(LINE), plain.log_ratio(LINE), atol=0.08)
    assert heavy.log_prior_odds == pytest.approx(plain.log_prior_odds + np.log(7.0))


def test_weights_within_a_sample_tilt_it():
    """Rows of N(0, 1) with weights e^(x/2) are rows of N(1/2, 1)."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(20_000, 1)), rng.normal(size=(20_000, 1))
    ratio = fit(x, y, _unpenalized(), weight_numerator=np.exp(0.5 * x[:, 0]))
    intercept, slope = _line_of(ratio.log_ratio)
    assert abs(slope - 0.5) < 0.08
    assert abs(intercept + 0.125) < 0.08


def test_relative_ratio_of_the_toy():
    """Check: tiao S2.4"""
    p, q = toy.numerator(toy.GRID), toy.denominator(toy.GRID)
    g = toy.log_ratio(toy.GRID)
    for gamma in (0.0, 0.1, 0.25, 0.9):
        found = np.asarray(relative_ratio(g, gamma))
        np.testing.assert_allclose(found, p / (gamma * p + (1.0 - gamma) * q), rtol=1e-12)
        if gamma > 0:
            assert np.max(found) <= 1.0 / gamma
    np.testing.assert_allclose(relative_ratio(g, 0.0), np.exp(g), rtol=1e-12)


def test_relative_ratio_of_extreme_logarithms():
    g = np.array([-1e5, -800.0, 800.0, 1e5])
    np.testing.assert_array_equal(relative_ratio(g, 0.25), [0.0, 0.0, 4.0, 4.0])
    slopes = jax.vmap(jax.grad(lambda g: relative_ratio(g, 0.25)))(g)
    assert np.all(np.isfinite(slopes))


def test_one_argmax():
    """Check: tiao S2.8"""
    x, y = toy.sample(100, 300, seed=0)
    ratio = fit(x, y, "rulsif")
    best = np.argmax(ratio.log_ratio(toy.SEARCH))
    for gamma in (0.0, 0.25, 0.9):
        assert np.argmax(ratio.relative(toy.SEARCH, gamma)) == best
    rows = (toy.SEARCH - ratio.location) / ratio.spread
    assert np.argmax(jax.nn.sigmoid(ratio.fitted.logits(rows))) == best
    assert np.argmax(toy.log_ratio(toy.SEARCH)) == np.argmin(np.abs(toy.SEARCH - toy.MODE))


def test_units_do_not_matter():
    x, y = toy.sample(60, 100, seed=1)
    plain = fit(x, y, "rulsif").log_ratio(x)
    moved = fit(1e-6 * x + 3.0, 1e-6 * y + 3.0, "rulsif").log_ratio(1e-6 * x + 3.0)
    np.testing.assert_allclose(moved, plain, rtol=1e-4, atol=1e-4)


def test_a_constant_column_is_harmless():
    x, y = (np.hstack([a, np.full_like(a, 5.0)]) for a in toy.sample(60, 100, seed=1))
    assert np.all(np.isfinite(fit(x, y, "rulsif").log_ratio(x)))


def test_traces_where_the_classifier_does():
    x, y = toy.sample(60, 100, seed=1)
    ratio = fit(x, y, "rulsif")
    assert ratio.traceable
    eager = ratio.log_ratio(x[:5])
    np.testing.assert_allclose(jax.jit(lambda r, x: r.log_ratio(x))(ratio, x[:5]), eager)
    slope = jax.jit(jax.grad(lambda s: ratio.log_ratio(s[None, None])[0]))(jnp.array(0.5))
    h = 1e-5
    up, down = ratio.log_ratio([[0.5 + h], [0.5 - h]])
    assert float(slope) == pytest.approx((up - down) / (2 * h), rel=1e-5)
    share = jax.jit(lambda r, x: r.relative(x, 0.25))(ratio, x[:5])
    np.testing.assert_allclose(share, ratio.relative(x[:5], 0.25), rtol=1e-12)
    assert not fit(x, y, Scikit(LogisticRegression())).traceable


def test_same_seed_same_ratio():
    x, y = toy.sample(100, 300, seed=0)
    few = RuLSIF(centers=20)  # chosen at random
    first, again, other = (fit(x, y, few, seed=s).log_ratio(x) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


def test_empty_query_and_repr():
    x, y = toy.sample(30, 40, seed=0)
    ratio = ll.ratios.fit(x, y, "rulsif")
    assert ratio.log_ratio(np.zeros((0, 1))).shape == (0,)
    assert repr(ratio) == "Ratio(by Expansion, 30 numerator and 40 denominator rows)"


@pytest.mark.parametrize(
    ("x", "y", "settings", "message"),
    [
        (np.zeros((0, 2)), np.zeros((3, 2)), {}, "x_numerator must have at least 1 row"),
        (np.zeros((3, 2)), np.zeros((0, 2)), {}, "x_denominator must have at least 1 row"),
        (np.zeros((3, 2)), np.zeros((3, 1)), {}, "x_denominator must have 2 columns"),
        (np.zeros(3), np.zeros((3, 1)), {}, r"x_numerator.*x_numerator\[:, None\]"),
        ([[np.nan]], [[1.0]], {}, "x_numerator must be finite"),
        ([[1.0]], [[np.inf]], {}, "x_denominator must be finite"),
        ([[1.0]], [[2.0]], {"classifier": "forrest"}, "Did you mean 'forest'"),
        ([[1.0]], [[2.0]], {"seed": 2**70}, "seed must be a whole number, from 0 to 2"),
        ([[1.0]], [[2.0]], {"weight_numerator": [-1.0]}, "weight_numerator must not be negative"),
        ([[1.0]], [[2.0]], {"weight_denominator": [0.0]}, "positive for at least one row"),
        ([[1.0]], [[2.0]], {"weight_denominator": [1.0, 1.0]}, "2 values, but there are 1"),
    ],
)
def test_bad_data(x, y, settings, message):
    with pytest.raises(InvalidData, match=message):
        fit(x, y, **settings)


def test_bad_queries():
    x, y = toy.sample(30, 40, seed=0)
    ratio = fit(x, y, "kde")
    with pytest.raises(InvalidData, match="x must have 1 columns"):
        ratio.log_ratio(np.zeros((3, 2)))
    with pytest.raises(InvalidData, match="x must be finite"):
        ratio.log_ratio([[np.nan]])
    for gamma in (-0.1, 1.0, np.nan):
        with pytest.raises(InvalidData, match="gamma must be at least 0 and below 1"):
            ratio.relative(x, gamma)


@pytest.mark.slow
def test_network_against_densities():
    """Check: tiao S2.6"""
    networks, densities = [], []
    for seed in range(10):
        x, y = toy.sample(250, 750, seed)
        networks.append(toy.mode_of(fit(x, y, seed=seed)))
        densities.append(toy.mode_of(fit(x, y, "kde")))
    assert np.sum(np.abs(np.array(networks) - toy.MODE) < 0.6) >= 8, networks
    # Negative control: the mode of the ratio of densities is too far left.
    assert np.sum(np.array(densities) < -3.5) >= 8, densities


@pytest.mark.slow
@pytest.mark.parametrize("rows", [50, 1000])
def test_network_is_sober_on_few_rows_and_exact_on_many(rows):
    """Two normal laws in five dimensions: the log loss on new rows, less that of no knowledge."""
    rng = np.random.default_rng(7)
    shift = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    x, y, new_x, new_y = (rng.normal(size=(n, 5)) for n in (rows, rows, 20_000, 20_000))
    ratio = fit(x + shift, y)
    g, g_ = ratio.log_ratio(new_x + shift), ratio.log_ratio(new_y)
    gain = 2.0 * np.log(2.0) - np.mean(np.logaddexp(0.0, -g)) - np.mean(np.logaddexp(0.0, g_))
    # It is 0.222 for the ratio itself. Without a penalty 50 rows give -12.
    assert gain > (0.05 if rows == 50 else 0.2)
