"""Gaussian measures times sections of separable kernels, which are Gaussian measures again.

Notation: a kernel term k of precision P without waves and Matern factors, a Gaussian measure
N(b, S), a point x. As a function of z,

    k(x, z) N(z | b, S) = mass N(z | center, spread),    mass = int k(x, z) N(z | b, S) dz,
    spread = (S^-1 + P)^-1,    center = b + spread P (x - b).

So means of products of kernels are means of one kernel, whatever it is: with the terms a and c
tilting one measure or two,

    int k_a(x, z) k_b(z, y) dz          = mass_a(x) E k_b(z - y),       z ~ the tilted measure
    int int k_a(x, z) k_b(z, z') k_c(z', y) = mass_a(x) mass_c(y) E k_b(z - z')

(the pair and triple integrals of Hamid 2023, section 2.3.2, without differences of large numbers).
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.kernels._means._separable import SeparableTerm
from leadline.kernels._means._smoothed_terms import smoothed_term
from leadline.numerics import solve_lower


class Tilted(NamedTuple):
    """A Gaussian measure times the sections of a term at `n` points."""

    mass: Float[Array, " n"]
    center: Float[Array, "n d"]
    spread: Float[Array, " d"] | Float[Array, "d d"]


def tilts(term: SeparableTerm) -> bool:
    """Whether a Gaussian measure times a section of the term is Gaussian."""
    return term.cycles is None and not term.materns


def tilted(term: SeparableTerm, location: Array, spread: Array, root: Array, x: Array) -> Tilted:
    """N(location, spread) times the sections at the rows of `x`; `root` is that of `spread`."""
    p = term.precision
    mass = smoothed_term(term, location - x, spread)
    if spread.ndim == 1:
        smaller = spread / (1.0 + p * spread)
        return Tilted(mass, location + (x - location) * (p * smaller), smaller)
    inner = jnp.eye(p.shape[0]) + root.T @ (p[:, None] * root)
    half = solve_lower(jnp.linalg.cholesky(inner), root.T)
    smaller = half.T @ half
    return Tilted(mass, location + ((x - location) * p) @ smaller, smaller)


def tilted_pair(a: Tilted, b: SeparableTerm, y: Float[Array, "m d"]) -> Float[Array, "n m"]:
    """`E k_b(z - y)` of each tilted measure and each row of `y`, times the masses."""
    delta = a.center[:, None, :] - y[None, :, :]
    return a.mass[:, None] * _smoothed_table(b, delta, a.spread)


def tilted_triple(a: Tilted, b: SeparableTerm, c: Tilted) -> Float[Array, "n m"]:
    """`E k_b(z - z')` of each pair of tilted measures, times both masses."""
    delta = a.center[:, None, :] - c.center[None, :, :]
    table = _smoothed_table(b, delta, a.spread + c.spread)
    return a.mass[:, None] * table * c.mass[None, :]


def _smoothed_table(term: SeparableTerm, delta: Array, spread: Array) -> Array:
    n, m, d = delta.shape
    return smoothed_term(term, delta.reshape(np.prod((n, m)), d), spread).reshape(n, m)
