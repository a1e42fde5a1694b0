"""Calibration: maps of log odds, learned from rows that were left out."""

import dataclasses
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import expit, logit
from tests.ratios.classifiers import data

from leadline.boundary import InvalidData
from leadline.ratios import MLP, Calibrated, Classifier, FittedClassifier, forest
from leadline.ratios._calibration import deal, isotonic, platt
from leadline.ratios._labeled import as_labeled

KEY = jax.random.key(0)


class FittedBoaster(FittedClassifier):
    factor: Any

    def logits(self, x):
        return self.factor * x[:, 0] + 1.0


@dataclasses.dataclass(frozen=True)
class Boaster(Classifier):
    """It knows the first column's log odds, and multiplies them."""

    name: ClassVar[str] = "boaster"
    factor: float = 5.0

    def fit(self, x, z, weight=None, *, key, state=None):
        return FittedBoaster(np.float64(self.factor))


class FittedMemory(FittedClassifier):
    rows: Any
    labels: Any

    def logits(self, x):
        match = np.all(x[:, None, :] == self.rows, axis=2)
        known = match.any(axis=1)
        return np.where(known, 8.0 * self.labels[match.argmax(axis=1)] - 4.0, 0.0)


@dataclasses.dataclass(frozen=True)
class Memory(Classifier):
    """It knows the rows that it has seen, and nothing else."""

    name: ClassVar[str] = "memory"

    def fit(self, x, z, weight=None, *, key, state=None):
        return FittedMemory(x, z)


def log_odds_data(n, seed=0):
    random = np.random.default_rng(seed)
    x = 2.0 * random.normal(size=(n, 1))
    return x, (random.uniform(size=n) < expit(x[:, 0])).astype(float)


@pytest.mark.parametrize("factor", [5.0, 0.2])
def test_platt_takes_back_what_was_exaggerated(factor):
    """n = 5000: the slope's standard error is 0.02 of it, the intercept's about 0.04 more."""
    x, z = log_odds_data(5000)
    found = Calibrated(Boaster(factor)).fit(x, z, key=KEY)
    assert found.calibration.slope * factor == pytest.approx(1.0, abs=0.12)
    query = np.linspace(-3.0, 3.0, 7)[:, None]
    np.testing.assert_allclose(found.logits(query), query[:, 0], atol=0.4)
    np.testing.assert_allclose(Boaster(5.0).fit(x, z, key=KEY).logits(query)[-1], 16.0)


def test_platt_is_the_maximum_of_the_smoothed_likelihood():
    random = np.random.default_rng(1)
    f, weight = 30.0 * random.normal(size=80) + 100.0, random.exponential(size=80)
    z = (random.uniform(size=80) < expit((f - 100.0) / 10.0)).astype(float)
    line = platt(f, z, weight)
    ones, zeros = weight @ z, weight @ (1 - z)
    t = np.where(z > 0.5, (ones + 1) / (ones + 2), 1 / (zeros + 2))
    left = weight * (expit(line(f)) - t)
    np.testing.assert_allclose([left.sum(), left @ (f - 100.0)], 0.0, atol=1e-7)


def test_platt_never_turns_log_odds_around():
    """Where log odds mislead, the map is level, at the log odds of the classes."""
    z = np.array([0.0] * 30 + [1.0] * 10)
    line = platt(-2.0 * z, z, np.ones(40))
    assert line.slope == 0.0
    np.testing.assert_allclose(line.intercept, np.log(11 / 31))


def test_platt_is_finite_where_classes_are_apart_or_log_odds_all_the_same():
    f, z, w = np.linspace(-5.0, 5.0, 20), (np.arange(20) >= 10).astype(float), np.ones(20)
    apart = platt(f, z, w)
    assert 0 < apart.slope < 100
    same = platt(np.full(20, 3.0), (np.arange(20) >= 5).astype(float), w)
    # 15 and 5 rows with one more of each, smoothed.
    smoothed = (15 * 16 / 17 + 5 * 1 / 7) / 20
    np.testing.assert_allclose(same(np.array([3.0])), logit(smoothed), rtol=1e-6)


