"""Means and double means of kernels against probability measures.

    kernel_mean(k, mu, x)     = int k(x, z) dmu(z),
    kernel_double_mean(k, mu) = int int k(z, z') dmu(z) dmu(z').

A kernel is first written as a sum of terms. The terms with a closed form against the measure are:

| measure | terms |
|---|---|
| Gaussian, GaussianMixture, given by variances | every separable term (`_separable.py`) |
| Gaussian, GaussianMixture, given by matrices | those without Matern factors |
| Uniform | those without waves |
| Product of these | those without waves |

For all others the measure is replaced by `n_qmc` of its quasi-random points with equal weights, the
same points for both integrals: a quadrature variance made from the two is then never negative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData
from leadline.kernels._algebra import Sum
from leadline.kernels._kernel import Kernel
from leadline.kernels._means._intervals import (
    gaussian_interval_double_mean,
    gaussian_interval_mean,
    matern_interval_double_mean,
    matern_interval_mean,
)
from leadline.kernels._means._separable import SeparableTerm, separable_term
from leadline.kernels._means._smoothed_terms import smoothed_term
from leadline.measures import Gaussian, GaussianMixture, Measure, Uniform
from leadline.measures import Product as ProductMeasure

# An array of more entries than this is worked on in chunks of rows.
_MOST_ENTRIES = 10**8
_SEED = 0


def kernel_mean(
    kernel: Kernel, measure: Measure, x: Float[Array, "n d"], *, n_qmc: int = 4096
) -> Float[Array, " n"]:
    """`int k(x, z) dmu(z)` at each row of `x`; closed forms and their limits are listed above."""
    if x.ndim != 2 or x.shape[1] != measure.dim:
        raise InvalidData(
            f"x must have one column for each of the {measure.dim} coordinates of the measure, "
            f"got shape {x.shape}."
        )
    closed, rest = _split(kernel, measure)
    total = _closed_mean(kernel, measure, x, closed)
    if rest is not None:
        total = total + _mean_over(kernel, measure.qmc(n_qmc, _SEED), x, rest)
    return total


def kernel_double_mean(kernel: Kernel, measure: Measure, *, n_qmc: int = 4096) -> Float[Array, ""]:
    """`int int k(z, z') dmu(z) dmu(z')`; closed forms and their limits are listed above."""
    closed, rest = _split(kernel, measure)
    total = _closed_double_mean(kernel, measure, closed)
    if rest is not None:
        points = measure.qmc(n_qmc, _SEED)
        total = total + jnp.mean(_mean_over(kernel, points, points, rest))
    return total


def _split(kernel: Kernel, measure: Measure) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Which of the kernel's terms have a closed form against the measure, and which do not."""
    known: list[bool] = []

    def look(kernel, measure):
        known.extend(closes(measure, term) for term in separable_terms(kernel, measure))

    # Only the structure decides: nothing is computed.
    eqx.filter_eval_shape(look, kernel, measure)
    closed, rest = (tuple(i for i, c in enumerate(known) if c is kind) for kind in (True, False))
    return closed, rest or None


def separable_terms(kernel: Kernel, measure: Measure) -> list[Any]:
    """The kernel as a sum of terms: separable ones, and None for each of the others."""
    columns = tuple(range(measure.dim))
    return [separable_term(term, columns, measure.dim) for term in kernel.terms()]


@eqx.filter_jit
def _closed_mean(kernel: Kernel, measure: Measure, x: Array, which: tuple[int, ...]) -> Array:
    total, terms = jnp.zeros(x.shape[0]), separable_terms(kernel, measure)
    for i in which:
        total = total + _RULES[type(measure)].mean(measure, terms[i], x)
    return total


@eqx.filter_jit
def _closed_double_mean(kernel: Kernel, measure: Measure, which: tuple[int, ...]) -> Array:
    total, terms = jnp.zeros(()), separable_terms(kernel, measure)
    for i in which:
        total = total + _RULES[type(measure)].double_mean(measure, terms[i])
    return total


