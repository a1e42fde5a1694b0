"""Whether calls are noisy, or only look so.

A model explains by noise whatever it does not follow, and a rough function looks noisy, too:
ripples between calls that are far apart are noise to it. What a rough function cannot do is to
differ between calls that are near to each other. So noise is believed where the values speak for it
against the same model with roughness instead: an Ornstein-Uhlenbeck process, which may have kinks,
and whose values a hundredth of the space apart know little of each other. Without calls as near as
that both say the same, and the best call counts as what it is.

Only the better half of the values takes part. The others are ranks (`leadline.questions._bending`),
and where two of them are nearly equal, their ranks are not.

Notation: `x (n, d)` rows of the unit cube, `y (n,)` values as they are modeled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from leadline.kernels import Matern12
from leadline.models import GP as Process
from leadline.numerics import fixed

# Length scales of roughness, and how many times the variance of the noise it has. Functions of
# which calls near to each other, but less so, are alike have to be explained as well.
_LENGTHS: Any = (0.01, 0.1)
_TIMES = (1.0, 4.0)
# What roughness leaves to rounding, as a part of the values' variance.
_ROUNDING = 1e-6
# Nats of evidence for noise: it explains the values twenty times as well.
_EVIDENT = 3.0


def noise_is_evident(process: Any, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether values at rows differ as only noise, and no rough function, makes them differ.

    Args:
        process: what was learned of the values, with its noise.
        x: rows.
        y: values.
    """
    better = y >= np.median(y)
    x, y = x[better], y[better]
    noise, rounding = float(process.noise), _ROUNDING * float(np.var(y))
    if not min(noise, rounding) > 0.0:
        return False
    noisy = float(process.condition(x, y).log_evidence)
    for length in _LENGTHS:
        for times in _TIMES:
            kernel = process.kernel + times * noise * Matern12(length)
            rough = Process(kernel, mean=process.mean, noise=fixed(rounding))
            if noisy - float(rough.condition(x, y).log_evidence) <= _EVIDENT:
                return False
    return True
