"""The scikit-learn estimators pass scikit-learn's own checks, and say what the models say."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import leadline as ll
from leadline import kernels as k
from leadline.integrations.sklearn import GPRegressor

N = 30
RNG = np.random.default_rng(0)
X, XS = RNG.uniform(size=(N, 2)), RNG.uniform(size=(6, 2))
Y = np.sin(6.0 * X[:, 0]) + X[:, 1]


# Learning compiles for every shape of data, and the checks have a dozen: without it they are fast.
KNOWN = GPRegressor(k.Matern52(ll.fixed(1.0)), noise=ll.fixed(1e-2), mean=ll.fixed(0.0))


@parametrize_with_checks([KNOWN])
def test_estimator_checks_with_nothing_to_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([GPRegressor()])
def test_estimator_checks(estimator, check):
    check(estimator)


def test_predictions_are_those_of_the_model():
    model = GPRegressor(random_state=0).fit(X, Y)
    post = ll.GP(1.0 * k.Matern52([1.0, 1.0])).fit(X, Y)
    wanted = post.predict(XS)
    np.testing.assert_array_equal(model.predict(XS), wanted.mean)
    mean, std = model.predict(XS, return_std=True)
    np.testing.assert_array_equal(mean, wanted.mean)
    np.testing.assert_array_equal(std, wanted.std)
    mean, cov = model.predict(XS, return_cov=True)
    np.testing.assert_array_equal(cov, post.joint(XS).cov)
    assert model.log_marginal_likelihood_value_ == float(post.log_evidence)
    assert model.noise_ == float(post.gp.noise)
    assert repr(model.kernel_) == repr(post.gp.kernel)
    assert model.score(X, Y) > 0.99
    with pytest.raises(ValueError, match="either deviations or covariances"):
        model.predict(XS, return_std=True, return_cov=True)


def test_settings_reach_the_model():
    kernel = 2.0 * k.Matern52(ll.fixed([0.5, 0.7]))
    model = GPRegressor(
        kernel, noise=ll.fixed(0.1), mean=ll.fixed(1.0), priors=None, restarts=2, random_state=1
    )
    copy = clone(model)
    copy.fit(X, Y)
    np.testing.assert_array_equal(copy.kernel_.kernel.lengthscale, [0.5, 0.7])
    assert copy.noise_ == 0.1
    assert float(copy.posterior_.gp.mean.value) == 1.0
    assert not hasattr(model, "posterior_")
    with pytest.raises(ll.InvalidData, match="priors must be one of"):
        GPRegressor(priors="none").fit(X, Y)


def test_draws():
    """(m, n) as scikit-learn has it; moments within four standard errors."""
    model = GPRegressor(random_state=0).fit(X, Y)
    draws = model.sample_y(XS, 5000, random_state=1)
    assert draws.shape == (6, 5000)
    mean, std = model.predict(XS, return_std=True)
    assert np.max(np.abs(draws.mean(axis=1) - mean) / std) < 4.0 / np.sqrt(5000)
    np.testing.assert_array_equal(draws, model.sample_y(XS, 5000, random_state=1))
    with pytest.raises(NotFittedError):
        GPRegressor().sample_y(XS)


def test_inside_scikit_learns_tools():
    """Pipelines, cross-validation and grids over kernels."""
    pipeline = make_pipeline(StandardScaler(), GPRegressor())
    assert np.min(cross_val_score(pipeline, X, Y, cv=3)) > 0.8
    kernels = [1.0 * k.Matern52([1.0, 1.0]), 1e-3 * k.Matern52(ll.fixed([100.0, 100.0]))]
    grid = GridSearchCV(GPRegressor(), {"kernel": kernels}, cv=3).fit(X, Y)
    assert grid.best_params_["kernel"] is kernels[0]


def test_names_of_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = GPRegressor().fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    np.testing.assert_allclose(model.predict(frame), GPRegressor().fit(X, Y).predict(X), atol=1e-6)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["b", "a"]])


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "leadline.integrations.sklearn")
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(ImportError, match=r"pip install 'leadline\[sklearn\]'"):
        importlib.import_module("leadline.integrations.sklearn")
