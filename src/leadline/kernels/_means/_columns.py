"""Pair and triple integrals of kernels that are products over columns, one column at a time.

Notation: a measure whose coordinates are independent, with densities `m` on `[lower, upper]`; terms
`k_a`, `k_b`, `k_c` that are products of one-dimensional kernels; points `x (n,)` and `y (m,)` of a
column. For each column

    pair   = int k_a(x - z) k_b(z - y) m(z) dz
    triple = int k_a(x - z) H(z, y) m(z) dz,    H(z, y) = int k_b(z - t) k_c(t - y) m(t) dt

by Gauss-Legendre rules between the places where a Matern kernel has a kink: x, y, and in H also z
itself, which lies inside of one cell of the rule; that cell alone is integrated again in two parts.
No cell is longer than the shortest scale, or there are as many of them as are allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import is_traced
from leadline.kernels._means._intervals import matern_profile
from leadline.kernels._means._separable import SeparableTerm
from leadline.measures import Gaussian, Measure, Uniform
from leadline.measures import Product as ProductMeasure

_points, _weights = np.polynomial.legendre.leggauss(8)
_NODES, _WEIGHTS = 0.5 * (_points + 1.0), 0.5 * _weights
# Fewest and most cells besides those that points make.
_FEWEST, _MOST = 32, 1024
# A Gaussian density ends so many deviations from its mean, where 1e-17 of it is left.
_DEVIATIONS = 8.5


class Columns(NamedTuple):
    """The coordinates of a measure: their ends, and where they are Gaussian their scale."""

    lower: Float[Array, " d"]
    upper: Float[Array, " d"]
    center: Float[Array, " d"]
    scale: Float[Array, " d"]
    bounded: np.ndarray

    def density(self, z: Array, i: Array) -> Array:
        """The density of coordinate `i` at points inside of its ends."""
        width = self.upper[i] - self.lower[i]
        u = (z - self.center[i]) / self.scale[i]
        normal = jnp.exp(-0.5 * u * u) / (np.sqrt(2.0 * np.pi) * self.scale[i])
        return jnp.where(jnp.asarray(self.bounded)[i], 1.0 / width, normal)


def columns_of(measure: Measure) -> Columns | None:
    """The coordinates, if they are independent and each is uniform or Gaussian."""
    if isinstance(measure, Uniform):
        mid = 0.5 * (measure.lower + measure.upper)
        bounded = np.ones(measure.dim, bool)
        return Columns(measure.lower, measure.upper, mid, measure.width, bounded)
    if isinstance(measure, Gaussian) and measure.diagonal:
        reach = _DEVIATIONS * measure.root
        lower, upper = measure.location - reach, measure.location + reach
        return Columns(lower, upper, measure.location, measure.root, np.zeros(measure.dim, bool))
    if isinstance(measure, ProductMeasure):
        parts = [columns_of(each) for each in measure.measures]
        if all(part is not None for part in parts):
            return Columns(*(jnp.concatenate(each) for each in zip(*parts, strict=True)))  # pyright: ignore[reportArgumentType]
    return None


def factors(term: SeparableTerm) -> bool:
    """Whether a term is a product over columns."""
    return term.cycles is None


class _Shape(NamedTuple):
    """One-dimensional factors of a term: where there is no Matern kernel, `nu` is None."""

    nus: tuple[float | None, ...]
    precision: Float[Array, " d"]
    lengthscale: Float[Array, " d"]
    read: frozenset[int]

    @classmethod
    def of(cls, term: SeparableTerm) -> _Shape:
        d = term.precision.shape[0]
        nus: list[float | None] = [None] * d
        lengthscale = jnp.ones(d)
        for nu, columns, l in term.materns:
            lengthscale = lengthscale.at[np.asarray(columns)].set(l)
            for column in columns:
                nus[column] = nu
        read = term.columns | {i for i, nu in enumerate(nus) if nu is not None}
        return cls(tuple(nus), term.precision, lengthscale, frozenset(read))

    def value(self, nu: float | None, i: Array, r: Array) -> Array:
        """The factor of column `i` at differences, if it is of this kind."""
        if nu is None:
            return jnp.exp(-0.5 * self.precision[i] * r * r)
        return matern_profile(nu, np.sqrt(2.0 * nu) * jnp.abs(r) / self.lengthscale[i])

    def shortest(self) -> Array:
        """The scale of each column on which its factor changes."""
        p = jnp.maximum(self.precision, 1e-300)
        smooth = np.asarray([nu is None for nu in self.nus])
        return jnp.where(smooth, 1.0 / jnp.sqrt(p), self.lengthscale)


def cells_of(columns: Columns, terms: list[SeparableTerm]) -> Array:
    """How many cells the shortest scale asks for."""
    width = columns.upper - columns.lower
    scales = [_Shape.of(term).shortest() for term in terms]
    shortest = jnp.minimum(jnp.min(jnp.stack(scales), axis=0), columns.scale)
    return jnp.max(width / shortest)


def as_cells(asked: Array | None) -> int:
    """A count of cells for a rule, of few different ones; None if it is not known."""
    if asked is None or is_traced(asked):
        return 8 * _FEWEST
    return int(min(2 ** np.ceil(np.log2(max(float(asked), _FEWEST))), _MOST))


def pair_by_columns(
    columns: Columns, a: SeparableTerm, b: SeparableTerm, x: Array, y: Array, cells: int
) -> Float[Array, "n m"]:
    """The pair integral of two terms, by the module's rule."""
    shapes = _Shape.of(a), _Shape.of(b)

    def factor(nus, i):
        rule = _Rule.of(columns, i, x, y, cells)
        of_x = shapes[0].value(nus[0], i, x[:, i, None] - rule.nodes)
        of_y = shapes[1].value(nus[1], i, rule.nodes[:, None] - y[:, i])
        return (of_x * rule.weights) @ of_y

    return a.coefficient * b.coefficient * _product(shapes, factor, x, y)


