"""Divergences between two laws, from samples of each.

Notation: p the numerator's law, q the denominator's; g = log(p / q) estimated from other rows than
those it is evaluated at; T1, T2 of a generator.

    D_f[p || q] >= mean of T1(g) over rows of p - mean of T2(g) over rows of q

On the rows that g was learned from this is not a bound: it is too large, by more the more flexible
the classifier is. So each row is held out once.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData, as_rows, as_seed
from leadline.numerics import generator
from leadline.ratios._best import Best
from leadline.ratios._classifier import Classifier
from leadline.ratios._folds import folds_of
from leadline.ratios._generators import as_generator
from leadline.ratios._networks import Variational
from leadline.ratios._ratio import DECAYS, Pooled, Ratio, as_ratio_classifier, pool


@dataclasses.dataclass(frozen=True)
class Divergence:
    """An estimate of a divergence.

    Attributes:
        kind: the name of its generator.
        meaning: the divergence, with p the numerator and q the denominator.
        value: the estimate, in nats where it has a unit. Below the truth on average, and by more
            the worse the ratio is known.
        standard_error: of the value, given the ratios that it was computed with.
        ratio: the density ratio, learned from all rows.
    """

    kind: str
    meaning: str
    value: float
    standard_error: float
    ratio: Ratio

    def __repr__(self) -> str:
        return f"Divergence({self.meaning} = {self.value:.4g} ± {self.standard_error:.2g})"


def divergence(
    x_numerator: Any,
    x_denominator: Any,
    kind: str = "kl",
    *,
    classifier: Any = "mlp",
    objective: str | None = None,
    folds: int = 5,
    seed: int = 0,
) -> Divergence:
    """Estimate how far the numerator's law is from the denominator's, with rows held out.

    Args:
        x_numerator: rows (n, d) of the numerator's law p.
        x_denominator: rows (m, d) of the denominator's law q.
        kind: "kl", "reverse_kl", "gan" (2 JS - log 4), "js" (2 JS), "pearson" (chi^2 / 2) or
            "hellinger" (its square).
        classifier: what learns the ratio, as in `fit`.
        objective: learn the ratio with a network by the bound of this generator, instead of by
            classification (`Variational`); its penalty is chosen by held-out log loss, too.
        folds: how many times a part of the rows is held out.
        seed: of all that is random.
    """
    kind_ = as_generator(kind, "kind")
    top = as_rows(x_numerator, "x_numerator", minimum=2)
    bottom = as_rows(x_denominator, "x_denominator", columns=top.shape[1], minimum=2)
    if folds < 2:
        raise InvalidData(f"folds must be at least 2, got {folds}.")
    how = _learner(classifier, objective)
    root = jax.random.key(as_seed(seed))
    key, *keys = jax.random.split(root, 1 + min(folds, len(top), len(bottom)))
    everything = _pooled(top, bottom)
    if isinstance(how, Best):
        # Once, and not in each fold: one choice of a few learns next to nothing from a row.
        how = how.choose(*everything[:3], key=key)
    rng = generator(key)
    fold, fold_ = (folds_of(len(rows), len(keys), rng) for rows in (top, bottom))
    g, g_ = np.empty(len(top)), np.empty(len(bottom))
    for k, key_ in enumerate(keys):
        ratio = _pooled(top[fold != k], bottom[fold_ != k]).learn(how, key_)
        g[fold == k] = ratio.log_ratio(top[fold == k])
        g_[fold_ == k] = ratio.log_ratio(bottom[fold_ == k])
    gains, costs = np.asarray(kind_.numerator(g)), np.asarray(kind_.denominator(g_))
    return Divergence(
        kind=kind_.name,
        meaning=kind_.meaning,
        value=float(gains.mean() - costs.mean()),
        standard_error=float(np.hypot(_mean_error(gains), _mean_error(costs))),
        ratio=everything.learn(how, key),
    )


def _learner(classifier: Any, objective: str | None) -> Classifier:
    if objective is None:
        return as_ratio_classifier(classifier)
    if classifier != "mlp":
        raise InvalidData(
            "Only a network is learned by the bound of an objective: give either classifier or "
            f"objective, got {classifier!r} and {objective!r}."
        )
    as_generator(objective, "objective")
    return Best(tuple(Variational(objective, decay=decay) for decay in DECAYS))


def _pooled(top: np.ndarray, bottom: np.ndarray) -> Pooled:
    return pool(top, bottom, np.ones(len(top)), np.ones(len(bottom)))


def _mean_error(values: Float[np.ndarray, " n"]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))
