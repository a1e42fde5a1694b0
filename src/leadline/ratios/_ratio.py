"""Density ratios from samples of both laws, through class probabilities.

Notation: numerator law l and denominator law g, known by rows of each; `r_0 = l / g`; pi(x) the
probability that a row at x is of the numerator, where a share beta of the (weighted) rows is.

    log r_0(x) = log(pi / (1 - pi)) - log(beta / (1 - beta))
    r_gamma(x) = l / (gamma l + (1 - gamma) g) = 1 / (gamma + (1 - gamma) / r_0(x)) <= 1 / gamma

(Tiao 2023, eq. 5.1 and section 5.B). The correction by beta is what makes unequal numbers of rows,
or weights, harmless.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_rows, as_seed, as_weights, is_traced
from leadline.ratios._best import Best
from leadline.ratios._choices import as_classifier
from leadline.ratios._classifier import Classifier, FittedClassifier
from leadline.ratios._networks import MLP


class Ratio(eqx.Module):
    """A density ratio that was learned.

    Attributes:
        fitted: the classifier that knows it, on standardized rows.
        location: what is subtracted from rows.
        spread: what rows are then divided by.
        log_prior_odds: the part of the classifier's log odds that is due to the numbers of rows.
        rows: how many rows of the numerator and of the denominator it was learned from.
    """

    fitted: FittedClassifier
    location: Float[Any, " d"]
    spread: Float[Any, " d"]
    log_prior_odds: Float[Any, ""]
    rows: tuple[int, int] = eqx.field(static=True)

    @property
    def traceable(self) -> bool:
        """Whether its methods are JAX programs, which have gradients."""
        return self.fitted.traceable

    def log_ratio(self, x: Any) -> Float[Array | np.ndarray, " m"]:
        """The logarithm of numerator over denominator at the rows of `x (m, d)`."""
        if is_traced(self, x):
            return self.fitted.logits((x - self.location) / self.spread) - self.log_prior_odds
        x = as_rows(x, columns=len(self.location), minimum=0)
        logits = self.fitted.logits((x - self.location) / self.spread)
        return np.asarray(logits, dtype=np.float64) - float(self.log_prior_odds)

    def relative(self, x: Any, gamma: Any) -> Float[Array | np.ndarray, " m"]:
        """Numerator over the mixture of a share `gamma` of the numerator with the denominator.

        It is at most 1 / gamma. `gamma=0` gives the ordinary ratio, which has no bound.
        """
        log_ratio = self.log_ratio(x)
        if is_traced(log_ratio, gamma):
            return relative_ratio(log_ratio, gamma)
        if not 0.0 <= gamma < 1.0:
            raise InvalidData(f"gamma must be at least 0 and below 1, got {gamma}.")
        return np.asarray(_relative_jit(log_ratio, float(gamma)))

    def __repr__(self) -> str:
        n, m = self.rows
        return f"Ratio(by {type(self.fitted).__name__}, {n} numerator and {m} denominator rows)"


def relative_ratio(log_ratio: Float[Any, "*shape"], gamma: Any) -> Float[Array, "*shape"]:
    """The gamma-relative ratio h_gamma(r_0), from log r_0 of any size."""
    # -log(gamma + (1 - gamma) / r_0), in which neither term can overflow.
    return jnp.exp(-jnp.logaddexp(jnp.log(gamma), jnp.log1p(-gamma) - log_ratio))


_relative_jit = jax.jit(relative_ratio)


def fit(
    x_numerator: Any,
    x_denominator: Any,
    classifier: Any = "mlp",
    *,
    weight_numerator: Any = None,
    weight_denominator: Any = None,
    seed: int = 0,
) -> Ratio:
    """Learn the ratio of two densities from samples of each.

    Args:
        x_numerator: rows (n, d) of the numerator's law.
        x_denominator: rows (m, d) of the denominator's law.
        classifier: what tells them apart, by name or as an object, a scikit-learn classifier
            included. "mlp" is a network whose penalty is chosen by held-out loss
            (`ratio_network`). Estimators of the ratio itself are classifiers too: "rulsif",
            "ulsif", "kliep", "kde", `Variational`.
        weight_numerator: how often each numerator row counts (n,); once if None. How much one
            sample counts against the other does not matter, as their numbers of rows do not.
        weight_denominator: how often each denominator row counts (m,); once if None.
        seed: of all that is random.
    """
    top = as_rows(x_numerator, "x_numerator")
    bottom = as_rows(x_denominator, "x_denominator", columns=top.shape[1])
    weights = (
        _as_weight(weight_numerator, len(top), "weight_numerator"),
        _as_weight(weight_denominator, len(bottom), "weight_denominator"),
    )
    pooled = pool(top, bottom, *weights)
    return pooled.learn(as_ratio_classifier(classifier), jax.random.key(as_seed(seed)))


def ratio_network(hidden: Sequence[int] = (32, 32, 32)) -> Best:
    """The network that learns ratios unless told otherwise: trained to the end, with a penalty.

    In a loop that fits a network again and again, a hundred steps at a time are right (`MLP()`). A
    ratio is learned once: a thousand steps, and a penalty of the weights against learning the rows
    by heart, as strong as held-out rows ask for. Three layers of 32 units are Tiao's (2023, section
    2.3.2).
    """
    network = MLP(tuple(hidden), steps=1000, batch=256, learning_rate=3e-3)
    return Best(tuple(dataclasses.replace(network, decay=decay) for decay in DECAYS))


DECAYS = (0.1, 0.03, 0.01, 1e-3, 1e-4)


def as_ratio_classifier(value: Any) -> Classifier:
    """A classifier from its name, or itself."""
    return ratio_network() if isinstance(value, str) and value == "mlp" else as_classifier(value)


class Pooled(NamedTuple):
    """Both samples as labeled, standardized rows with weights."""

    x: Float[np.ndarray, "n d"]
    z: Float[np.ndarray, " n"]
    weight: Float[np.ndarray, " n"]
    location: Float[np.ndarray, " d"]
    spread: Float[np.ndarray, " d"]

    def learn(self, classifier: Classifier, key: Array) -> Ratio:
        """The ratio that a classifier finds."""
        fitted = classifier.fit(self.x, self.z, self.weight, key=key)
        top = self.z == 1
        odds = np.log(self.weight[top].sum()) - np.log(self.weight[~top].sum())
        rows = int(top.sum()), int((~top).sum())
        return Ratio(fitted, self.location, self.spread, np.float64(odds), rows)


def pool(
    top: Float[np.ndarray, "n d"],
    bottom: Float[np.ndarray, "m d"],
    top_weight: Float[np.ndarray, " n"],
    bottom_weight: Float[np.ndarray, " m"],
) -> Pooled:
    """Two samples together, in units of the spread of all their rows."""
    x = np.concatenate([top, bottom])
    z = np.concatenate([np.ones(len(top)), np.zeros(len(bottom))])
    location, spread = x.mean(axis=0), x.std(axis=0)
    # A column that does not vary is left as it is.
    spread = np.where(spread > 0, spread, 1.0)
    weight = np.concatenate([top_weight, bottom_weight])
    return Pooled((x - location) / spread, z, weight, location, spread)


def _as_weight(weight: Any, rows: int, name: str) -> Float[np.ndarray, " n"]:
    weight = as_weights(weight, rows, name)
    if not np.any(weight > 0):
        raise InvalidData(f"{name} must be positive for at least one row, but all are 0.")
    return weight
