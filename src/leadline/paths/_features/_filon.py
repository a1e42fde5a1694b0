"""Filon's rule: integrals of a smooth function times a fast cosine.

Notation: `n = 2 L + 1` equally spaced nodes `u_i` of [a, b] with spacing `h`, values `g_i`,
`theta = h t`, `f_i = g_i cos(u_i t)`;

    int_a^b g(u) cos(u t) du ~ h [ alpha S_odd + beta S_even + gamma E ],

with the sums S_odd of f_1, f_3, ..., and S_even of f_0 / 2, f_2, f_4, ..., f_2L / 2, and the ends
E = g_b sin(b t) - g_a sin(a t). The rule integrates the parabola through each three nodes times the
cosine exactly, so its error does not grow with `t`; at t = 0 it is Simpson's (Filon 1928; Tiao
2023, appendix A.3).

Its weights depend on `t`. For a kernel, `t` is the difference of two inputs, so the sum is not an
inner product of features of each: the rule evaluates kernels, and there is nothing to draw with.
"""

from __future__ import annotations

from math import factorial

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData
from leadline.kernels import Kernel
from leadline.paths._features._quadrature import lengthscales

# Below this theta the three factors are series in theta^2: their direct forms cancel. Further terms
# are less than a rounding error.
_SERIES_BELOW = 0.3
_ALPHA = [(-1) ** (k + 1) * 8 * k / factorial(2 * k + 1) for k in range(1, 7)]
_BETA = [(-1) ** k * 4**k * (2 * k - 3) / factorial(2 * k + 1) for k in range(1, 8)]
_GAMMA = [(-1) ** k * 4 ** (k - 1) * (4 - 2 * k) / factorial(2 * k) for k in range(3, 10)]


def filon_integral(
    values: Float[Array | np.ndarray, " n"],
    lower: float | Float[Array, ""],
    upper: float | Float[Array, ""],
    t: Float[Array | np.ndarray, " m"],
) -> Float[Array, " m"]:
    """`int g(u) cos(u t) du` from `lower` to `upper`, for each `t`.

    Args:
        values: g at an odd number of equally spaced nodes, the two ends included.
        lower: the first node.
        upper: the last one.
        t: how fast the cosines are.
    """
    n = len(values)
    _check_nodes(n)
    values, t = jnp.asarray(values), jnp.asarray(t)
    u = jnp.linspace(lower, upper, n)
    h = (upper - lower) / (n - 1)
    ends = np.ones(n)
    ends[[0, -1]] = 0.5
    f = ends * values * jnp.cos(t[:, None] * u)
    alpha, beta, gamma = filon_factors(h * t)
    boundary = values[-1] * jnp.sin(upper * t) - values[0] * jnp.sin(lower * t)
    odd, even = jnp.sum(f[:, 1::2], axis=1), jnp.sum(f[:, ::2], axis=1)
    return h * (alpha * odd + beta * even + gamma * boundary)


def filon_kernel(
    kernel: Kernel, lags: Float[Array | np.ndarray, " m"], nodes: int, *, reach: float = 6.0
) -> Float[Array, " m"]:
    """k(x, x + lag) for one input column, from the spectral density.

    Args:
        kernel: squared exponential, Matern or product-Matern, or a scaling of one.
        lags: differences of inputs.
        nodes: an odd number of frequencies between 0 and `reach / lengthscale`.
        reach: where the spectrum is cut off. What lies beyond is lost, 2e-9 of a squared
            exponential at 6 but 2e-3 of a Matern-5/2; heavy tails need more, and more nodes.
    """
    _check_nodes(nodes)
    upper = reach / lengthscales(kernel, 1)[0]
    density = kernel.spectral_density(jnp.linspace(0.0, upper, nodes)[:, None])
    return 2.0 * filon_integral(density, 0.0, upper, lags)


def filon_factors(
    theta: Float[Array, " m"],
) -> tuple[Float[Array, " m"], Float[Array, " m"], Float[Array, " m"]]:
    """The alpha, beta and gamma of the rule.

    Series up to 0.3, where either form is right to 1e-13; the direct forms lose all digits
    towards zero.
    """
    near = jnp.abs(theta) < _SERIES_BELOW
    z = jnp.where(near, theta, 0.0)
    far = jnp.where(near, 1.0, theta)
    s, c = jnp.sin(far), jnp.cos(far)
    alpha = 4.0 * (s - far * c) / far**3
    beta = 2.0 * (far * (1.0 + c * c) - 2.0 * s * c) / far**3
    gamma = (far**2 + far * s * c - 2.0 * s * s) / far**3
    return (
        jnp.where(near, _polynomial(_ALPHA, z * z), alpha),
        jnp.where(near, _polynomial(_BETA, z * z), beta),
        jnp.where(near, z**3 * _polynomial(_GAMMA, z * z), gamma),
    )


def _polynomial(coefficients: list[float], z: Array) -> Array:
    return jnp.polyval(jnp.asarray(coefficients[::-1]), z)


def _check_nodes(n: int) -> None:
    if n < 3 or n % 2 == 0:
        raise InvalidData(f"Filon's rule takes an odd number of nodes, 3 or more, got {n}.")
