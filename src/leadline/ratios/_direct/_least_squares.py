"""Relative ratios by least squares: RuLSIF, and uLSIF.

Notation: numerator rows x_i, denominator rows x'_j with weights that sum to 1, basis phi (b,) of
Gaussian bumps at numerator rows, r_gamma = theta^T phi.

    H = gamma sum_i w_i phi(x_i) phi(x_i)^T + (1 - gamma) sum_j w'_j phi(x'_j) phi(x'_j)^T
    h = sum_i w_i phi(x_i)
    theta = argmin 1/2 theta^T (H + lambda I) theta - h^T theta = (H + lambda I)^-1 h

(Yamada et al. 2013; gamma = 0 is uLSIF, Kanamori et al. 2009). Bandwidth and lambda have the
lowest held-out 1/2 theta^T H theta - h^T theta, which is half the mean squared error of the
relative ratio, less a constant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import scipy
from jaxtyping import Float

from leadline.boundary import InvalidData
from leadline.numerics import blas_threads_for, generator
from leadline.ratios._classifier import Classifier
from leadline.ratios._direct._basis import (
    check_basis,
    choose_centers,
    default_bandwidths,
    squared_distances,
)
from leadline.ratios._direct._expansion import Expansion, SignedExpansion
from leadline.ratios._folds import folds_of
from leadline.ratios._two_samples import TwoSamples, two_samples


@dataclasses.dataclass(frozen=True)
class RuLSIF(Classifier):
    """Relative unconstrained least-squares importance fitting: a ratio from one linear solve.

    Attributes:
        gamma: which relative ratio is estimated, from 0 (the ordinary one) to below 1; None for the
            share of label 1 in the data, so that gamma times the ratio is a class probability. The
            larger it is, the less it matters that the denominator is rare somewhere.
        centers: how many bumps, at most.
        bandwidths: widths of bumps to choose from; None for multiples of the median distance.
        penalties: values of lambda to choose from.
        folds: of the cross-validation.
        nonnegative: minimize over coefficients that are not negative. The ratio is then positive
            everywhere, its logarithm has a gradient everywhere, and the fit has `mean_shift`.
            False is the closed form as published, which is cut off where it is negative.
    """

    name: ClassVar[str] = "rulsif"

    gamma: float | None = None
    centers: int = 100
    bandwidths: tuple[float, ...] | None = None
    penalties: tuple[float, ...] = (1e-3, 1e-2, 1e-1, 1.0)
    folds: int = 5
    nonnegative: bool = True

    def __post_init__(self):
        if self.gamma is not None and not 0.0 <= self.gamma < 1.0:
            raise InvalidData(f"gamma must be at least 0 and below 1, got {self.gamma}.")
        check_basis(self.centers, self.bandwidths, self.folds)
        if len(self.penalties) == 0 or min(self.penalties) <= 0:
            raise InvalidData(f"penalties must be positive, got {self.penalties}.")

    def fit(self, x, z, weight=None, *, key, state=None) -> SignedExpansion:
        """Learn from labeled rows: those of label 1 are the numerator's."""
        samples = two_samples(x, z, weight)
        rng = generator(key)
        prior = float(scipy.special.expit(samples.log_prior_odds))
        gamma = prior if self.gamma is None else self.gamma
        centers = choose_centers(samples, self.centers, rng)
        top = squared_distances(samples.numerator, centers)
        bottom = squared_distances(samples.denominator, centers)
        widths = self.bandwidths or default_bandwidths(top, bottom)
        parts = _Parts(samples, gamma, top, bottom, *_folds(samples, self.folds, rng))
        with blas_threads_for(len(centers)):
            width, penalty = _choose(parts, widths, self.penalties, self.nonnegative)
            theta = _solve(parts.moments(width), penalty, self.nonnegative)
        kind = Expansion if self.nonnegative else SignedExpansion
        scalars = (np.float64(width), np.float64(gamma), np.float64(samples.log_prior_odds))
        return kind(centers, theta, *scalars)


@dataclasses.dataclass(frozen=True)
class uLSIF(RuLSIF):
    """Unconstrained least-squares importance fitting: `RuLSIF` of the ordinary ratio."""

    name: ClassVar[str] = "ulsif"

    gamma: float | None = 0.0


class _Moments(NamedTuple):
    """H and h of some rows."""

    matrix: Float[np.ndarray, "b b"]
    vector: Float[np.ndarray, " b"]


class _Parts(NamedTuple):
    """Both samples, squared distances of their rows from the centers, and their folds."""

    samples: TwoSamples
    gamma: float
    top: Float[np.ndarray, "n b"]
    bottom: Float[np.ndarray, "m b"]
    folds: int
    top_fold: np.ndarray
    bottom_fold: np.ndarray

    def moments(self, width: float) -> _Moments:
        """H and h of all rows."""
        return self._moments(width, slice(None), slice(None))

    def held_out(self, width: float) -> list[tuple[_Moments, _Moments]]:
        """For each fold, the moments of all other rows, and of its own."""
        found = []
        for k in range(self.folds):
            mine = self.top_fold == k, self.bottom_fold == k
            rest = ~mine[0], ~mine[1]
            found.append((self._moments(width, *rest), self._moments(width, *mine)))
        return found

    def _moments(self, width, top_rows, bottom_rows) -> _Moments:
        phi = np.exp(-0.5 * self.top[top_rows] / width**2)
        phi_ = np.exp(-0.5 * self.bottom[bottom_rows] / width**2)
        w = self.samples.numerator_weight[top_rows]
        w_ = self.samples.denominator_weight[bottom_rows]
        w, w_ = w / w.sum(), w_ / w_.sum()
        matrix = self.gamma * (phi.T * w) @ phi + (1.0 - self.gamma) * (phi_.T * w_) @ phi_
        return _Moments(matrix, w @ phi)


def _folds(samples: TwoSamples, wanted: int, rng) -> tuple[int, np.ndarray, np.ndarray]:
    sizes = len(samples.numerator), len(samples.denominator)
    folds = min(wanted, *sizes)
    return folds, folds_of(sizes[0], folds, rng), folds_of(sizes[1], folds, rng)


def _choose(
    parts: _Parts, widths: Sequence[float], penalties: Sequence[float], nonnegative: bool
) -> tuple[float, float]:
    """The width and penalty of the least held-out error; from the middle if nothing can be held."""
    if parts.folds < 2 or len(widths) * len(penalties) == 1:
        return widths[len(widths) // 2], penalties[len(penalties) // 2]
    errors = np.zeros((len(widths), len(penalties)))
    for i, width in enumerate(widths):
        for train, held in parts.held_out(width):
            for j, penalty in enumerate(penalties):
                theta = _solve(train, penalty, nonnegative)
                errors[i, j] += 0.5 * theta @ held.matrix @ theta - theta @ held.vector
    best = divmod(int(np.argmin(errors)), len(penalties))
    return widths[best[0]], penalties[best[1]]


def _solve(moments: _Moments, penalty: float, nonnegative: bool) -> Float[np.ndarray, " b"]:
    factor = np.linalg.cholesky(moments.matrix + penalty * np.eye(len(moments.vector)))
    half = scipy.linalg.solve_triangular(factor, moments.vector, lower=True)
    if nonnegative:
        # The same quadratic, but for a constant: 1/2 |factor^T theta - half|^2.
        return scipy.optimize.nnls(factor.T, half)[0]
    return scipy.linalg.solve_triangular(factor, half, lower=True, trans=1)
