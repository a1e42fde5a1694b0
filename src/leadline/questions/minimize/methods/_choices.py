"""The acquisition functions that the method "gp" knows by name.

Notation: larger is better; `best` is what a call must improve on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Array

from leadline.acquisition import (
    Confidence,
    Exceedance,
    ExpectedImprovement,
    ExpectedMaximum,
    Highest,
    Improvement,
    JointEntropy,
    LogExpectedImprovement,
    LogKnowledgeGradient,
    LogMonteCarlo,
    LogProbabilityOfImprovement,
    MaxValueEntropy,
    MonteCarlo,
    MonteCarloKnowledgeGradient,
    TwoStepImprovement,
    UpperConfidenceBound,
    base_samples,
    sample_maxima,
)
from leadline.models import Posterior
from leadline.numerics import generator, shifted_sobol
from leadline.search import Acquisition
from leadline.spaces import Space

# Two standard deviations above the mean.
_BETA = 4.0
# What a call teaches is how much higher the best of these rows is expected to be afterwards.
_CANDIDATES, _BEST_CANDIDATES = 192, 64
_MAXIMA = 32
# Outcomes of a call before the one that follows it.
_NODES = 8
_DRAWS = 128


class Situation(NamedTuple):
    """What an acquisition function is made from."""

    posterior: Posterior
    best: np.ndarray
    space: Space
    key: Array

    def candidates(self) -> np.ndarray:
        """Rows that fill the space, and the calls that are expected to be best."""
        seen = self.posterior.data().x
        means = np.asarray(self.posterior.predict(seen).mean)
        order = np.argsort(-means, kind="stable")
        best = seen[np.resize(order[:_BEST_CANDIDATES], _BEST_CANDIDATES)]
        fill = shifted_sobol(generator(self.key), _CANDIDATES, self.space.dim)
        return np.concatenate([self.space.spread(fill), best])

    def maxima(self) -> tuple[Array, Array]:
        """Where draws of the function are highest in the unit cube, and how high."""
        cube = np.tile([0.0, 1.0], (self.space.columns, 1))
        return sample_maxima(self.posterior, self.key, _MAXIMA, cube)


class Choice(NamedTuple):
    """An acquisition function of one point, and one of several points together.

    Attributes:
        alone: of one point.
        together: of so many points.
        beside_running: whether the first knows what running calls leave to gain.
        improves: whether it compares with `best`, and is never negative.
        doubting: of one point, where noise leaves `best` in doubt.
    """

    alone: Callable[[Situation], Acquisition]
    together: Callable[[Situation, int], Acquisition] | None
    beside_running: bool
    improves: bool
    doubting: Callable[[Situation], Acquisition] | None = None


def _draws(columns: int) -> np.ndarray:
    return base_samples(_DRAWS, columns)


def _knowledge(now: Situation, q: int) -> Acquisition:
    return MonteCarloKnowledgeGradient(now.posterior, now.candidates(), _draws(q))


def _joint_entropy(now: Situation) -> Acquisition:
    return JointEntropy(now.posterior, *now.maxima())


CHOICES: dict[str, Choice] = {
    "log_ei": Choice(
        lambda now: LogExpectedImprovement(now.posterior, now.best),
        lambda now, q: LogMonteCarlo(now.posterior, Improvement(now.best), _draws(q)),
        True,
        True,
        lambda now: LogExpectedImprovement.noisy(now.posterior),
    ),
    "ei": Choice(
        lambda now: ExpectedImprovement(now.posterior, now.best),
        lambda now, q: MonteCarlo(now.posterior, Improvement(now.best), _draws(q)),
        True,
        True,
        lambda now: ExpectedImprovement.noisy(now.posterior),
    ),
    "pi": Choice(
        lambda now: LogProbabilityOfImprovement(now.posterior, now.best),
        lambda now, q: LogMonteCarlo(now.posterior, Exceedance(now.best), _draws(q)),
        True,
        True,
    ),
    "ucb": Choice(
        lambda now: UpperConfidenceBound(now.posterior, np.asarray(_BETA)),
        lambda now, q: MonteCarlo(now.posterior, Confidence(np.asarray(_BETA)), _draws(q)),
        True,
        False,
    ),
    "emax": Choice(
        lambda now: ExpectedMaximum(now.posterior),
        lambda now, q: MonteCarlo(now.posterior, Highest(), _draws(q)),
        True,
        False,
    ),
    "kg": Choice(
        lambda now: LogKnowledgeGradient(now.posterior, now.candidates()), _knowledge, False, False
    ),
    "two_step": Choice(
        lambda now: TwoStepImprovement(now.posterior, now.best, now.candidates(), _NODES),
        None,
        False,
        True,
    ),
    "mes": Choice(lambda now: MaxValueEntropy(now.posterior, now.maxima()[1]), None, False, False),
    "jes": Choice(_joint_entropy, None, False, False),
}