def triple_by_columns(
    columns: Columns,
    a: SeparableTerm,
    b: SeparableTerm,
    c: SeparableTerm,
    x: Array,
    y: Array,
    cells: int,
) -> Float[Array, "n m"]:
    """The triple integral of three terms, by the module's rule."""
    shapes = _Shape.of(a), _Shape.of(b), _Shape.of(c)

    def factor(nus, i):
        rule = _Rule.of(columns, i, x, y, cells)
        z = rule.nodes
        of_x = shapes[0].value(nus[0], i, x[:, i, None] - z)
        of_y = shapes[2].value(nus[2], i, z[:, None] - y[:, i])
        inner = shapes[1].value(nus[1], i, z[:, None] - z) @ (rule.weights[:, None] * of_y)
        if nus[1] is not None:

            def kinked(z, t):
                k = shapes[1].value(nus[1], i, z - t) * columns.density(t, i)
                return k, shapes[2].value(nus[2], i, t[..., None] - y[:, i])

            inner = inner + rule.mended(kinked)
        return (of_x * rule.weights) @ inner

    coefficient = a.coefficient * b.coefficient * c.coefficient
    return coefficient * _product(shapes, factor, x, y)


def _product(shapes, factor, x: Array, y: Array) -> Array:
    """The product of the factors of all columns that a term reads; alike columns in one program."""
    kinds: dict[tuple, list[int]] = {}
    for i in range(x.shape[1]):
        if any(i in shape.read for shape in shapes):
            kinds.setdefault(tuple(shape.nus[i] for shape in shapes), []).append(i)
    total = jnp.ones((x.shape[0], y.shape[0]))
    for nus, which in kinds.items():

        def times(total, i, nus=nus):
            return total * factor(nus, i), None

        total, _ = jax.lax.scan(times, total, jnp.asarray(which))
    return total


class _Rule(NamedTuple):
    """Gauss-Legendre rules on the cells of a column: `K` cells of `q` nodes each."""

    ends: Float[Array, " K+1"]
    nodes: Float[Array, " N"]
    weights: Float[Array, " N"]
    """Of nodes, with the density of the measure."""

    @classmethod
    def of(cls, columns: Columns, i: Array, x: Array, y: Array, cells: int) -> _Rule:
        lower, upper = columns.lower[i], columns.upper[i]
        even = lower + (upper - lower) * jnp.linspace(0.0, 1.0, cells + 1)
        points = jnp.clip(jnp.concatenate([x[:, i], y[:, i]]), lower, upper)
        ends = jnp.sort(jnp.concatenate([even, points]))
        lengths = jnp.diff(ends)
        nodes = (ends[:-1, None] + lengths[:, None] * _NODES).reshape(-1)
        weights = (lengths[:, None] * _WEIGHTS).reshape(-1)
        return cls(ends, nodes, weights * columns.density(nodes, i))

    def mended(self, integrand) -> Float[Array, "N m"]:
        """What is to add at each node z, if the integrand has a kink there: in z's own cell.

        Args:
            integrand: from z and nodes t to a factor of the shape of t, and one (..., m).
        """
        q = _NODES.shape[0]
        low = jnp.repeat(self.ends[:-1], q)[:, None]
        high = jnp.repeat(self.ends[1:], q)[:, None]
        z = self.nodes[:, None]

        def part(start, stop):
            t = start + (stop - start) * _NODES
            k, rest = integrand(z, t)
            return jnp.einsum("nq,nqm->nm", (stop - start) * _WEIGHTS * k, rest)

        return part(low, z) + part(z, high) - part(low, high)
