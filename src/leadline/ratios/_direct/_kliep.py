"""The ratio of the largest likelihood: KLIEP.

Notation: numerator rows x_i, denominator rows x'_j with weights that sum to 1, Gaussian bumps
phi_l at numerator rows, r = sum_l theta_l phi_l with theta >= 0.

    maximize sum_i w_i log r(x_i)   subject to   sum_j w'_j r(x'_j) = 1

(Sugiyama et al. 2008). With bumps psi_l = phi_l / sum_j w'_j phi_l(x'_j), whose means under the
denominator are 1, the constraint is that the coefficients v of the psi sum to 1. Its multiplier at
the optimum is 1 whatever the data, so what is minimized is

    sum_l v_l - sum_i w_i log sum_l v_l psi_l(x_i),   v >= 0,

the bound of the generator "kl" with its sign changed, and a constant. It is convex, and has no
constraints but signs. The bandwidth is the one with the largest bound on held-out rows of both
samples. Sugiyama et al. hold out the numerator's only; on few rows in several dimensions a width
then looks best with which the ratio explodes between the denominator's rows.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
import scipy
from jaxtyping import Float

from leadline.numerics import blas_threads_for, generator
from leadline.ratios._classifier import Classifier
from leadline.ratios._direct._basis import (
    check_basis,
    choose_centers,
    default_bandwidths,
    squared_distances,
)
from leadline.ratios._direct._expansion import Expansion
from leadline.ratios._folds import folds_of
from leadline.ratios._two_samples import two_samples

# Relative changes of the objective at which its optimizer stops.
_ROUGHLY, _EXACTLY = 1e-7, 1e-13


@dataclasses.dataclass(frozen=True)
class KLIEP(Classifier):
    """Kullback-Leibler importance estimation: the ratio under which the numerator is likeliest.

    Attributes:
        centers: how many bumps, at most.
        bandwidths: widths of bumps to choose from; None for multiples of the median distance.
        folds: of the cross-validation.
    """

    name: ClassVar[str] = "kliep"

    centers: int = 100
    bandwidths: tuple[float, ...] | None = None
    folds: int = 5

    def __post_init__(self):
        check_basis(self.centers, self.bandwidths, self.folds)

    def fit(self, x, z, weight=None, *, key, state=None) -> Expansion:
        """Learn from labeled rows: those of label 1 are the numerator's."""
        samples = two_samples(x, z, weight)
        rng = generator(key)
        centers = choose_centers(samples, self.centers, rng)
        top = squared_distances(samples.numerator, centers)
        bottom = squared_distances(samples.denominator, centers)
        widths = self.bandwidths or default_bandwidths(top, bottom)
        w, w_ = samples.numerator_weight, samples.denominator_weight
        folds = min(self.folds, len(w), len(w_))
        fold, fold_ = folds_of(len(w), folds, rng), folds_of(len(w_), folds, rng)

        def held_out(width: float) -> float:
            total = 0.0
            for k in range(folds):
                mine, mine_ = fold == k, fold_ == k
                rest = top[~mine], bottom[~mine_], w[~mine], w_[~mine_]
                log_theta = _maximize(*rest, width, _ROUGHLY)
                total += _bound(top[mine], bottom[mine_], w[mine], w_[mine_], width, log_theta)
            return total

        with blas_threads_for(len(centers)):
            choose = folds > 1 and len(widths) > 1
            width = max(widths, key=held_out) if choose else widths[len(widths) // 2]
            log_theta = _maximize(top, bottom, w, w_, width, _EXACTLY)
        scalars = (np.float64(width), np.float64(0.0), np.float64(samples.log_prior_odds))
        return Expansion(centers, np.exp(log_theta), *scalars)


def _log_ratio(squared: np.ndarray, width: float, log_theta: np.ndarray) -> np.ndarray:
    return scipy.special.logsumexp(log_theta - 0.5 * squared / width**2, axis=1)


def _bound(top, bottom, w, w_, width, log_theta) -> float:
    """The lower bound on KL from rows that the ratio was not learned from."""
    gain = w @ _log_ratio(top, width, log_theta) / w.sum()
    with np.errstate(over="ignore"):  # as bad as it can be
        return gain + 1.0 - w_ @ np.exp(_log_ratio(bottom, width, log_theta)) / w_.sum()


def _maximize(
    top: Float[np.ndarray, "n b"],
    bottom: Float[np.ndarray, "m b"],
    w: Float[np.ndarray, " n"],
    w_: Float[np.ndarray, " m"],
    width: float,
    tolerance: float,
) -> Float[np.ndarray, " b"]:
    """The logarithms of the coefficients theta of the largest likelihood."""
    w, log_w_ = w / w.sum(), np.log(w_ / w_.sum())
    log_mean = scipy.special.logsumexp(log_w_[:, None] - 0.5 * bottom / width**2, axis=0)
    log_psi = -0.5 * top / width**2 - log_mean
    # A factor for each row changes the objective by a constant, and keeps its logarithms finite.
    psi = np.exp(log_psi - log_psi.max(axis=1, keepdims=True))

    def objective(v: np.ndarray) -> tuple[float, np.ndarray]:
        r = psi @ v
        return v.sum() - w @ np.log(r), 1.0 - (w / r) @ psi

    b = top.shape[1]
    found = scipy.optimize.minimize(
        objective,
        np.full(b, 1.0 / b),
        jac=True,
        bounds=[(0.0, None)] * b,
        options={"maxiter": 2000, "maxfun": 4000, "ftol": tolerance, "gtol": tolerance},
    )
    # The sum is 1 at the optimum, and with it the mean of the ratio under the denominator.
    with np.errstate(divide="ignore"):  # of coefficients that are 0
        return np.log(found.x / found.x.sum()) - log_mean
