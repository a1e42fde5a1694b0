"""Means of products of kernels: what warped quadrature integrates.

    kernel_pair_mean(k, mu, x, y)   = int k(x, z) k(z, y) dmu(z),
    kernel_triple_mean(k, mu, x, y) = int int k(x, z) k(z, z') k(z', y) dmu(z) dmu(z').

A kernel is first written as a sum of terms. Products of two and of three terms are integrated

- against a Gaussian or a GaussianMixture in closed form, if all terms have means in closed form and
  those outside (of a pair one of the two) have neither waves nor Matern factors (`_tilts.py`);
- against a Uniform, a Gaussian given by variances or a Product of these column by column, if no
  term has a wave (`_columns.py`);
- else over `n_qmc` quasi-random points of the measure, the same ones for both: a quadrature
  variance made from the two is then never negative.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, is_traced
from leadline.kernels._kernel import Kernel
from leadline.kernels._means._columns import (
    as_cells,
    cells_of,
    columns_of,
    factors,
    pair_by_columns,
    triple_by_columns,
)
from leadline.kernels._means._kernel_means import closes, separable_terms
from leadline.kernels._means._tilts import Tilted, tilted, tilted_pair, tilted_triple, tilts
from leadline.measures import Gaussian, GaussianMixture, Measure

# An array of more entries than this is worked on in chunks of rows.
_MOST_ENTRIES = 10**8
_SEED = 0


def kernel_pair_mean(
    kernel: Kernel,
    measure: Measure,
    x: Float[Array, "n d"],
    y: Float[Array, "m d"],
    *,
    n_qmc: int = 4096,
) -> Float[Array, "n m"]:
    """`int k(x, z) k(z, y) dmu(z)` for all rows of `x` and `y`."""
    return _mean(kernel, measure, x, y, 2, n_qmc)


def kernel_triple_mean(
    kernel: Kernel,
    measure: Measure,
    x: Float[Array, "n d"],
    y: Float[Array, "m d"],
    *,
    n_qmc: int = 4096,
) -> Float[Array, "n m"]:
    """`int int k(x, z) k(z, z') k(z', y) dmu(z) dmu(z')` for all rows of `x` and `y`."""
    return _mean(kernel, measure, x, y, 3, n_qmc)


# Which terms of a kernel are multiplied: two of them, or three.
_Terms = tuple[int, ...]


def _mean(kernel: Kernel, measure: Measure, x: Array, y: Array, order: int, n_qmc: int) -> Array:
    for name, points in (("x", x), ("y", y)):
        if points.ndim != 2 or points.shape[1] != measure.dim:
            raise InvalidData(
                f"{name} must have one column for each of the {measure.dim} coordinates of the "
                f"measure, got shape {points.shape}."
            )
    routes = _routes(kernel, measure, order)
    rows = max(1, _MOST_ENTRIES // max(1, y.shape[0] * measure.dim))
    parts = [x[i : i + rows] for i in range(0, max(1, x.shape[0]), rows)]
    total = jnp.zeros((x.shape[0], y.shape[0]))
    if routes[_tilts]:
        pieces = [_by_tilts(kernel, measure, part, y, routes[_tilts]) for part in parts]
        total = total + jnp.concatenate(pieces)
    if routes[_columns]:
        which = routes[_columns]
        traced = is_traced(kernel, measure, x, y)
        cells = as_cells(None if traced else _cells(kernel, measure, which))
        total = total + _by_columns(kernel, measure, x, y, which, cells)
    if routes[_points]:
        points = measure.qmc(n_qmc, _SEED)
        total = total + _by_points(kernel, points, x, y, routes[_points])
    return total


def _routes(kernel: Kernel, measure: Measure, order: int) -> dict[Callable, tuple[_Terms, ...]]:
    """By which rule the products of terms are integrated."""
    found: dict[Callable, list[_Terms]] = {_tilts: [], _columns: [], _points: []}

    def look(kernel, measure):
        terms = separable_terms(kernel, measure)
        for which in itertools.product(range(len(terms)), repeat=order):
            chosen = [terms[i] for i in which]
            rule = next(rule for rule in found if rule(measure, chosen))
            found[rule].append(which)

    # Only the structure decides: nothing is computed.
    eqx.filter_eval_shape(look, kernel, measure)
    return {rule: tuple(which) for rule, which in found.items()}


def _tilts(measure: Measure, terms: list[Any]) -> bool:
    if not isinstance(measure, Gaussian | GaussianMixture) or any(t is None for t in terms):
        return False
    return _order(terms) is not None and all(closes(measure, term) for term in terms)


def _order(terms: list[Any]) -> int | None:
    """Where the term stands that need not tilt; None if too few of the others do."""
    if len(terms) == 3:
        return 1 if tilts(terms[0]) and tilts(terms[2]) else None
    return 1 if tilts(terms[0]) else 0 if tilts(terms[1]) else None


def _columns(measure: Measure, terms: list[Any]) -> bool:
    return columns_of(measure) is not None and all(t is not None and factors(t) for t in terms)


def _points(measure: Measure, terms: list[Any]) -> bool:
    return True


@eqx.filter_jit
def _by_tilts(kernel: Kernel, measure: Any, x: Array, y: Array, which: tuple[_Terms, ...]) -> Array:
    terms = separable_terms(kernel, measure)
    if isinstance(measure, Gaussian):
        parts = [jnp.ones(1), measure.location[None], measure.spread[None], measure.root[None]]
    else:
        parts = [measure.weights, measure.locations, measure.spreads, measure.roots]
    order = len(which[0])

    def add(total, indices):
        i, j = indices
        w, *first = (part[i] for part in parts)
        v, *second = (part[j] for part in parts)
        for chosen in which:
            total = total + (w * v if order == 3 else w) * _tilted_mean(
                [terms[k] for k in chosen], first, second, x, y
            )
        return total, None

    k = parts[0].shape[0]
    both = np.divmod(np.arange(k * k), k) if order == 3 else (np.arange(k), np.arange(k))
    total = jnp.zeros((x.shape[0], y.shape[0]))
    return jax.lax.scan(add, total, tuple(map(jnp.asarray, both)))[0]


def _tilted_mean(terms: list[Any], first: Any, second: Any, x: Array, y: Array) -> Array:
    """Of one component of the measure, and for triples of another one."""

    def tilt(term, component, points) -> Tilted:
        location, spread, root = component
        return tilted(term, location, spread, root, points)

    if len(terms) == 3:
        a, c = tilt(terms[0], first, x), tilt(terms[2], second, y)
        return tilted_triple(a, terms[1], c)
    if _order(terms) == 1:
        return tilted_pair(tilt(terms[0], first, x), terms[1], y)
    return tilted_pair(tilt(terms[1], first, y), terms[0], x).T


@eqx.filter_jit
def _by_columns(
    kernel: Kernel, measure: Measure, x: Array, y: Array, which: tuple[_Terms, ...], cells: int
) -> Array:
    terms, columns = separable_terms(kernel, measure), columns_of(measure)
    assert columns is not None
    rule: Any = pair_by_columns if len(which[0]) == 2 else triple_by_columns
    total = jnp.zeros((x.shape[0], y.shape[0]))
    for chosen in which:
        total = total + rule(columns, *(terms[k] for k in chosen), x, y, cells)
    return total


@eqx.filter_jit
def _cells(kernel: Kernel, measure: Measure, which: tuple[_Terms, ...]) -> Array:
    terms, columns = separable_terms(kernel, measure), columns_of(measure)
    assert columns is not None
    return cells_of(columns, [terms[k] for k in sorted(set(itertools.chain(*which)))])


@eqx.filter_jit
def _by_points(
    kernel: Kernel, points: Array, x: Array, y: Array, which: tuple[_Terms, ...]
) -> Array:
    terms, n = kernel.terms(), points.shape[0]
    if len(which) == len(terms) ** len(which[0]):  # then it is better not to multiply it out
        terms, which = [kernel], ((0,) * len(which[0]),)

    def outer(heads: Iterable[_Terms]) -> Array:
        """The sum over what comes after a head, at the points: (n_qmc, m)."""
        ends = sorted({end[-1] for end in heads})
        return sum((terms[k](points, y) for k in ends), start=jnp.zeros((n, y.shape[0])))

    total = jnp.zeros((x.shape[0], y.shape[0]))
    for head in sorted({chosen[:-1] for chosen in which}):
        right = outer([chosen for chosen in which if chosen[:-1] == head])
        if len(head) == 2:
            right = _average(terms[head[1]], points, right)
        total = total + terms[head[0]](x, points) @ right / n
    return total


def _average(kernel: Kernel, points: Array, values: Array) -> Array:
    """`k(points, points) values / n`, in chunks of rows."""
    n = points.shape[0]
    rows = max(1, _MOST_ENTRIES // n)
    if n <= rows:
        return kernel(points, points) @ values / n
    return jax.lax.map(lambda z: kernel(z[None], points)[0] @ values / n, points, batch_size=rows)
