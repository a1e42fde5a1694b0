"""Classifiers by name."""

import builtins
import json

import pytest
from sklearn.linear_model import LogisticRegression

from leadline.boundary import InvalidData
from leadline.ratios import (
    MLP,
    Best,
    Calibrated,
    Ensemble,
    GaussianProcess,
    Scikit,
    as_classifier,
    boosting,
    classifier_settings,
    forest,
)
from leadline.ratios._choices import NAMES


def test_names():
    assert as_classifier("mlp") == MLP()
    assert as_classifier("gp") == GaussianProcess()
    assert repr(as_classifier("forest")) == repr(forest())
    assert as_classifier("rulsif").name == "rulsif"


def test_a_classifier_is_itself():
    mine = MLP(hidden=(4,))
    assert as_classifier(mine) is mine


def test_a_scikit_learn_classifier_is_wrapped():
    estimator = LogisticRegression()
    found = as_classifier(estimator)
    assert isinstance(found, Scikit)
    assert found.estimator is estimator


def test_what_is_made_of_a_classifier_takes_its_name():
    assert Calibrated("mlp") == Calibrated(MLP())
    assert Ensemble("gp") == Ensemble(GaussianProcess())


@pytest.mark.parametrize(
    "classifier",
    [
        Best((MLP(), MLP(decay=0.1)), folds=2),
        Calibrated(Ensemble(MLP(hidden=(4, 4)), 3), "isotonic"),
        *(as_classifier(name) for name in NAMES if name not in ("forest", "boosting")),
    ],
    ids=lambda classifier: classifier.name,
)
def test_a_classifier_is_its_settings(classifier):
    settings = json.loads(json.dumps(classifier_settings(classifier)))
    assert as_classifier(settings) == classifier


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("forrest", "'boosting', 'forest'.*Did you mean 'forest'"),
        (3, "'mlp'.*scikit-learn, got 3"),
        (LogisticRegression, "call it"),
        ({"name": "mlp", "width": 3}, "no such settings"),
        ({"name": "else"}, "The name of a classifier must be one of"),
        ({"name": "scikit", "estimator": "os.system", "parameters": {}}, "sklearn or xgboost"),
        (
            {"name": "scikit", "estimator": "sklearn.show_versions", "parameters": {}},
            "not a classifier",
        ),
    ],
)
def test_an_error_says_what_there_is(value, message):
    with pytest.raises(InvalidData, match=message):
        as_classifier(value)


@pytest.mark.parametrize(("make", "package"), [(forest, "sklearn"), (boosting, "xgboost")])
def test_what_is_not_installed_is_named(make, package, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.split(".")[0] == package:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"pip install 'leadline\[trees\]'"):
        make()
