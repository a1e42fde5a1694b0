"""The expected highest of two normal values, exactly.

Notation: y ~ N(m, C) in two dimensions; y_1 - y_2 has the variance theta^2 = C_11 + C_22 - 2 C_12.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.acquisition._improvement import expected_excess


def expected_maximum_of_two(
    mean: Float[Any, "*s 2"], cov: Float[Any, "*s 2 2"]
) -> Float[Array, "*s"]:
    """E max(y_1, y_2), by Clark's (1961) formula: the second, and by how much the first exceeds it.

    Args:
        mean: of both values.
        cov: their covariance matrix, which may be singular.
    """
    mean, cov = jnp.asarray(mean), jnp.asarray(cov)
    first, second = mean[..., 0], mean[..., 1]
    variance = cov[..., 0, 0] + cov[..., 1, 1] - 2.0 * cov[..., 0, 1]
    certain = variance <= 0.0
    theta = jnp.sqrt(jnp.where(certain, 1.0, variance))
    excess = expected_excess(first - second, theta, 0.0)
    return jnp.where(certain, jnp.maximum(first, second), second + excess)
