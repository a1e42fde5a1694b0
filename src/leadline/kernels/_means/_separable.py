"""Kernels whose integrals against simple measures are known: waves in Gaussians times Materns.

Notation: on `d` input columns, with `tau = x - y`,

    k(tau) = coefficient exp(-1/2 sum_i precision_i tau_i^2) cos(2 pi cycles . tau)
             prod_(nu, c, l) m_nu(|tau_c| / l)

where the columns `c` of Matern factors have no other factor. Squared exponentials, components of
spectral mixtures, waves, constants and products of one-dimensional Materns have this form, and so
do many of their products.
"""

from __future__ import annotations

import dataclasses
from functools import reduce, singledispatch
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.kernels._active_dims import ActiveDims
from leadline.kernels._algebra import Constant, Product, Scale
from leadline.kernels._cosine import Cosine
from leadline.kernels._kernel import Kernel, check_columns
from leadline.kernels._matern import Matern, Matern12, Matern32, Matern52
from leadline.kernels._product_matern import ProductMatern
from leadline.kernels._spectral_mixture import SpectralMixture
from leadline.kernels._stationary import SquaredExponential
from leadline.kernels._white import White

_ORDERS = (0.5, 1.5, 2.5)


class MaternFactor(NamedTuple):
    """One-dimensional Matern kernels of one order, each of its own column."""

    nu: float
    columns: tuple[int, ...]
    lengthscale: Float[Array, " c"]

    def on(self, block: range) -> MaternFactor:
        """Those in a block of columns, counted from its first."""
        chosen = [i for i, c in enumerate(self.columns) if c in block]
        columns = tuple(self.columns[i] - block.start for i in chosen)
        return MaternFactor(self.nu, columns, self.lengthscale[np.asarray(chosen, dtype=int)])


@dataclasses.dataclass(frozen=True)
class SeparableTerm:
    """A kernel of the form above; `columns` are those that the Gaussian and the wave read."""

    coefficient: Float[Array, ""]
    precision: Float[Array, " d"]
    cycles: Float[Array, " d"] | None = None
    columns: frozenset[int] = frozenset()
    materns: tuple[MaternFactor, ...] = ()

    def times(self, other: SeparableTerm) -> SeparableTerm | None:
        """The product, if it has the form above."""
        mine, yours = ({c for f in t.materns for c in f.columns} for t in (self, other))
        if mine & (yours | other.columns) or yours & self.columns:
            return None
        if self.cycles is not None and other.cycles is not None:
            return None
        return SeparableTerm(
            self.coefficient * other.coefficient,
            self.precision + other.precision,
            other.cycles if self.cycles is None else self.cycles,
            self.columns | other.columns,
            self.materns + other.materns,
        )

    def on(self, block: range) -> SeparableTerm:
        """The factors of a block of columns, without the coefficient; for terms without waves."""
        return SeparableTerm(
            jnp.ones(()),
            self.precision[block.start : block.stop],
            columns=frozenset(c - block.start for c in self.columns if c in block),
            materns=tuple(f.on(block) for f in self.materns),
        )


@singledispatch
def separable_term(kernel: Kernel, columns: tuple[int, ...], dim: int) -> SeparableTerm | None:
    """`kernel`, reading `columns` of `dim`, as a separable term; None if it is not one."""
    del kernel, columns, dim


@separable_term.register
def _(kernel: Constant, columns, dim):
    return SeparableTerm(kernel.variance, jnp.zeros(dim))


@separable_term.register
def _(kernel: White, columns, dim):
    """Two points of a measure with a density are never equal: it integrates to zero."""
    return SeparableTerm(jnp.zeros(()), jnp.zeros(dim))


@separable_term.register
def _(kernel: Scale, columns, dim):
    inside = separable_term(kernel.kernel, columns, dim)
    if inside is None:
        return None
    return dataclasses.replace(inside, coefficient=kernel.variance * inside.coefficient)


@separable_term.register
def _(kernel: Product, columns, dim):
    factors = [separable_term(k, columns, dim) for k in kernel.kernels]
    return reduce(lambda a, b: None if a is None or b is None else a.times(b), factors)


@separable_term.register
def _(kernel: ActiveDims, columns, dim):
    chosen = kernel.select(np.asarray([columns]))[0]
    return separable_term(kernel.kernel, tuple(chosen.tolist()), dim)


@separable_term.register
def _(kernel: SquaredExponential, columns, dim):
    at = _checked(kernel, "lengthscale", columns)
    precision = jnp.zeros(dim).at[at].set(kernel.lengthscale**-2.0)
    return SeparableTerm(jnp.ones(()), precision, columns=frozenset(columns))


@separable_term.register
def _(kernel: Cosine, columns, dim):
    cycles = jnp.zeros(dim).at[_checked(kernel, "period", columns)].set(1.0 / kernel.period)
    return SeparableTerm(jnp.ones(()), jnp.zeros(dim), cycles, frozenset(columns))


@separable_term.register
def _(kernel: SpectralMixture, columns, dim):
    if len(kernel.weights) > 1:
        return None
    at = _checked(kernel, "means", columns)
    precision = jnp.zeros(dim).at[at].set((2.0 * np.pi * kernel.scales[0]) ** 2)
    cycles = jnp.zeros(dim).at[at].set(kernel.means[0])
    return SeparableTerm(kernel.weights[0], precision, cycles, frozenset(columns))


@separable_term.register
def _(kernel: ProductMatern, columns, dim):
    return _matern_term(kernel, kernel.nu, columns, dim)


@separable_term.register(Matern)
@separable_term.register(Matern12)
@separable_term.register(Matern32)
@separable_term.register(Matern52)
def _(kernel, columns, dim):
    """On one column the distance is the difference."""
    if len(columns) > 1 or kernel.smoothness not in _ORDERS:
        return None
    return _matern_term(kernel, kernel.smoothness, columns, dim)


def _matern_term(kernel, nu: float, columns: tuple[int, ...], dim: int) -> SeparableTerm:
    at = _checked(kernel, "lengthscale", columns)
    factor = MaternFactor(nu, columns, jnp.broadcast_to(kernel.lengthscale, at.shape))
    return SeparableTerm(jnp.ones(()), jnp.zeros(dim), materns=(factor,))


def _checked(kernel: Kernel, name: str, columns: tuple[int, ...]) -> np.ndarray:
    """The columns as an index, if the parameter `name` has as many values."""
    check_columns(kernel, name, jnp.zeros((0, len(columns))))
    return np.asarray(columns)
