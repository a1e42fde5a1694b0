"""The periodic kernel, and its line spectrum.

Notation: `tau = x - y`, `a_d = 1 / lengthscale_d^2`, `c_n(a) = e^-a I_n(a)` with the modified
Bessel function I_n. Each column is wound onto a circle,

    k = exp(-2 sum_d sin^2(pi tau_d / period_d) / lengthscale_d^2)
      = exp(-|e(x) - e(y)|^2 / 2),    e(x)_d = (cos, sin)(2 pi x_d / period_d) / lengthscale_d,

and its spectrum has lines at the multiples of 2 pi / period_d:

    exp(a cos(w) - a) = sum over all integers n of c_n(a) cos(n w).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.kernels._kernel import Frequencies, Kernel, check_columns, check_shape
from leadline.numerics import positive, squared_distance

# Twice the highest harmonic; enough for length scales down to 0.004.
_CIRCLE = 4096


class Periodic(Kernel):
    """k = exp(-2 sum_d sin^2(pi tau_d / period_d) / lengthscale_d^2) (MacKay 1998).

    `period` is in units of the inputs, `lengthscale` is a pure number: how much a function bends
    within a period. Each may be shared or one for each input column.
    """

    lengthscale: Float[Array, ...] = positive(1.0)
    period: Float[Array, ...] = positive(1.0, scales_with="input")

    def __check_init__(self):
        check_shape(self, "lengthscale", 0, 1)
        check_shape(self, "period", 0, 1)

    def __call__(self, x, y):
        return jnp.exp(-0.5 * squared_distance(self._wind(x), self._wind(y)))

    def _wind(self, x):
        check_columns(self, "lengthscale", x)
        check_columns(self, "period", x)
        angle = (2.0 * np.pi) * (x / self.period)
        return jnp.concatenate(
            [jnp.cos(angle) / self.lengthscale, jnp.sin(angle) / self.lengthscale], axis=1
        )

    def diag(self, x):
        return jnp.ones(x.shape[0])

    def frequency_inputs(self, dim: int) -> int:
        """One uniform number per input column."""
        return dim

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Random harmonics; n has probability c_n(a).

        Harmonics are whole numbers and cannot move with the length scale. The weights carry its
        gradient instead: a factor that is 1 and has the derivative of log c_n(a).
        """
        check_columns(self, "lengthscale", u)
        check_columns(self, "period", u)
        lines = jax.vmap(_harmonics)(jnp.broadcast_to(self.lengthscale, u.shape[1:]))
        harmonic, chance = jax.vmap(_choose, in_axes=(0, 1), out_axes=1)(lines, u)
        one = chance / jax.lax.stop_gradient(chance)
        return Frequencies(
            (2.0 * np.pi) * (harmonic / self.period), jnp.prod(one, axis=1) / u.shape[0]
        )


def _harmonics(lengthscale: Array) -> Array:
    """The probabilities of |n| = 0, 1, ..., by the trapezoid rule on the circle (exact)."""
    angle = jnp.arange(_CIRCLE) * (2.0 * np.pi / _CIRCLE)
    values = jnp.exp(-2.0 * (jnp.sin(0.5 * angle) / lengthscale) ** 2)
    lines = jnp.fft.rfft(values).real / _CIRCLE
    return jnp.maximum(lines, 0.0) * jnp.where(jnp.arange(lines.size) == 0, 1.0, 2.0)


def _choose(lines: Array, u: Array) -> tuple[Array, Array]:
    """Harmonics of both signs, and the probabilities with which they were chosen."""
    centered = 2.0 * u - 1.0
    edges = jax.lax.stop_gradient(jnp.cumsum(lines))
    n = jnp.minimum(jnp.searchsorted(edges / edges[-1], jnp.abs(centered)), lines.size - 1)
    chance = lines[n]
    return jnp.sign(centered) * n, jnp.where(chance > 0, chance, 1.0)
