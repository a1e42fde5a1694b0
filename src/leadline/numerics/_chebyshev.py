"""Functions of one number as Chebyshev series, whose coefficients are computed once on the host."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def chebyshev_coefficients(function: Callable, degree: int) -> tuple[float, ...]:
    """The series that interpolates a NumPy function on [-1, 1]."""
    fitted = np.polynomial.chebyshev.chebinterpolate(function, degree)
    return tuple(float(c) for c in fitted)


def chebyshev_value(coefficients: tuple[float, ...], t: Float[Array, ...]) -> Float[Array, ...]:
    """The value of a series at `t` in [-1, 1], by Clenshaw's recurrence."""
    ahead, after = jnp.zeros_like(t), jnp.zeros_like(t)
    for c in coefficients[:0:-1]:
        ahead, after = c + 2.0 * t * ahead - after, ahead
    return coefficients[0] + t * ahead - after
