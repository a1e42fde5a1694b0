"""Kernel mean matching: weights of denominator rows that make them look like the numerator's.

Notation: denominator rows x'_j (m, d), numerator rows x_i (n, d), weights beta (m,), a Gaussian
kernel k of pooled, standardized rows.

    minimize  | 1/m sum_j beta_j k(x'_j, .) - 1/n sum_i k(x_i, .) |^2      (a norm of functions)
          =   1/m^2 beta^T K beta - 2/m^2 kappa^T beta + const,   kappa_j = m/n sum_i k(x'_j, x_i)
    subject to  0 <= beta <= B,  |mean(beta) - 1| <= epsilon

(Huang et al. 2007). The estimate exists at the denominator's rows only: it is a set of weights, not
a function of x. The quadratic program is solved by projected gradients with momentum (Beck and
Teboulle 2009; restarts as in O'Donoghue and Candes 2015), a product with K in each step.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData, as_rows
from leadline.numerics import blas_threads_for
from leadline.ratios._direct._basis import median_distance, squared_distances

_STEPS = 20_000
_TOLERANCE = 1e-6


def kernel_mean_matching(
    x_numerator: Any,
    x_denominator: Any,
    *,
    bandwidth: float | None = None,
    bound: float = 1000.0,
    slack: float | None = None,
) -> Float[np.ndarray, " m"]:
    """Estimates of numerator over denominator at the rows of the denominator.

    Memory and time grow with the square of the number of denominator rows.

    Args:
        x_numerator: rows (n, d) of the numerator's law.
        x_denominator: rows (m, d) of the denominator's law.
        bandwidth: of the kernel, in standard deviations of the pooled rows; None for the median
            distance.
        bound: B, the largest weight.
        slack: epsilon, how far the mean weight may be from 1; (sqrt(m) - 1) / sqrt(m) if None, as
            Huang et al. do.
    """
    top = as_rows(x_numerator, "x_numerator")
    bottom = as_rows(x_denominator, "x_denominator", columns=top.shape[1])
    m = len(bottom)
    off = 1.0 - m**-0.5 if slack is None else float(slack)
    if not off >= 0:
        raise InvalidData(f"slack must not be negative, got {slack}.")
    if not bound > 1.0 - off:
        raise InvalidData(f"bound must exceed 1 - slack = {1.0 - off:g}, got {bound}.")
    if bandwidth is not None and not bandwidth > 0:
        raise InvalidData(f"bandwidth must be positive, got {bandwidth}.")
    pooled = np.concatenate([top, bottom])
    spread = pooled.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    within = squared_distances(bottom / spread, bottom / spread)
    across = squared_distances(bottom / spread, top / spread)
    width = median_distance(within, across) if bandwidth is None else bandwidth
    # Divided by m, so that the largest eigenvalue is about 1.
    k = np.exp(-0.5 * within / width**2) / m
    kappa = np.exp(-0.5 * across / width**2).mean(axis=1)
    with blas_threads_for(m):
        return _minimize(k, kappa, bound, off)


def _minimize(k: np.ndarray, kappa: np.ndarray, bound: float, slack: float) -> np.ndarray:
    """The minimum of beta^T k beta / 2 - kappa^T beta over the constraints."""
    # No eigenvalue exceeds the largest sum of a row.
    step = 1.0 / k.sum(axis=1).max()
    beta = trial = np.ones(len(kappa))
    momentum = 1.0
    for _ in range(_STEPS):
        new = _projected(trial - step * (k @ trial - kappa), bound, slack)
        moved = new - beta
        if np.dot(trial - new, moved) > 0:  # the momentum leads uphill
            momentum, trial = 1.0, beta
            new = _projected(trial - step * (k @ trial - kappa), bound, slack)
            moved = new - beta
        if np.max(np.abs(new - trial)) <= _TOLERANCE:
            return new
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        trial = new + (momentum - 1.0) / following * moved
        beta, momentum = new, following
    return beta


def _projected(beta: np.ndarray, bound: float, slack: float) -> np.ndarray:
    """The nearest weights in the box whose mean is within the slack of 1."""
    inside = np.clip(beta, 0.0, bound)
    mean = np.clip(inside.mean(), 1.0 - slack, 1.0 + slack)
    if mean == inside.mean():
        return inside
    # Shifting all weights before clipping moves the mean, which is monotone in the shift.
    low, high = -beta.max(), bound - beta.min()
    for _ in range(100):
        middle = 0.5 * (low + high)
        if np.clip(beta + middle, 0.0, bound).mean() < mean:
            low = middle
        else:
            high = middle
    return np.clip(beta + high, 0.0, bound)
