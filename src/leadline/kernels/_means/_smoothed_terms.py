"""Separable kernels averaged over a Gaussian difference of their arguments.

Notation: `E[k(tau)]`, `tau ~ N(delta, spread)`, for `delta (n, d)` and `spread` as variances `(d,)`
or a covariance matrix `(d, d)`. A difference of independent Gaussians is Gaussian, so that this one
average serves means, double means, and means of products (Naiff 2019, 4.12, 4.15 and appendix D,
whose printed exponents are wrong).
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from leadline.kernels._means._separable import SeparableTerm
from leadline.kernels._means._smoothing import smoothed_matern
from leadline.numerics import solve_lower


def smoothed_term(term: SeparableTerm, delta: Array, spread: Array) -> Array:
    """The average for each row of `delta`, `(n,)`."""
    wave = _wave_diagonal if spread.ndim == 1 else _wave_full
    log_size, phase = wave(term, delta, spread)
    value = term.coefficient * jnp.exp(log_size)
    if phase is not None:
        value = value * jnp.cos(phase)
    for nu, columns, l in term.materns:
        at = np.asarray(columns, dtype=int)
        each = smoothed_matern(nu, delta[:, at] / l, spread[at] / l**2)
        value = value * jnp.prod(each, axis=1)
    return value


def _wave_diagonal(term: SeparableTerm, delta: Array, s2: Array) -> tuple[Array, Array | None]:
    """The log amplitude `(n,)` and the phase of the smoothed wave; no phase if there is no wave."""
    p, growth = term.precision, 1.0 + term.precision * s2
    log_size = -0.5 * jnp.sum(jnp.log(growth)) - 0.5 * (delta * delta) @ (p / growth)
    if term.cycles is None:
        return log_size, None
    omega = 2.0 * np.pi * term.cycles
    return log_size - 0.5 * jnp.sum(omega * omega * s2 / growth), delta @ (omega / growth)


def _wave_full(term: SeparableTerm, delta: Array, cov: Array) -> tuple[Array, Array | None]:
    """The same with a covariance matrix, through the factor of `I + P^(1/2) cov P^(1/2)`."""
    p = term.precision
    root = jnp.where(p > 0.0, jnp.sqrt(jnp.where(p > 0.0, p, 1.0)), 0.0)
    L = jnp.linalg.cholesky(jnp.eye(p.shape[0]) + root[:, None] * cov * root)
    white = solve_lower(L, (root * delta).T)
    log_size = -jnp.sum(jnp.log(jnp.diagonal(L))) - 0.5 * jnp.sum(white * white, axis=0)
    if term.cycles is None:
        return log_size, None
    omega = 2.0 * np.pi * term.cycles
    moved = cov @ omega
    shrink = solve_lower(L, root * moved)
    log_size = log_size - 0.5 * (omega @ moved - shrink @ shrink)
    return log_size, delta @ omega - shrink @ white
