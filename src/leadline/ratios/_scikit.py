"""Classifiers of scikit-learn, and others with its interface: forests, boosted trees, any other.

Notation: `p(x)` the estimator's probability of label 1, kept away from 0 and 1 by 1e-6: a tree that
has seen one label only is sure of it.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, as_rows, is_traced
from leadline.numerics import generator
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._labeled import as_labeled

CLIP = 1e-6
# Rows are repeated at most so many times as there are rows.
_MOST_COPIES = 10


@dataclasses.dataclass(frozen=True)
class Scikit(Classifier):
    """A classifier with scikit-learn's `fit` and `predict_proba`.

    Each fit is of a fresh copy. Where the estimator says nothing about its `random_state`, the key
    decides.

    Weights are handed over if `fit` takes `sample_weight`. If not, rows are repeated in
    proportion to their weights: exactly if these are multiples of the smallest one and not too
    large, else as nearly as at most ten times as many rows allow.

    Attributes:
        estimator: the estimator, fitted or not.
    """

    name: ClassVar[str] = "scikit"

    estimator: Any

    def __post_init__(self):
        if isinstance(self.estimator, type):
            raise InvalidData(
                f"estimator must be an object, got the class {self.estimator.__name__}: call it."
            )
        if not is_probabilistic(self.estimator):
            raise InvalidData(
                "estimator must have `fit` and `predict_proba`, but "
                f"{type(self.estimator).__name__} has not. scikit-learn's CalibratedClassifierCV "
                "gives probabilities to classifiers that have none."
            )

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedScikit:
        """Fit a copy of the estimator. Labels of one class only make a constant."""
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        # Not every estimator takes a weight of 0 for no row at all.
        x, z, weight = as_labeled(x, z, weight).counted()
        z = z.astype(np.int64)
        random = generator(key)
        estimator: Any = clone(self.estimator, safe=False)
        _seed(estimator, random)
        weighs = {}
        if np.any(weight != weight[0]):
            if has_fit_parameter(estimator, "sample_weight"):
                weighs = {"sample_weight": weight}
            else:
                chosen = _repeated(weight, random)
                x, z = x[chosen], z[chosen]
        if np.all(z == z[0]):
            return FittedScikit(None, x.shape[1], float(z[0]))
        estimator.fit(x, z, **weighs)
        return FittedScikit(estimator, x.shape[1], 0.0)


class FittedScikit(FittedClassifier):
    """A fitted estimator.

    Attributes:
        estimator: it; None if all labels were the same.
        columns: of the rows it was fitted to.
        constant: the probability without an estimator.
    """

    traceable: ClassVar[bool] = False

    estimator: Any
    columns: int
    constant: float

    def logits(self, x: Any) -> Float[np.ndarray, " n"]:
        """The log odds of the estimator's probability."""
        if is_traced(x):
            raise Unsupported(
                "A scikit-learn classifier is not a JAX program: it has no gradient and cannot be "
                "compiled. Those with `traceable` can: networks, Gaussian processes, RuLSIF."
            )
        x = as_rows(x, columns=self.columns, minimum=0)
        if self.estimator is None:
            return logit(np.full(x.shape[0], self.constant))
        if x.shape[0] == 0:
            return np.zeros(0)
        place = list(self.estimator.classes_).index(1)
        return logit(np.asarray(self.estimator.predict_proba(x), np.float64)[:, place])


def forest(**settings: Any) -> Scikit:
    """A random forest (Breiman 2001) of 100 trees (Tiao 2023, section 5.E.1).

    `settings` are scikit-learn's.
    """
    try:
        from sklearn.ensemble import RandomForestClassifier
    except ImportError as error:
        raise ImportError("A forest needs scikit-learn: pip install 'leadline[trees]'.") from error

    return Scikit(RandomForestClassifier(**{"n_estimators": 100, **settings}))


def boosting(**settings: Any) -> Scikit:
    """Boosted trees (Chen and Guestrin 2016): 100 of depth 6 (Tiao 2023, section 5.E.2).

    `settings` are XGBoost's.
    """
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise ImportError("Boosted trees need XGBoost: pip install 'leadline[trees]'.") from error

    default = {
        "n_estimators": 100,
        "learning_rate": 0.3,
        "max_depth": 6,
        "min_child_weight": 1,
        # Data are small: more threads lose time, most of all beside other work.
        "n_jobs": 1,
    }
    return Scikit(XGBClassifier(**{**default, **settings}))


def is_probabilistic(estimator: Any) -> bool:
    """Whether it can be fitted and says probabilities."""
    return hasattr(estimator, "fit") and hasattr(estimator, "predict_proba")


def logit(p: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Log odds of probabilities that are first kept away from 0 and 1."""
    p = np.clip(p, CLIP, 1.0 - CLIP)
    return np.log(p) - np.log1p(-p)


def _seed(estimator: Any, random: np.random.Generator) -> None:
    """Set what the user has left to chance, also in estimators that this one is made of."""
    if not hasattr(estimator, "get_params"):
        return
    for name, value in sorted(estimator.get_params(deep=True).items(), key=lambda item: item[0]):
        if (name == "random_state" or name.endswith("__random_state")) and value is None:
            estimator.set_params(**{name: int(random.integers(2**31))})


def _repeated(weight: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Rows in proportion to their weights, by systematic resampling."""
    n, shares = weight.size, np.cumsum(weight) / np.sum(weight)
    size = int(np.clip(np.round(np.sum(weight) / np.min(weight)), n, _MOST_COPIES * n))
    places = (np.arange(size) + random.uniform()) / size
    return np.minimum(np.searchsorted(shares, places, side="right"), n - 1)
