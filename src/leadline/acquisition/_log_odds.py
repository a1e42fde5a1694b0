"""The log odds that a call is a good one, by a classifier (Tiao 2023, section 5.3).

Good calls are those up to a quantile of the values, so their probability is the probability of
improvement on that quantile: an acquisition function without a model of the values.
"""

from __future__ import annotations

from typing import Any, ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.search import Acquisition, single_points


def centered(rows: Any) -> Any:
    """Rows of the unit cube as classifiers see them, from -1 to 1."""
    return 2.0 * rows - 1.0


class LogOdds(Acquisition):
    """The log odds of label 1 at one point; of a classifier that is a JAX program.

    Attributes:
        classifier: of `leadline.ratios`, fitted to rows from -1 to 1 (`centered`).
    """

    classifier: Any
    logarithmic: ClassVar[bool] = True

    @staticmethod
    def of(classifier: Any) -> LogOdds:
        """Of any fitted classifier."""
        return (LogOdds if classifier.traceable else HostLogOdds)(classifier)

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The log odds at each of `b` points."""
        return jnp.asarray(self.classifier.logits(centered(single_points(self, x))))


class HostLogOdds(LogOdds):
    """The same of a classifier that is no JAX program."""

    traceable: ClassVar[bool] = False
