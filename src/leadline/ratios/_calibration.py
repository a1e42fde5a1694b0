"""Calibration: an increasing map from a classifier's log odds to probabilities that come true.

Notation: `f_i` the log odds at row i of a classifier that was fitted without it, labels `z_i`,
weights `w_i`.

    Platt:     p = sigmoid(a f + b), a and b by maximum likelihood of smoothed labels
    isotonic:  p = the best step-wise increasing function of f, in weighted squares

The f_i come from `folds` fits, each without a part of the rows; what is asked later is the map of
a classifier that was fitted to all of them. Copies of a row are left out together: a classifier
that has seen one of them knows the others. An isotonic map has as many degrees of freedom as the
data want, and needs about a thousand rows to be better than none (Tiao 2023, section 5.5.5).
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_choice, is_traced
from leadline.numerics import generator
from leadline.ratios._choices import as_classifier
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._labeled import Labeled, as_labeled
from leadline.ratios._scikit import CLIP, logit

METHODS = ("platt", "isotonic")

_STEPS, _TOLERANCE = 100, 1e-10


@dataclasses.dataclass(frozen=True)
class Calibrated(Classifier):
    """A classifier whose probabilities are corrected by what it says about rows left out.

    With fewer than two different rows of a class there is nothing to leave out, and the log odds
    are the classifier's own.

    Attributes:
        classifier: the classifier, or what `as_classifier` makes one of.
        method: "platt" (Platt 1999) or "isotonic" (Zadrozny and Elkan 2002).
        folds: into how many parts the rows are dealt; a part of each class is in every fold.
    """

    name: ClassVar[str] = "calibrated"

    classifier: Any
    method: str = "platt"
    folds: int = 5

    def __post_init__(self):
        object.__setattr__(self, "classifier", as_classifier(self.classifier))
        as_choice(self.method, METHODS, "method")
        if self.folds < 2:
            raise InvalidData(f"folds must be at least 2, got {self.folds}.")

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        *,
        key: Array,
        state: State | None = None,
    ) -> FittedCalibrated:
        """Fit the classifier to all rows and without each fold, and then the map.

        Fits without a fold start anew: what an earlier fit has learned may know the rows left out.
        """
        data = as_labeled(x, z, weight).counted()
        inner = self.classifier.fit(*data, key=key, state=state)
        fold = deal(data, self.folds, generator(key))
        if fold is None:
            return FittedCalibrated(inner, Line(0.0, 1.0))
        f = np.empty(data.z.size)
        for k in range(int(fold.max()) + 1):
            out = fold == k
            part = Labeled(*(a[~out] for a in data))
            left = self.classifier.fit(*part, key=jax.random.fold_in(key, k))
            f[out] = np.asarray(left.logits(data.x[out]))
        learn = platt if self.method == "platt" else isotonic
        return FittedCalibrated(inner, learn(f, data.z, data.weight))


class Line(eqx.Module):
    """Platt's map: the calibrated log odds are a line in the classifier's."""

    intercept: Any
    slope: Any

    def __call__(self, f: Float[Any, " n"]) -> Float[Any, " n"]:
        """Calibrated log odds."""
        return self.intercept + self.slope * f


class Steps(eqx.Module):
    """The isotonic map: linear between the log odds `at`, where it takes values `probability`."""

    at: Float[Any, " k"]
    probability: Float[Any, " k"]

    def __call__(self, f: Float[Any, " n"]) -> Float[Any, " n"]:
        """Calibrated log odds."""
        if not is_traced(self, f):
            return logit(np.interp(np.asarray(f), self.at, self.probability))
        p = jnp.clip(jnp.interp(f, self.at, self.probability), CLIP, 1.0 - CLIP)
        return jnp.log(p) - jnp.log1p(-p)


class FittedCalibrated(FittedClassifier):
    """A classifier, fitted to all rows, and the map of its log odds."""

    classifier: FittedClassifier
    calibration: Line | Steps

    @property
    def traceable(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Whether the classifier is."""
        return self.classifier.traceable

    def logits(self, x: Any) -> Float[Any, " n"]:
        """The log odds of the calibrated probability."""
        return self.calibration(self.classifier.logits(x))

    def state(self) -> State:
        """The state of the classifier that was fitted to all rows."""
        return self.classifier.state()


def deal(data: Labeled, folds: int, random: np.random.Generator) -> np.ndarray | None:
    """The fold of each row: each class in equal parts, copies of a row in the same fold.

    None if any class has fewer than two different rows.
    """
    rows, row = np.unique(data.x, axis=0, return_inverse=True)
    row = row.reshape(-1)
    positive, negative = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    positive[row[data.z == 1]] = True
    negative[row[data.z == 0]] = True
    fewest = min(positive.sum(), negative.sum())
    if fewest < 2:
        return None
    fold = np.empty(len(rows), int)
    # The rarer class is dealt first, and the rest of the rows go on where it has ended.
    rare = positive if positive.sum() <= negative.sum() else negative
    order = np.concatenate([random.permutation(np.flatnonzero(c)) for c in (rare, ~rare)])
    fold[order] = np.arange(len(rows)) % min(folds, fewest)
    return fold[row]


def platt(
    f: Float[np.ndarray, " n"], z: Float[np.ndarray, " n"], weight: Float[np.ndarray, " n"]
) -> Line:
    """The intercept b and the slope a of Platt's map, by Newton's method.

    A class of weight W counts as if one more row had said otherwise: its labels are
    (W + 1) / (W + 2), or 1 / (W + 2) (Platt 1999, eq. 15), so that the slope is finite where the
    classes are apart. Log odds that mislead on held-out rows say nothing: a map never falls.
    """
    ones, zeros = weight @ z, weight @ (1.0 - z)
    t = np.where(z > 0.5, (ones + 1.0) / (ones + 2.0), 1.0 / (zeros + 2.0))
    unit = max(float(np.std(f)), 1e-12)
    basis = np.stack([np.ones_like(f), f / unit], axis=1)

    def loss(theta):
        g = basis @ theta
        return weight @ (np.logaddexp(0.0, g) - t * g)

    level = np.array([np.log((ones + 1.0) / (zeros + 1.0)), 0.0])
    theta = level
    for _ in range(_STEPS):
        p = 1.0 / (1.0 + np.exp(-np.clip(basis @ theta, -500.0, 500.0)))
        gradient = basis.T @ (weight * (p - t))
        hessian = (basis * (weight * p * (1.0 - p))[:, None]).T @ basis
        # Log odds that are all the same say nothing about the slope.
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0]
        now, length = loss(theta), 1.0
        while loss(theta - length * step) > now and length > 1e-9:
            length *= 0.5
        theta = theta - length * step
        if gradient @ step <= _TOLERANCE * (1.0 + abs(now)):
            break
    if theta[1] < 0.0:
        theta = level
    return Line(theta[0], theta[1] / unit)


def isotonic(
    f: Float[np.ndarray, " n"], z: Float[np.ndarray, " n"], weight: Float[np.ndarray, " n"]
) -> Steps:
    """The increasing map of least weighted squares."""
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError as error:
        raise ImportError(
            "Isotonic calibration needs scikit-learn: pip install 'leadline[trees]'."
        ) from error

    fitted: Any = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    fitted.fit(f, z, sample_weight=weight)
    return Steps(np.asarray(fitted.X_thresholds_), np.asarray(fitted.y_thresholds_))
