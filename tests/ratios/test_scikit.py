"""Classifiers of scikit-learn and XGBoost behind the contract."""

import jax
import numpy as np
import pytest
from scipy.special import logit
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from tests.ratios.classifiers import data

from leadline.boundary import InvalidData
from leadline.ratios import Scikit, boosting, forest
from leadline.ratios._scikit import _repeated

KEY = jax.random.key(0)
X, Z = data(60)
QUERY = np.random.default_rng(1).uniform(-1.0, 1.0, (20, 2))


def test_log_odds_are_those_of_the_estimator():
    own = LogisticRegression(C=3.0).fit(X, Z.astype(int))
    found = Scikit(LogisticRegression(C=3.0)).fit(X, Z, key=KEY)
    np.testing.assert_allclose(found.logits(QUERY), own.decision_function(QUERY), rtol=1e-9)


def test_weights_are_handed_over():
    weight = np.random.default_rng(2).exponential(size=60)
    own = LogisticRegression().fit(X, Z.astype(int), sample_weight=weight)
    found = Scikit(LogisticRegression()).fit(X, Z, weight, key=KEY)
    np.testing.assert_allclose(found.logits(QUERY), own.decision_function(QUERY), rtol=1e-9)


@pytest.mark.parametrize("unit", [1.0, 0.3])
def test_without_weights_rows_are_repeated(unit):
    """Exactly, where the weights are multiples of the smallest one."""
    weight = np.random.default_rng(3).integers(1, 4, 60)
    weight[0] = 1
    rows = np.repeat(np.arange(60), weight)
    for estimator in (
        KNeighborsClassifier(7),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ):
        found = Scikit(estimator).fit(X, Z, unit * weight, key=KEY)
        repeated = Scikit(estimator).fit(X[rows], Z[rows], key=KEY)
        np.testing.assert_allclose(found.logits(QUERY), repeated.logits(QUERY), rtol=1e-7)


def test_without_weights_rows_are_drawn_in_proportion():
    """Where the weights are no multiples of the smallest one."""
    weight = np.random.default_rng(4).exponential(size=60)
    chosen = _repeated(weight, np.random.default_rng(0))
    share = np.bincount(chosen, minlength=60) / len(chosen)
    # Systematic: a row comes at most once more or less often than its weight says.
    assert np.all(np.abs(share - weight / weight.sum()) * len(chosen) < 1.0)
    assert len(chosen) == 600


def test_a_class_too_light_to_be_drawn_is_no_class():
    weight = np.where(Z > 0.5, 1e-9, 1.0)
    found = Scikit(KNeighborsClassifier(3)).fit(X, Z, weight, key=KEY)
    np.testing.assert_allclose(found.logits(QUERY), logit(1e-6))


def test_probabilities_are_kept_from_zero_and_one():
    found = forest(n_estimators=3).fit(X, Z, key=KEY).logits(X)
    assert np.abs(found).max() == pytest.approx(logit(1 - 1e-6))


def test_one_class_is_a_constant_of_that_size():
    for label, sign in ((0.0, -1.0), (1.0, 1.0)):
        found = forest().fit(X, np.full(60, label), key=KEY).logits(QUERY)
        np.testing.assert_allclose(found, sign * logit(1 - 1e-6))


def test_a_class_without_weight_is_no_class():
    found = Scikit(LogisticRegression()).fit(X, Z, Z, key=KEY).logits(QUERY)
    np.testing.assert_allclose(found, logit(1 - 1e-6))


def test_the_key_decides_what_the_user_leaves_open():
    small = forest(n_estimators=10)
    one, other = (small.fit(X, Z, key=jax.random.key(s)).logits(QUERY) for s in (0, 1))
    assert not np.array_equal(one, other)
    mine = forest(n_estimators=10, random_state=5)
    one, other = (mine.fit(X, Z, key=jax.random.key(s)).logits(QUERY) for s in (0, 1))
    np.testing.assert_array_equal(one, other)


def test_chance_inside_a_pipeline_is_decided_too():
    inner = make_pipeline(StandardScaler(), RandomForestClassifier(10))
    one, other = (Scikit(inner).fit(X, Z, key=KEY).logits(QUERY) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_the_users_estimator_is_not_touched():
    estimator = RandomForestClassifier(5)
    Scikit(estimator).fit(X, Z, key=KEY)
    assert not hasattr(estimator, "classes_")
    assert estimator.random_state is None


def test_a_forest_has_the_usual_settings():
    settings = forest().estimator.get_params()
    assert settings["n_estimators"] == 100
    assert settings["min_samples_split"] == 2
    assert settings["max_depth"] is None
    assert repr(forest()) == "Scikit(estimator=RandomForestClassifier())"


def test_a_class_is_not_an_estimator():
    with pytest.raises(InvalidData, match="call it"):
        Scikit(LogisticRegression)


def test_probabilities_are_needed():
    with pytest.raises(InvalidData, match=r"LinearSVC has not.*CalibratedClassifierCV"):
        Scikit(LinearSVC())


def test_boosted_trees():
    pytest.importorskip("xgboost", reason="XGBoost is not installed")
    classifier = boosting()
    settings = classifier.estimator.get_params()
    wanted = {"n_estimators": 100, "learning_rate": 0.3, "max_depth": 6, "min_child_weight": 1}
    assert {name: settings[name] for name in wanted} == wanted
    found = classifier.fit(X, Z, key=KEY)
    assert found.logits(QUERY).dtype == np.float64
    new, labels = data(500, seed=2)
    assert np.mean((found.logits(new) > 0) == labels) > 0.8
    weight = np.random.default_rng(3).integers(1, 3, 60)
    rows = np.repeat(np.arange(60), weight)
    heavy = classifier.fit(X, Z, weight, key=KEY).logits(QUERY)
    repeated = classifier.fit(X[rows], Z[rows], key=KEY).logits(QUERY)
    np.testing.assert_allclose(heavy, repeated, rtol=1e-3, atol=1e-3)
