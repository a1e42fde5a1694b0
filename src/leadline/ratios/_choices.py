"""Classifiers by name, and what says everything about one in JSON."""

from __future__ import annotations

import dataclasses
import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from leadline.boundary import InvalidData, as_choice
from leadline.ratios._classifier import Classifier
from leadline.ratios._direct import KLIEP, KernelDensity, RuLSIF, uLSIF
from leadline.ratios._gaussian_process import GaussianProcess
from leadline.ratios._networks import MLP, SGHMC, Dropout, Laplace, Variational
from leadline.ratios._scikit import Scikit, boosting, forest, is_probabilistic

_KINDS: dict[str, type[Classifier]] = {
    kind.name: kind
    for kind in (
        Dropout,
        GaussianProcess,
        KernelDensity,
        KLIEP,
        Laplace,
        MLP,
        RuLSIF,
        SGHMC,
        Variational,
        uLSIF,
    )
}

NAMES: dict[str, Callable[[], Classifier]] = {"boosting": boosting, "forest": forest, **_KINDS}

# Settings name a class, and a file of settings must not be able to import anything else.
_PACKAGES = ("sklearn", "xgboost")


def as_classifier(value: Any) -> Classifier:
    """A classifier, from itself, its name, its settings, or a scikit-learn classifier.

    Args:
        value: a `Classifier`; a name from `NAMES`, such as "mlp", "forest", "boosting", "gp" or
            "rulsif"; what `classifier_settings` has said about one; or an object with
            scikit-learn's `fit` and `predict_proba`.
    """
    if isinstance(value, Classifier):
        return value
    if isinstance(value, str):
        return NAMES[as_choice(value, tuple(NAMES), "classifier")]()
    if isinstance(value, Mapping):
        return _from_settings(value)
    if is_probabilistic(value) or hasattr(value, "get_params"):
        return Scikit(value)
    names = ", ".join(map(repr, NAMES))
    raise InvalidData(
        f"classifier must be one of {names}, a classifier of leadline.ratios, or one of "
        f"scikit-learn, got {value!r}."
    )


def classifier_settings(classifier: Classifier) -> dict[str, Any]:
    """All that a classifier is, as JSON values."""
    if isinstance(classifier, Scikit):
        return {"name": classifier.name, **_estimator_settings(classifier.estimator)}
    fields = {f.name: getattr(classifier, f.name) for f in dataclasses.fields(classifier)}
    return {"name": classifier.name, **{name: _plain(v) for name, v in fields.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, Classifier):
        return classifier_settings(value)
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _rich(value: Any) -> Any:
    if isinstance(value, Mapping):
        return as_classifier(value)
    return tuple(_rich(v) for v in value) if isinstance(value, list) else value


def _estimator_settings(estimator: Any) -> dict[str, Any]:
    kind = type(estimator)
    found = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    parameters = {name: _shown(value) for name, value in found.items()}
    return {"estimator": f"{kind.__module__}.{kind.__qualname__}", "parameters": parameters}


def _from_settings(settings: Mapping[str, Any]) -> Classifier:
    kinds = {**_KINDS, **_made_of_others()}
    fields = dict(settings)
    known = (*kinds, Scikit.name)
    name = as_choice(fields.pop("name", None), known, "The name of a classifier")
    if name == Scikit.name:
        return _from_estimator_settings(**fields)
    try:
        return kinds[name](**{field: _rich(value) for field, value in fields.items()})
    except TypeError as error:
        raise InvalidData(f"The classifier {name!r} has no such settings: {error}.") from error


def _made_of_others() -> dict[str, type[Classifier]]:
    """Classifiers that are made of others: they call `as_classifier` themselves."""
    from leadline.ratios._best import Best
    from leadline.ratios._calibration import Calibrated
    from leadline.ratios._ensemble import Ensemble

    return {kind.name: kind for kind in (Best, Calibrated, Ensemble)}


def _from_estimator_settings(estimator: str, parameters: Mapping[str, Any]) -> Scikit:
    module, _, kind = estimator.rpartition(".")
    if module.split(".")[0] not in _PACKAGES:
        raise InvalidData(
            f"A classifier of class {estimator} cannot be made from its settings, only one of "
            f"{' or '.join(_PACKAGES)}: pass the classifier itself."
        )
    cls: Any = getattr(importlib.import_module(module), kind, None)
    if not (isinstance(cls, type) and is_probabilistic(cls)):
        raise InvalidData(f"{estimator} is not a classifier with probabilities.")
    try:
        made: Any = cls()
    except TypeError as error:  # it is made of other estimators
        raise _not_plain(kind) from error
    now = made.get_params(deep=False)
    made.set_params(**{k: v for k, v in parameters.items() if v != _shown(now.get(k))})
    found = Scikit(made)
    if classifier_settings(found)["parameters"] != dict(parameters):
        raise _not_plain(kind)
    return found


def _not_plain(kind: str) -> InvalidData:
    return InvalidData(
        f"The settings of this {kind} are not all plain values: pass the classifier itself."
    )


def _shown(value: Any) -> Any:
    """A parameter as settings show it: a JSON value, or else its text."""
    try:
        # XGBoost's mark for a missing value is NaN, which JSON does not know.
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return repr(value)
