"""Acquisitions where only some points are allowed, and which ones is learned from calls.

A point is allowed where every one of `c` constraint values is at most 0. Their posteriors are
normal and independent, so the probability of that is a product, and an acquisition that is never
negative is weighted by it (Schonlau, Welch and Jones 1998; Gardner et al. 2014):

    P(x) = prod_k Phi(-m_k(x) / s_k(x)),    log P(x) = sum_k log Phi(-m_k(x) / s_k(x))

As long as no call was allowed there is nothing to improve on, and log P itself is what to raise.

Notation: `m_k (b,)`, `s_k (b,)` moments of constraint k at `b` points; Phi is the standard normal
distribution function; `s` fantasies; larger is better.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from leadline.acquisition._fantasies import FANTASIES, Fantasies, fantasize
from leadline.acquisition._gains import ExpectedImprovement, ProbabilityOfImprovement
from leadline.acquisition._log_ndtr import log_ndtr
from leadline.boundary import InvalidData, Unsupported
from leadline.models import Posterior
from leadline.search import Acquisition, single_points

# A marginal without any uncertainty still has a logarithm, and the square of a z is a number.
_LEAST_STD, _FARTHEST = 1e-150, -1e150


class LogProbabilityAllowed(Acquisition):
    """The logarithm of the probability that a point is allowed.

    Beside running calls it is the probability that the point is allowed and none of theirs is:
    one allowed point is enough to go on from.

    Attributes:
        constraints: posteriors of the constraint values, normal and independent of each other.
        fantasies: outcomes of the running calls, of each constraint; empty if there are none.
    """

    constraints: tuple[Posterior, ...]
    fantasies: tuple[Fantasies, ...] = eqx.field(default=(), kw_only=True)
    logarithmic: ClassVar[bool] = True

    def __check_init__(self):
        _check_constraints(self.constraints, type(self).__name__)

    def after(
        self, rows: Float[Any, "k d"], n: int = FANTASIES, seed: int = 0
    ) -> LogProbabilityAllowed:
        """The same beside calls at `rows` that are running.

        Args:
            rows: where the calls are.
            n: how many fantasies of their outcomes, unless there are some already.
            seed: of the fantasies.
        """
        if self.fantasies:
            drawn = [fantasies.after(rows) for fantasies in self.fantasies]
        else:
            drawn = [fantasize(posterior, rows, n, seed) for posterior in self.constraints]
        shuffled = tuple(_shuffled(fantasies, k) for k, fantasies in enumerate(drawn))
        return LogProbabilityAllowed(self.constraints, fantasies=shuffled)

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The logarithm of the probability at each of `b` points."""
        rows = single_points(self, x)
        if not self.fantasies:
            return log_probability_allowed(self.constraints, rows)
        moments = (f.moments(rows)[:2] for f in self.fantasies)
        logs = sum((_log_allowed(mean, std) for mean, std in moments), jnp.zeros(()))
        missing = self._none_allowed()
        # Where a running call is allowed in every fantasy, another place for it must do.
        counted = jnp.where(jnp.any(missing), missing, True)[:, None]
        return logsumexp(logs, axis=0, where=counted) - np.log(len(logs))

    def _none_allowed(self) -> Array:
        """In which fantasies no running call is allowed, (s,)."""
        drawn = self.fantasies[0].drawn > 0
        allowed = jnp.stack([f.outcomes <= 0.0 for f in self.fantasies]).all(axis=0)
        return ~jnp.any(allowed & drawn, axis=1)


class Feasible(Acquisition):
    """An acquisition times the probability that the point is allowed.

    Running calls are those of the acquisition: they leave the probability as it is.

    Attributes:
        acquisition: of one point, and never negative.
        constraints: posteriors of the constraint values, normal and independent of each other.
    """

    acquisition: Acquisition
    constraints: tuple[Posterior, ...]

    def __check_init__(self):
        _check_constraints(self.constraints, type(self).__name__)
        self._check_acquisition()

    def _check_acquisition(self) -> None:
        known = isinstance(self.acquisition, ExpectedImprovement | ProbabilityOfImprovement)
        if not known or type(self.acquisition).logarithmic:
            raise Unsupported(
                "A probability weighs acquisitions that are never negative, ExpectedImprovement "
                "and ProbabilityOfImprovement, and `LogFeasible` logarithmic ones, got "
                f"{type(self.acquisition).__name__}."
            )

    def after(self, rows: Float[Any, "k d"], **options: Any) -> Feasible:
        """The same beside calls at `rows` that are running; `options` of the acquisition."""
        return type(self)(self.acquisition.after(rows, **options), self.constraints)

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The weighted acquisition at each of `b` points."""
        rows = single_points(self, x)
        return self._weighted(
            self.acquisition.values(x), log_probability_allowed(self.constraints, rows)
        )

    def _weighted(self, values: Array, log_probability: Array) -> Array:
        return values * jnp.exp(log_probability)


class LogFeasible(Feasible):
    """A logarithmic acquisition plus the logarithm of the probability of an allowed point."""

    logarithmic: ClassVar[bool] = True

    def _check_acquisition(self) -> None:
        if not type(self.acquisition).logarithmic:
            raise Unsupported(
                "The logarithm of a probability is added to logarithmic acquisitions, such as "
                f"LogExpectedImprovement, got {type(self.acquisition).__name__}."
            )

    def _weighted(self, values: Array, log_probability: Array) -> Array:
        return values + log_probability


def feasible(acquisition: Acquisition | None, constraints: tuple[Posterior, ...]) -> Acquisition:
    """An acquisition weighted by the probability that a point is allowed.

    Args:
        acquisition: logarithmic, or never negative; None if no call was allowed so far.
        constraints: posteriors of the constraint values.
    """
    if acquisition is None:
        return LogProbabilityAllowed(constraints)
    kind = LogFeasible if type(acquisition).logarithmic else Feasible
    return kind(acquisition, constraints)


def log_probability_allowed(
    constraints: tuple[Posterior, ...], rows: Float[Any, "b d"]
) -> Float[Array, " b"]:
    """The logarithm of the probability that all constraint values are at most 0."""
    total = jnp.zeros(rows.shape[0])
    for posterior in constraints:
        marginal = posterior.predict(rows)
        # The root of 0 has no derivative.
        std = jnp.sqrt(jnp.maximum(marginal.var, _LEAST_STD**2))
        total = total + _log_allowed(marginal.mean, std)
    return total


def _log_allowed(mean: Array, std: Array) -> Array:
    return log_ndtr(jnp.maximum(-mean / std, _FARTHEST))


def _shuffled(fantasies: Fantasies, k: int) -> Fantasies:
    """The fantasies in an order of constraint k's own.

    All constraints have the same draws. In the same order their outcomes would rise and fall
    together; in random orders they are independent.
    """
    rng = np.random.default_rng([fantasies.seed, k])
    order = rng.permutation(len(fantasies.outcomes))
    return eqx.tree_at(
        lambda f: (f.weights, f.outcomes),
        fantasies,
        (fantasies.weights[:, order], fantasies.outcomes[order]),
    )


def _check_constraints(constraints: tuple[Posterior, ...], name: str) -> None:
    if not constraints:
        raise InvalidData(f"{name} needs the posterior of at least one constraint.")
    for posterior in constraints:
        if not type(posterior).gaussian:
            raise Unsupported(
                f"{type(posterior).__name__} has no normal marginals, which {name} needs of every "
                "constraint."
            )
