"""What holds for every estimator of the ratio itself: they are classifiers."""

import jax
import numpy as np
import pytest
from tests.ratios import toy

from leadline.boundary import InvalidData
from leadline.ratios import (
    KLIEP,
    Expansion,
    KernelDensity,
    RuLSIF,
    Variational,
    as_classifier,
    fit,
    uLSIF,
)

DIRECT = {
    "rulsif": RuLSIF(),
    "rulsif, closed form": RuLSIF(gamma=0.25, nonnegative=False),
    "ulsif": uLSIF(),
    "kliep": KLIEP(),
    "kde": KernelDensity(),
    "variational": Variational("js", hidden=(16,), steps=100),
}
every_estimator = pytest.mark.parametrize("name", DIRECT)
every_quick_one = pytest.mark.parametrize("name", list(DIRECT)[:-1])
KEY = jax.random.key(0)
TOP, BOTTOM = toy.sample(60, 150, seed=5)
X = np.concatenate([TOP, BOTTOM]) / 2.0
Z = np.concatenate([np.ones(60), np.zeros(150)])
QUERY = np.linspace(-2.0, 2.0, 9)[:, None]


@pytest.fixture(scope="module")
def fitted():
    return {name: estimator.fit(X, Z, key=KEY) for name, estimator in DIRECT.items()}


@every_estimator
def test_it_learns(name, fitted):
    top, bottom = (rows / 2.0 for rows in toy.sample(1000, 1000, seed=6))
    even = np.log(60 / 150)  # log odds where the ratio is 1
    right = np.mean(fitted[name].logits(top) > even), np.mean(fitted[name].logits(bottom) < even)
    # Of the ratio itself 78 % are right.
    assert np.mean(right) > 0.72


@every_estimator
def test_log_odds_follow_the_prior(name, fitted):
    """Three times the weight of the numerator adds log 3 to log odds of the same ratio."""
    weight = np.where(Z == 1, 3.0, 1.0)
    heavy = DIRECT[name].fit(X, Z, weight, key=KEY).logits(QUERY)
    if name == "rulsif":  # its gamma is the prior
        assert np.all(heavy > fitted[name].logits(QUERY))
    else:
        found = heavy - fitted[name].logits(QUERY)
        np.testing.assert_allclose(found, np.log(3.0), rtol=1e-6)


@every_estimator
def test_rows_without_weight_say_nothing(name, fitted):
    x = np.concatenate([X, QUERY[:4]])
    z = np.concatenate([Z, [1.0, 0.0, 1.0, 0.0]])
    weight = np.concatenate([np.ones(len(Z)), np.zeros(4)])
    found = DIRECT[name].fit(x, z, weight, key=KEY).logits(QUERY)
    np.testing.assert_allclose(found, fitted[name].logits(QUERY), rtol=1e-9, atol=1e-9)


@every_estimator
def test_gradients(name, fitted):
    model, h = fitted[name], 1e-5
    total = jax.jit(jax.value_and_grad(lambda x, model: model.logits(x).sum()))
    value, gradient = total(QUERY, model)
    np.testing.assert_allclose(value, model.logits(QUERY).sum(), rtol=1e-9)
    differences = (model.logits(QUERY + h) - model.logits(QUERY - h)) / (2 * h)
    np.testing.assert_allclose(gradient[:, 0], differences, rtol=1e-5, atol=1e-6)


@every_estimator
def test_the_key_decides_everything(name, fitted):
    again = DIRECT[name].fit(X, Z, key=KEY).logits(QUERY)
    np.testing.assert_array_equal(again, fitted[name].logits(QUERY))


@every_estimator
def test_far_rows_have_finite_log_odds(name, fitted):
    far = np.array([[-300.0], [300.0]])
    assert np.all(np.isfinite(fitted[name].logits(far)))


@every_estimator
def test_both_labels_are_needed(name):
    for label in (0, 1):
        with pytest.raises(InvalidData, match=f"none of label {1 - label} counts"):
            DIRECT[name].fit(X, np.full(len(Z), float(label)), key=KEY)
    with pytest.raises(InvalidData, match="none of label 1 counts"):
        DIRECT[name].fit(X, Z, np.where(Z == 1, 0.0, 1.0), key=KEY)


@every_estimator
def test_bad_data(name):
    estimator = DIRECT[name]
    with pytest.raises(InvalidData, match="labels, 0 or 1"):
        estimator.fit(X, 2.0 * Z, key=KEY)
    with pytest.raises(InvalidData, match="must not be negative"):
        estimator.fit(X, Z, -np.ones(len(Z)), key=KEY)
    with pytest.raises(InvalidData, match="finite"):
        estimator.fit(np.full_like(X, np.nan), Z, key=KEY)
    with pytest.raises(InvalidData, match="columns"):
        estimator.fit(X, Z, key=KEY).logits(np.zeros((2, 3)))


@every_quick_one
def test_fewest_rows(name):
    """One row of each law, and rows that are all the same."""
    one = DIRECT[name].fit([[0.0], [1.0]], [1.0, 0.0], key=KEY)
    assert one.logits([[0.0]]) > one.logits([[1.0]])
    same = DIRECT[name].fit(np.zeros((6, 1)), [1.0, 0.0] * 3, key=KEY)
    assert np.isfinite(same.logits([[0.0]])).all()


@every_quick_one
def test_several_columns(name):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(80, 3)), rng.normal(size=(80, 3))
    x[:, 0] += 1.0
    ratio = fit(x, y, DIRECT[name])
    assert np.corrcoef(ratio.relative(y, 0.5), y[:, 0])[0, 1] > 0.6


@pytest.mark.parametrize("name", ["rulsif", "ulsif", "kliep", "kde"])
def test_names(name):
    assert as_classifier(name).name == name


@pytest.mark.parametrize("name", ["rulsif", "ulsif", "kliep"])
def test_mean_shift_never_descends(name, fitted):
    model = fitted[name]
    assert isinstance(model, Expansion)
    x = np.linspace(-4.0, 4.0, 33)[:, None]
    before = model.logits(x)
    for _ in range(30):
        x = model.mean_shift(x)
        after = model.logits(x)
        assert np.all(after >= before - 1e-12)
        before = after
    end = model.mean_shift(x, steps=1000)
    slopes = jax.jit(jax.grad(lambda x: model.logits(x).sum()))(end)
    np.testing.assert_allclose(slopes, 0.0, atol=1e-4)
    # The best end is the mode of the ratio, which all starts near it have found.
    grid = np.linspace(-3.0, 3.0, 6001)[:, None]
    assert np.max(model.logits(end)) >= np.max(model.logits(grid)) - 1e-6


def test_mean_shift_is_one_program_and_many(fitted):
    model, x = fitted["rulsif"], QUERY
    thrice = model.mean_shift(model.mean_shift(model.mean_shift(x)))
    np.testing.assert_allclose(model.mean_shift(x, steps=3), thrice, rtol=1e-12)
    traced = jax.jit(lambda model, x: model.mean_shift(x, 3))(model, x)
    np.testing.assert_allclose(traced, thrice, rtol=1e-12)
    far = model.mean_shift(np.array([[1e3]]))
    assert model.centers.min() <= far[0, 0] <= model.centers.max()


def test_the_closed_form_has_no_mean_shift(fitted):
    assert not hasattr(fitted["rulsif, closed form"], "mean_shift")
