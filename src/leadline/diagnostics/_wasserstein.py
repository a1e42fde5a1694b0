"""The Wasserstein distance between normal laws.

Notation: N(m1, S1) and N(m2, S2) on R^m with roots S1 = A A^T, S2 = B B^T; U orthogonal.

    W2^2 = |m1 - m2|^2 + tr S1 + tr S2 - 2 tr (S1^1/2 S2 S1^1/2)^1/2
         = |m1 - m2|^2 + min_U |A - B U|_F^2

The first line is how the formula is printed. The second is how it is computed: U is the orthogonal
factor of B^T A. It is a sum of squares, while the traces of the first line cancel, and it takes no
root of an eigenvalue that is only rounding error.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_targets, is_traced
from leadline.numerics import blas_threads_for


def wasserstein2(m1: Any, S1: Any, m2: Any, S2: Any) -> Float[Array | np.ndarray, ""] | float:
    """The 2-Wasserstein distance W2 (not its square) between N(m1, S1) and N(m2, S2).

    It has the unit of the values: divided by the root of m, it is the root mean square difference
    of the best coupled draws. Negative eigenvalues of a covariance matrix count as zero, so it may
    be singular. Where the laws agree the result is about 1e-8 times the root of the trace.

    Args:
        m1: mean (m,) of the first law.
        S1: covariance (m, m) of the first law.
        m2: mean (m,) of the second law.
        S2: covariance (m, m) of the second law.
    """
    if is_traced(m1, S1, m2, S2):
        return _distance(jnp, m1, S1, m2, S2)
    (m1, S1), (m2, S2) = as_law(m1, S1, "1"), as_law(m2, S2, "2", np.size(m1))
    with blas_threads_for(m1.size):
        return float(_distance(np, m1, S1, m2, S2))


def as_law(
    mean: Any, covariance: Any, which: str, size: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """A mean (m,) and a covariance matrix (m, m), checked."""
    mean = as_targets(mean, np.size(mean) if size is None else size, f"m{which}")
    m, name = mean.size, f"S{which}"
    covariance = np.asarray(covariance)
    if covariance.shape != (m, m):
        raise InvalidData(
            f"{name} must have shape ({m}, {m}), as m{which} has {m} entries; "
            f"got {covariance.shape}."
        )
    covariance = as_targets(covariance.ravel(), m * m, name).reshape(m, m)
    scale = np.max(np.abs(covariance), initial=0.0)
    if np.max(np.abs(covariance - covariance.T), initial=0.0) > 1e-6 * scale:
        raise InvalidData(f"{name} must be symmetric: it is a covariance matrix.")
    return mean, covariance


def _distance(np_: Any, m1: Any, S1: Any, m2: Any, S2: Any) -> Any:
    a, b = _root(np_, S1), _root(np_, S2)
    left, _, right = np_.linalg.svd(b.T @ a)
    apart = a - b @ (left @ right)
    return np_.sqrt(np_.sum((m1 - m2) ** 2) + np_.sum(apart**2))


def _root(np_: Any, S: Any) -> Any:
    values, vectors = np_.linalg.eigh(0.5 * (S + S.T))
    return vectors * np_.sqrt(np_.maximum(values, 0.0))
