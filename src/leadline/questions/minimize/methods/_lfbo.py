"""LFBO: likelihood-free Bayesian optimization (Song et al. 2022; Tiao 2023, section 5.3.3).

For any utility U that is not negative, the odds pi / (1 - pi) of the classifier that maximizes

    sum_n U(y_n) log pi(x_n) + log(1 - pi(x_n))                                        (eq. 5.11)

estimate the expected utility E[U(y) | x]. So every call is an example of label 0 with weight 1 and
one of label 1 with weight U, and the log odds are an acquisition function: with the improvement on
a quantile it is the expected improvement.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from leadline.boundary import InvalidData, as_choice
from leadline.questions.minimize.methods._classification import Classification, Examples
from leadline.questions.minimize.methods._labels import among_best, good_calls, labels

# Utilities of how much better than the threshold a value is.
_UTILITIES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ei": lambda better: np.maximum(better, 0.0),
    "pi": lambda better: (better > 0.0).astype(np.float64),
}


@dataclasses.dataclass(frozen=True)
class LFBO(Classification):
    """The next call is where a weighted classifier finds the expected utility highest.

    Args:
        classifier: as for `BORE`.
        gamma: the part of calls that reach the threshold; a pair as for `BORE`.
        epsilon: the probability that a call is random.
        search: how the highest log odds are looked for: "nearby", among draws around the best
            calls; "random", "evolution" or "gradient" all over the space.
        candidates: how many rows compete.
        initial: how many points fill the space first; 2 for each parameter, from 5 to 20, if None.
        utility: "ei" (improvement on the threshold), "pi" (whether there is any), or a function
            that takes how much better than the threshold values are, negative where they are worse,
            and gives utilities that are not negative.
    """

    utility: Any = "ei"

    name: ClassVar[str] = "lfbo"

    def __post_init__(self):
        super().__post_init__()
        if not callable(self.utility):
            as_choice(self.utility, tuple(_UTILITIES), "utility")

    def examples(self, x, y, w, gamma):
        """Every call as one that is not good, and those with a utility once more as good ones."""
        n = len(y)
        # The threshold is the best value that is not good, which good values improve on.
        threshold = y[~among_best(y, good_calls(n, gamma))].max()
        u = self._utilities(y - threshold)
        if not u.max() > 0:  # as when the good values equal the threshold
            u = labels(y, gamma)
        counted = u > 0
        # Only proportions matter, and labels that count as often are learned most easily.
        u = u / u.mean()
        return Examples(
            np.concatenate([x, x[counted]]),
            np.concatenate([np.zeros(n), np.ones(int(counted.sum()))]),
            np.concatenate([w, w[counted] * u[counted]]),
        )

    def settings(self):
        """The method's name and settings, as JSON values; of a function only its name."""
        utility = self.utility
        if callable(utility):
            utility = getattr(utility, "__qualname__", type(utility).__qualname__)
        return {**super().settings(), "utility": utility}

    def _utilities(self, better: np.ndarray) -> np.ndarray:
        function = self.utility if callable(self.utility) else _UTILITIES[self.utility]
        u = np.asarray(function(better), dtype=np.float64)
        if u.shape != better.shape or not np.all(np.isfinite(u)) or u.min() < 0:
            raise InvalidData(
                "A utility must give a finite number that is not negative for each of "
                f"{len(better)} values, got {u!r}."
            )
        return u
