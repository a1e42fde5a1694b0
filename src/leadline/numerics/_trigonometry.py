"""Sine and cosine together, in plain arithmetic.

XLA calls the C library once for each number on a CPU, about 20 ns for a sine and a cosine; what is
written here becomes vector instructions, about 2 ns for both, and function draws are mostly sines
and cosines.

Notation: `x = k pi/2 + r` with a whole `k` and `|r| <= pi/4`. pi/2 is split into three parts whose
leading bits multiply `k` without rounding (Cody and Waite 1980); on the small interval both
functions are polynomials in `r^2` with minimax coefficients. The error is one unit in the last
place up to |x| = 1e6, and that of rounding `x` itself beyond.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

_HALF_PI = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)
_SINE = (
    1.58969099521155010221e-10,
    -2.50507602534068634195e-08,
    2.75573137070700676789e-06,
    -1.98412698298579493134e-04,
    8.33333333332248946124e-03,
    -1.66666666666666324348e-01,
)
_COSINE = (
    -1.13596475577881948265e-11,
    2.08757232129817482790e-09,
    -2.75573143513906633035e-07,
    2.48015872894767294178e-05,
    -1.38888888888741095749e-03,
    4.16666666666666019037e-02,
)


@jax.custom_jvp
def sine_and_cosine(x: Float[Array, ...]) -> tuple[Float[Array, ...], Float[Array, ...]]:
    """Sin x and cos x."""
    k = jnp.round(x * (2.0 / np.pi))
    r = x
    for part in _HALF_PI:
        r = r - k * part
    # From |x| = 1e16 on nothing is left of the phase; the values still are sines and cosines.
    r = jnp.clip(r, -0.8, 0.8)
    z = r * r
    sine = r + r * z * _polynomial(_SINE, z)
    cosine = 1.0 - 0.5 * z + z * z * _polynomial(_COSINE, z)
    quadrant = k - 4.0 * jnp.floor(0.25 * k)
    second, third = quadrant == 1.0, quadrant == 2.0
    swap = second | (quadrant == 3.0)
    s, c = jnp.where(swap, cosine, sine), jnp.where(swap, sine, cosine)
    return jnp.where(quadrant >= 2.0, -s, s), jnp.where(second | third, -c, c)


@sine_and_cosine.defjvp
def _sine_and_cosine_jvp(primals, tangents):
    (x,), (dx,) = primals, tangents
    s, c = sine_and_cosine(x)
    return (s, c), (c * dx, -s * dx)


def _polynomial(coefficients: tuple[float, ...], z: Array) -> Array:
    total = jnp.full_like(z, coefficients[0])
    for c in coefficients[1:]:
        total = total * z + c
    return total