@eqx.filter_jit
def _mean_over(kernel: Kernel, points: Array, x: Array, which: tuple[int, ...]) -> Array:
    """The mean of some of the kernel's terms over points, at each row of `x`."""
    terms = kernel.terms()
    if len(which) < len(terms):  # else it is better not to multiply it out
        kernel = Sum(tuple(terms[i] for i in which))
    rows = max(1, _MOST_ENTRIES // points.shape[0])
    if x.shape[0] <= rows:
        return jnp.mean(kernel(x, points), axis=1)
    return jax.lax.map(lambda row: jnp.mean(kernel(row[None], points)), x, batch_size=rows)


class _Rules(NamedTuple):
    """What is known about a kind of measure: for which terms, and their means and double means."""

    closes: Callable[[Any, SeparableTerm], bool]
    mean: Callable[[Any, SeparableTerm, Array], Array]
    double_mean: Callable[[Any, SeparableTerm], Array]


def closes(measure: Measure, term: SeparableTerm | None) -> bool:
    """Whether the means of a term have a closed form against a measure."""
    rules = _RULES.get(type(measure))
    return term is not None and rules is not None and rules.closes(measure, term)


def _gaussian_closes(measure: Gaussian | GaussianMixture, term: SeparableTerm) -> bool:
    """Matern factors need independent coordinates."""
    return measure.diagonal or not term.materns


def _gaussian_mean(measure: Gaussian, term: SeparableTerm, x: Array) -> Array:
    return smoothed_term(term, measure.location - x, measure.spread)


def _gaussian_double_mean(measure: Gaussian, term: SeparableTerm) -> Array:
    return smoothed_term(term, jnp.zeros((1, measure.dim)), 2.0 * measure.spread)[0]


def _mixture_mean(measure: GaussianMixture, term: SeparableTerm, x: Array) -> Array:
    each = _for_each(measure, lambda m, s: smoothed_term(term, m - x, s))
    return measure.weights @ each(measure.locations, measure.spreads)


def _mixture_double_mean(measure: GaussianMixture, term: SeparableTerm) -> Array:
    """Over all pairs of components, each with the difference of means and the sum of spreads.

    The printed formula (Naiff 2019, 4.23) has only the pairs of a component with itself.
    """
    k = measure.weights.shape[0]
    i, j = np.divmod(np.arange(k * k), k)
    each = _for_each(measure, lambda m, s: smoothed_term(term, m[None], s)[0])
    pairs = each(
        measure.locations[i] - measure.locations[j], measure.spreads[i] + measure.spreads[j]
    )
    return (measure.weights[i] * measure.weights[j]) @ pairs


def _for_each(measure: GaussianMixture, function: Callable) -> Callable:
    """`function` along the first axis; one by one where it factorizes matrices."""
    if measure.diagonal:
        return jax.vmap(function)
    return lambda *arrays: jax.lax.map(lambda some: function(*some), arrays)


def _uniform_closes(measure: Uniform, term: SeparableTerm) -> bool:
    return term.cycles is None


def _uniform_mean(measure: Uniform, term: SeparableTerm, x: Array) -> Array:
    at = _index(term.columns)
    lower, upper = measure.lower[at], measure.upper[at]
    each = gaussian_interval_mean(x[:, at], lower, upper, term.precision[at])
    value = term.coefficient * jnp.prod(each, axis=1)
    for nu, columns, l in term.materns:
        at = _index(columns)
        each = matern_interval_mean(nu, x[:, at], measure.lower[at], measure.upper[at], l)
        value = value * jnp.prod(each, axis=1)
    return value


def _uniform_double_mean(measure: Uniform, term: SeparableTerm) -> Array:
    at = _index(term.columns)
    each = gaussian_interval_double_mean(measure.width[at], term.precision[at])
    value = term.coefficient * jnp.prod(each)
    for nu, columns, l in term.materns:
        each = matern_interval_double_mean(nu, measure.width[_index(columns)], l)
        value = value * jnp.prod(each)
    return value


def _index(columns: Iterable[int]) -> np.ndarray:
    return np.asarray(tuple(columns), dtype=int)


def _product_closes(measure: ProductMeasure, term: SeparableTerm) -> bool:
    """A wave of several blocks is no product of waves."""
    return term.cycles is None and all(closes(m, term.on(block)) for m, block in _blocks(measure))


def _product_mean(measure: ProductMeasure, term: SeparableTerm, x: Array) -> Array:
    parts = (
        _RULES[type(m)].mean(m, term.on(b), x[:, b.start : b.stop]) for m, b in _blocks(measure)
    )
    return term.coefficient * math.prod(parts)


def _product_double_mean(measure: ProductMeasure, term: SeparableTerm) -> Array:
    parts = (_RULES[type(m)].double_mean(m, term.on(block)) for m, block in _blocks(measure))
    return term.coefficient * math.prod(parts)


def _blocks(measure: ProductMeasure) -> list[tuple[Measure, range]]:
    """Each measure with its columns."""
    ends = [0, *itertools.accumulate(m.dim for m in measure.measures)]
    ranges = (range(a, b) for a, b in itertools.pairwise(ends))
    return list(zip(measure.measures, ranges, strict=True))


_RULES: dict[type, _Rules] = {
    Gaussian: _Rules(_gaussian_closes, _gaussian_mean, _gaussian_double_mean),
    GaussianMixture: _Rules(_gaussian_closes, _mixture_mean, _mixture_double_mean),
    Uniform: _Rules(_uniform_closes, _uniform_mean, _uniform_double_mean),
    ProductMeasure: _Rules(_product_closes, _product_mean, _product_double_mean),
}
