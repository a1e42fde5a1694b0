"""The Kullback-Leibler divergence between normal laws.

Notation: N(m0, S0), N(m1, S1) on R^m; S1 = L L^T; e_i the eigenvalues of L^-1 (S0 - S1) L^-T.

    KL = 1/2 [log |S1 S0^-1| + tr S1^-1 (S0 - S1) + (m0 - m1)^T S1^-1 (m0 - m1)]
       = 1/2 [sum_i (e_i - log(1 + e_i)) + |L^-1 (m0 - m1)|^2]

(Tiao 2023, eq. A.33, where the means are equal). The second line keeps its digits where the laws
almost agree, and is never negative.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, NotPositiveDefinite, is_traced
from leadline.diagnostics._wasserstein import as_law
from leadline.numerics import blas_threads_for


def gaussian_kl(
    m0: Any,
    S0: Any,
    m1: Any,
    S1: Any,
    jitter: float = 0.0,
) -> Float[Array | np.ndarray, ""] | float:
    """The divergence KL(N(m0, S0) || N(m1, S1)), in nats.

    It is infinite where S0 is singular and S1 is not. Draws from few features are like that: their
    covariance has no more rank than features and data. Then compare both laws blurred alike.

    Args:
        m0: mean (m,) of the first law.
        S0: covariance (m, m) of the first law.
        m1: mean (m,) of the second law.
        S1: covariance (m, m) of the second law.
        jitter: a variance added to every entry under both laws.
    """
    if is_traced(m0, S0, m1, S1, jitter):
        return _divergence(jnp, m0, S0, m1, S1, jitter)
    (m0, S0), (m1, S1) = as_law(m0, S0, "0"), as_law(m1, S1, "1", np.size(m0))
    if not (np.isfinite(jitter) and jitter >= 0):
        raise InvalidData(f"jitter must be zero or positive, got {jitter}.")
    try:
        with blas_threads_for(m0.size), np.errstate(divide="ignore"):
            return float(_divergence(np, m0, S0, m1, S1, jitter))
    except np.linalg.LinAlgError as error:
        raise NotPositiveDefinite(
            f"S1 ({m0.size} x {m0.size}) plus a jitter of {jitter:g} is not positive definite, so "
            "the divergence is not defined. Give a larger jitter."
        ) from error


def _divergence(np_: Any, m0: Any, S0: Any, m1: Any, S1: Any, jitter: Any) -> Any:
    difference = 0.5 * (S0 - S1 + (S0 - S1).T)
    factor = np_.linalg.cholesky(0.5 * (S1 + S1.T) + jitter * np_.eye(m0.size))
    half = np_.linalg.solve(factor, difference)
    # Below -1 there is only rounding error of a singular S0.
    e = np_.maximum(np_.linalg.eigvalsh(np_.linalg.solve(factor, half.T)), -1.0)
    shift = np_.linalg.solve(factor, m0 - m1)
    return 0.5 * (np_.sum(e - np_.log1p(e)) + np_.sum(shift**2))
