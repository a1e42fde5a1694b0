"""Plane waves."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.kernels._kernel import Frequencies, Kernel, check_columns, check_shape
from leadline.kernels._spectrum import equally_weighted, random_sign
from leadline.numerics import positive


def plane_wave(x: Any, y: Any, cycles: Float[Array, " d"]) -> Float[Array, "n m"]:
    """cos(2 pi (x - y) . cycles) for x (n, d) and y (m, d), from waves at each row."""
    center = jax.lax.stop_gradient(jnp.mean(x, axis=0))  # small angles keep their digits
    a, b = ((2.0 * np.pi) * ((rows - center) @ cycles) for rows in (x, y))
    return jnp.cos(a)[:, None] * jnp.cos(b)[None, :] + jnp.sin(a)[:, None] * jnp.sin(b)[None, :]


class Cosine(Kernel):
    """k = cos(2 pi sum_d (x_d - y_d) / period_d): one wave of unknown phase and height."""

    period: Float[Array, ...] = positive(1.0, scales_with="input")

    def __check_init__(self):
        check_shape(self, "period", 0, 1)

    def __call__(self, x, y):
        check_columns(self, "period", x)
        return plane_wave(x, y, jnp.broadcast_to(1.0 / self.period, x.shape[1:]))

    def diag(self, x):
        return jnp.ones(x.shape[0])

    def frequency_inputs(self, dim: int) -> int:
        """One number per input column; the first gives the sign."""
        return dim

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """The wave's one frequency, with random signs."""
        check_columns(self, "period", u)
        theta = jnp.broadcast_to((2.0 * np.pi) / self.period, u.shape)
        return equally_weighted(theta * random_sign(u[:, :1]))