def test_isotonic_is_the_best_increasing_map():
    """Pooled neighbors: no increasing values at the rows have less weighted squares."""
    random = np.random.default_rng(2)
    f, z, w = np.sort(random.normal(size=8)), np.array([0, 1, 0, 0, 1, 1, 0, 1.0]), np.ones(8)
    w[3] = 2.0
    found = expit(isotonic(f, z, w)(f))
    pooled = [0, 1 / 4, 1 / 4, 1 / 4, 2 / 3, 2 / 3, 2 / 3, 1]
    np.testing.assert_allclose(found, np.clip(pooled, 1e-6, 1 - 1e-6), rtol=1e-9)


@pytest.mark.parametrize("method", ["platt", "isotonic"])
def test_a_map_of_log_odds_traces(method):
    x, z = log_odds_data(300)
    found = Calibrated(Boaster(), method).fit(x, z, key=KEY)
    query = np.linspace(-3.0, 3.0, 9)[:, None]
    traced = jax.jit(lambda model, rows: model.logits(rows))(found, jnp.asarray(query))
    np.testing.assert_allclose(traced, found.logits(query), rtol=1e-9, atol=1e-12)


def test_what_was_seen_is_not_what_calibrates():
    """A memory is right about all that it has seen. Left out, it knows nothing: the slope is 0."""
    random = np.random.default_rng(3)
    x, z = random.normal(size=(200, 2)), (random.uniform(size=200) < 0.5).astype(float)
    found = Calibrated(Memory()).fit(x, z, key=KEY)
    assert np.abs(found.logits(x)).max() < 0.5
    assert np.abs(found.classifier.logits(x)).min() == 4.0


def test_copies_of_a_row_are_left_out_together():
    """Rows that count as both labels: the copy that is left would betray the other."""
    x, z = data(40)
    both = as_labeled(np.concatenate([x, x[z > 0.5]]), np.repeat([0.0, 1.0], [40, z.sum()]))
    fold = deal(both, 5, np.random.default_rng(0))
    np.testing.assert_array_equal(fold[40:], fold[:40][z > 0.5])


@pytest.mark.parametrize("rare", [2, 3, 17])
def test_a_part_of_each_class_is_in_every_fold(rare):
    z = (np.arange(60) < rare).astype(float)
    fold = deal(as_labeled(np.arange(60.0)[:, None], z), 5, np.random.default_rng(0))
    folds = min(5, rare)
    assert set(fold) == set(range(folds))
    for part in (fold[z == 1], fold[z == 0], fold):
        counts = np.bincount(part, minlength=folds)
        assert counts.max() - counts.min() <= 1
        assert counts.min() > 0


def test_with_one_row_of_a_class_nothing_is_calibrated():
    x, z = data(30)
    z = (np.arange(30) == 3).astype(float)
    plain = MLP((8,), steps=10).fit(x, z, key=KEY)
    found = Calibrated(MLP((8,), steps=10)).fit(x, z, key=KEY)
    np.testing.assert_allclose(found.logits(x), plain.logits(x), rtol=1e-12)


def test_calibration_mends_a_forest():
    """Mean log loss on new rows: that of a forest, whose leaves are sure, is the larger one."""
    x, z = log_odds_data(600, seed=4)
    new, labels = log_odds_data(4000, seed=5)

    def loss(classifier):
        f = classifier.fit(x, z, key=KEY).logits(new)
        return np.mean(np.logaddexp(0.0, f) - labels * f)

    own = loss(forest(n_estimators=30))
    for method in ("platt", "isotonic"):
        assert loss(Calibrated(forest(n_estimators=30), method, folds=3)) < 0.8 * own


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"classifier": "forrest"}, "Did you mean 'forest'"),
        ({"classifier": MLP(), "method": "plat"}, "Did you mean 'platt'"),
        ({"classifier": MLP(), "folds": 1}, "folds"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(InvalidData, match=message):
        Calibrated(**settings)
