"""BORE: Bayesian optimization by density-ratio estimation (Tiao 2023, chapter 5).

With l and g the densities of good calls and of others, the probability that a call at x is good is
gamma l / (gamma l + (1 - gamma) g), which is the probability of improvement on the quantile of the
values that good calls reach (eq. 5.9). A classifier learns it without a model of either density or
of the values.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from leadline.questions.minimize.methods._classification import Classification, Examples
from leadline.questions.minimize.methods._labels import labels


@dataclasses.dataclass(frozen=True)
class BORE(Classification):
    """The next call is where a classifier finds a good call most probable.

    Args:
        classifier: "mlp", "forest", "boosting", "gp", "rulsif", another of `ll.ratios`, or any
            scikit-learn classifier.
        gamma: the part of calls that are good; a pair to begin with the first and go down to the
            second as calls are made.
        epsilon: the probability that a call is random.
        search: how the highest log odds are looked for: "nearby", among draws around the best
            calls; "random", "evolution" or "gradient" all over the space.
        candidates: how many rows compete.
        initial: how many points fill the space first; 2 for each parameter, from 5 to 20, if None.
    """

    name: ClassVar[str] = "bore"

    def examples(self, x, y, w, gamma):
        """Every call once, good or not."""
        return Examples(x, labels(y, gamma), w)
