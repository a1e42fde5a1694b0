"""What one more call is expected to add: EI, PI, UCB and EMAX, alone or beside running calls.

Alone, the gain is the closed form of the acquisition function. Beside running calls it is the
closed form given their outcomes, averaged over fantasies of them: a Rao-Blackwellized estimate,
which has the mean of the naive one and never more variance (Wilson 2023, section 2.6), and a
gradient also where no sample of the new call would improve on anything.

Notation: `s` fantasies, `b` points; larger is better.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from leadline.acquisition._fantasies import (
    FANTASIES,
    LEAST_VARIANCE,
    Fantasies,
    fantasize,
    fantasize_incumbent,
)
from leadline.acquisition._utilities import Confidence, Exceedance, Highest, Improvement, Utility
from leadline.boundary import InvalidData, Unsupported, is_traced
from leadline.models import Posterior
from leadline.search import Acquisition, single_points


class Gain(Acquisition):
    """What a call is expected to add to what is reached: closed forms of one point at a time.

    Attributes:
        posterior: with normal marginals.
        fantasies: outcomes of the running calls; None if there are none.
    """

    posterior: Posterior
    fantasies: Fantasies | None = eqx.field(default=None, kw_only=True)
    submodular: ClassVar[bool] = True

    def __check_init__(self):
        if not type(self.posterior).gaussian:
            raise Unsupported(
                f"{type(self.posterior).__name__} has no normal marginals, which "
                f"{type(self).__name__} needs. `averaged` takes a mixture member by member."
            )

    @property
    @abc.abstractmethod
    def utility(self) -> Utility:
        """What calls are worth."""

    def after(self, rows: Float[Any, "k d"], n: int = FANTASIES, seed: int = 0) -> Gain:
        """The same beside calls at `rows` that are running.

        Args:
            rows: where the calls are.
            n: how many fantasies of their outcomes, unless there are some already.
            seed: of the fantasies.
        """
        if self.fantasies is None:
            fantasies = fantasize(self.posterior, rows, n, seed)
        else:
            fantasies = self.fantasies.after(rows)
        return eqx.tree_at(
            lambda g: g.fantasies, self, fantasies, is_leaf=lambda leaf: leaf is None
        )

    @property
    def ceilings(self) -> Callable[[Any], Array]:
        """Maps sets of one point to what none of them is worth more than.

        It is there if a call adds the more, the less sure its value is, none is under way, and the
        posterior knows an upper bound of its variance.
        """
        if self.fantasies is not None or not self.utility.convex:
            raise AttributeError("ceilings")  # `Able` turns it into an explanation
        return partial(self._alone, self.posterior.ceilings)

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The gain (or its logarithm) at each of `b` points."""
        if self.fantasies is None:
            return self._alone(self.posterior.predict, x)
        mean, std, center = self.fantasies.moments(single_points(self, x))
        return self._averages(mean, std, center, self.fantasies.reached(self.utility)[:, None])

    def _alone(self, marginals: Callable[[Any], Any], x: Any) -> Array:
        """The gains if no call is under way and these are the marginals."""
        rows = single_points(self, x)
        marginal = marginals(rows)
        prior = self.posterior.gp.kernel.diag(jnp.asarray(rows))
        std = jnp.sqrt(jnp.maximum(marginal.var, LEAST_VARIANCE * prior))
        start = jnp.asarray(self.utility.start)
        return self._averages(marginal.mean[None], std, marginal.mean, start)

    def _averages(self, mean: Any, std: Any, center: Any, reached: Any) -> Array:
        """Gains, averaged over fantasies (s, b)."""
        if type(self).logarithmic:
            gains = self.utility.log_gain(mean, std, center, reached)
            return logsumexp(gains, axis=0) - np.log(mean.shape[0])
        return jnp.mean(self.utility.gain(mean, std, center, reached), axis=0)


class ExpectedImprovement(Gain):
    """The expected improvement on `best`."""

    best: Float[Any, ""]

    @property
    def utility(self):
        return Improvement(self.best)

    @classmethod
    def noisy(cls, posterior: Posterior, n: int = FANTASIES, seed: int = 0):
        """The improvement on the best of the data without their noise, which nobody knows.

        Each of `n` fantasies is a draw of the function at the data (Letham et al. 2019).
        """
        nothing = np.zeros((0, posterior.query_columns))
        fantasies = fantasize_incumbent(posterior, nothing, n, seed)
        return cls(posterior, np.asarray(-np.inf), fantasies=fantasies)


class LogExpectedImprovement(ExpectedImprovement):
    """The logarithm of the expected improvement on `best`."""

    logarithmic: ClassVar[bool] = True


class ProbabilityOfImprovement(Gain):
    """The probability of a value above `best`."""

    best: Float[Any, ""]

    @property
    def utility(self):
        return Exceedance(self.best)


class LogProbabilityOfImprovement(ProbabilityOfImprovement):
    """The logarithm of the probability of a value above `best`."""

    logarithmic: ClassVar[bool] = True


class UpperConfidenceBound(Gain):
    """The mean plus `beta`^1/2 standard deviations; beside other calls, what it adds to theirs."""

    beta: Float[Any, ""]

    def __check_init__(self):
        if not is_traced(self.beta) and not np.asarray(self.beta) > 0:
            raise InvalidData(f"beta must be positive, got {self.beta}.")

    @property
    def utility(self):
        return Confidence(self.beta)


class ExpectedMaximum(Gain):
    """The expected highest value: alone the mean, beside other calls what is added to them."""

    @property
    def utility(self):
        return Highest()
