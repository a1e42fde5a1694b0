"""Fourier features: waves whose frequencies follow the spectrum of a stationary kernel.

Notation: angular frequencies `theta (l/2, d)` (2 pi times cycles) with weights `a (l/2,)`,

    k(x, y) = E cos(theta . (x - y)) ~ sum_i a_i cos(theta_i . (x - y)) = phi(x) . phi(y),
    phi(x)  = [sqrt(a_i) cos(theta_i . x)]_i , [sqrt(a_i) sin(theta_i . x)]_i

(Rahimi and Recht 2007; Tiao 2023, eq. A.7). The weights sum to k(x, x), so the variance of a draw
is right everywhere. Frequencies are functions of the kernel's parameters and of uniform numbers
that do not depend on them: draws are differentiable in length scales.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_choice
from leadline.kernels import Frequencies, Kernel
from leadline.numerics import shifted_sobol, sine_and_cosine
from leadline.paths._features._features import Features


class Waves(Features):
    """Cosines and sines of given angular frequencies.

    Args:
        theta: angular frequencies (l/2, d).
        weight: the variance of each (l/2,), not negative.
    """

    theta: Float[Array, "h d"]
    weight: Float[Array, " h"]

    @property
    def size(self):
        """Two for each frequency."""
        return 2 * self.theta.shape[-2]

    @property
    def dim(self):
        return self.theta.shape[-1]

    def __call__(self, x):
        return jnp.concatenate(self._cosines_and_sines(x), axis=-1)

    def values(self, x, weights):
        """Two products instead of one with the concatenated features, which would be copied."""
        cosines, sines = self._cosines_and_sines(x)
        h = self.theta.shape[0]
        return weights[:, :h] @ cosines.T + weights[:, h:] @ sines.T

    def paired_values(self, x, weights):
        h = self.theta.shape[0]
        amplitude = _root(self.weight)
        s, c = sine_and_cosine(x @ self.theta.T)
        return jnp.sum(
            c * (amplitude * weights[:, :h])[:, None] + s * (amplitude * weights[:, h:])[:, None],
            axis=-1,
        )

    def variance(self, x):
        """The same everywhere."""
        return jnp.full(x.shape[0], jnp.sum(self.weight))

    def _cosines_and_sines(self, x: Any) -> tuple[Array, Array]:
        amplitude = _root(self.weight)
        s, c = sine_and_cosine(x @ self.theta.T)
        return amplitude * c, amplitude * s


class FourierFeatures(Waves):
    """Waves with frequencies drawn from the kernel's spectrum.

    Args:
        kernel: a kernel with frequencies (stationary ones, and sums and products of them).
        size: how many features, two for each frequency.
        dim: how many columns the inputs have.
        key: a random key.
        points: "sobol" for evenly spread frequencies, whose kernel error falls almost as 1 / size
            in few dimensions; "random" for independent ones, whose error falls as its root; "tails"
            for evenly spread ones with more of them in the tails of the spectrum (Matern kernels):
            best for draws from posteriors, where data leave only high frequencies open.
            Matern frequencies take chi-square quantiles of one more coordinate, which is far
            better than weighting normal ones (Tiao 2023, appendix A.3).
    """

    def __init__(self, kernel: Kernel, size: int, dim: int, *, key: Array, points: str = "sobol"):
        as_choice(points, ("sobol", "random", "tails"), "points")
        self.theta, self.weight = _drawn(kernel, half(size), dim, key, points)


class OrthogonalFeatures(Waves):
    """Waves whose directions are orthogonal within blocks of `dim` (Yu et al. 2016).

    The length of each frequency is drawn on its own, so each of them has the right law, but their
    directions repel: the kernel error is smaller than that of independent frequencies.

    Args:
        kernel: a kernel with frequencies whose coordinates come from normal quantiles, one for each
            input column: squared exponential, Matern, rational quadratic, and scalings of them.
        size: how many features, two for each frequency.
        dim: how many columns the inputs have.
        key: a random key.
    """

    def __init__(self, kernel: Kernel, size: int, dim: int, *, key: Array):
        more = kernel.frequency_inputs(dim) - dim
        if len(kernel.terms()) > 1 or more not in (0, 1):
            raise InvalidData(
                f"OrthogonalFeatures take a kernel with one isotropic spectrum, got {kernel!r}; "
                "use FourierFeatures for sums and products."
            )
        self.theta, self.weight = _drawn_orthogonal(kernel, half(size), dim, key)


class PhaseShiftedFeatures(Features):
    """Cosines with random phases, one feature for each frequency (Rahimi and Recht 2007).

    phi_i(x) = sqrt(2 a_i) cos(theta_i . x + b_i). As many features hold twice the frequencies of
    `FourierFeatures`, but the variance of a draw is right only on average, and the kernel error of
    smooth kernels is larger (Sutherland and Schneider 2015).

    Args:
        kernel: a kernel with frequencies.
        size: how many features.
        dim: how many columns the inputs have.
        key: a random key.
    """

    theta: Float[Array, "l d"]
    weight: Float[Array, " l"]
    phase: Float[Array, " l"]

    def __init__(self, kernel: Kernel, size: int, dim: int, *, key: Array):
        frequencies, phases = jax.random.split(key)
        self.theta, self.weight = _drawn(kernel, size, dim, frequencies, "random")
        self.phase = 2.0 * np.pi * jax.random.uniform(phases, (size,))

    @property
    def size(self):
        return self.theta.shape[-2]

    @property
    def dim(self):
        return self.theta.shape[-1]

    def __call__(self, x):
        _, cosines = sine_and_cosine(x @ self.theta.T + self.phase)
        return _root(2.0 * self.weight) * cosines


# One program for each: called piece by piece, the first draw would take several times as long.
@eqx.filter_jit
def _drawn(kernel: Kernel, n: int, dim: int, key: Array, points: str) -> Frequencies:
    shape = n, kernel.frequency_inputs(dim)
    u = jax.random.uniform(key, shape) if points == "random" else shifted_sobol(key, *shape)
    return kernel.tail_frequencies_at(u) if points == "tails" else kernel.frequencies_at(u)


@eqx.filter_jit
def _drawn_orthogonal(kernel: Kernel, n: int, dim: int, key: Array) -> Frequencies:
    directions, lengths, mixing = jax.random.split(key, 3)
    blocks = -(-n // dim)
    # Gram-Schmidt of normal vectors; with the signs of the diagonal, rotations are uniform.
    g = jax.random.normal(directions, (blocks, dim, dim))
    q = jax.lax.map(_rotation, g).reshape(blocks * dim, dim)[:n]
    s = jnp.linalg.norm(jax.random.normal(lengths, (n, dim)), axis=1, keepdims=True)
    more = kernel.frequency_inputs(dim) - dim
    u = [jax.scipy.special.ndtr(s * q), jax.random.uniform(mixing, (n, more))]
    return kernel.frequencies_at(jnp.concatenate(u, axis=1))


def _root(weight: Array) -> Array:
    """The square root; weights of zero, which may be functions of parameters, have gradient 0."""
    return jnp.where(weight > 0, jnp.sqrt(jnp.where(weight > 0, weight, 1.0)), 0.0)


def half(size: Any) -> int:
    """The number of frequencies of `size` features, cosines and sines."""
    if size < 2 or size % 2:
        raise InvalidData(f"The number of features must be even (cosines and sines), got {size}.")
    return int(size) // 2


def _rotation(g: Array) -> Array:
    q, r = jnp.linalg.qr(g)
    return q * jnp.sign(jnp.diagonal(r))
