"""The classifier with the lowest held-out loss."""

import jax
import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from leadline.boundary import InvalidData
from leadline.ratios import Best, RuLSIF, Scikit, fit

KEY = jax.random.key(0)
LINE, NEAREST = Scikit(LogisticRegression()), Scikit(KNeighborsClassifier(1))
CONSTANT = Scikit(DummyClassifier())


def _data(slope, n=300):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 1))
    return x, (rng.uniform(size=n) < 1.0 / (1.0 + np.exp(-slope * x[:, 0]))).astype(float)


def test_it_chooses_what_predicts():
    assert Best((CONSTANT, NEAREST, LINE)).choose(*_data(2.0), key=KEY) is LINE
    # Where there is nothing to learn, what learns by heart loses to what learns nothing.
    assert Best((NEAREST, CONSTANT)).choose(*_data(0.0), key=KEY) is CONSTANT
    # Negative control: on its own rows the first is perfect.
    x, z = _data(0.0)
    assert np.mean((np.asarray(NEAREST.fit(x, z, key=KEY).logits(x)) > 0) == z) == 1.0


def test_its_fit_is_that_of_the_choice():
    x, z = _data(2.0)
    found = Best((CONSTANT, LINE)).fit(x, z, key=KEY).logits(x)
    np.testing.assert_allclose(found, LINE.fit(x, z, key=KEY).logits(x))


def test_weights_count_in_the_loss():
    """A few rows that weigh nearly everything decide."""
    x, z = _data(2.0)
    noise = np.random.default_rng(1)
    x, z = np.concatenate([x, noise.normal(size=(60, 1))]), np.concatenate([z, np.tile([0, 1], 30)])
    weight = np.concatenate([np.full(300, 1e-9), np.ones(60)])
    choices = Best((LINE, CONSTANT))
    assert choices.choose(x, z, key=KEY) is LINE
    assert choices.choose(x, z, weight, key=KEY) is CONSTANT


def test_nothing_to_hold_out():
    assert Best((CONSTANT, LINE)).choose([[0.0], [1.0]], [0.0, 1.0], key=KEY) is CONSTANT
    assert Best((LINE,)).choose(*_data(2.0), key=KEY) is LINE


def test_as_a_classifier_of_ratios():
    rng = np.random.default_rng(0)
    x, y = rng.normal(1.0, 1.0, (400, 1)), rng.normal(0.0, 1.0, (400, 1))
    ratio = fit(x, y, Best((CONSTANT, RuLSIF(centers=20), LINE)))
    np.testing.assert_allclose(ratio.log_ratio([[0.0], [1.0]]), [-0.5, 0.5], atol=0.15)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"classifiers": ()}, "classifiers must be classifiers"),
        ({"classifiers": ("mlp",)}, "got .'mlp',.*as_classifier"),
        ({"classifiers": (LINE,), "folds": 1}, "folds must be at least 2"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(InvalidData, match=message):
        Best(**settings)
