"""Constants, scalings, sums and products of kernels.

The spectrum of a sum is stratified: the `l` frequencies are shared out evenly among the `t` terms
(`Kernel.terms`, in which products of sums are multiplied out), and term `i`, with `l_i` of them,
gives each the weight `k_i(x, x) / l_i`. The weights then always sum to k(x, x); fewer frequencies
than terms are an error. A product adds up independent frequencies of its factors, whose laws are
symmetric about zero.
"""

from __future__ import annotations

import dataclasses
import itertools
from functools import reduce
from operator import add as plus
from operator import mul as times
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, inherited_ability
from leadline.kernels._kernel import Frequencies, Kernel, check_shape
from leadline.numerics import DataScale, Fixed, free_slots, positive


class Constant(Kernel):
    """k(x, y) = variance: functions that are one unknown number."""

    variance: Float[Array, ""] = positive(1.0, scales_with="output")

    def __check_init__(self):
        check_shape(self, "variance", 0)

    def __call__(self, x, y):
        return jnp.full((x.shape[0], y.shape[0]), self.variance)

    def diag(self, x):
        return jnp.full(x.shape[0], self.variance)

    def frequency_inputs(self, dim: int) -> int:
        """One number per input column, though none matters."""
        return dim

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """The zero frequency."""
        return Frequencies(jnp.zeros(u.shape), jnp.full(u.shape[0], self.variance / u.shape[0]))


class Scale(Kernel):
    """A kernel times a variance: `2.0 * Matern52()`."""

    variance: Float[Array, ""] = positive(1.0, scales_with="output")
    kernel: Kernel = dataclasses.field(kw_only=True)

    def __check_init__(self):
        check_shape(self, "variance", 0)

    def __call__(self, x, y):
        return self.variance * self.kernel(x, y)

    def diag(self, x):
        return self.variance * self.kernel.diag(x)

    def scale_for(self, field: str, scale: DataScale) -> DataScale:
        """The kernel inside is unitless: the variance carries the targets' units."""
        return dataclasses.replace(scale, y_std=1.0) if field == "kernel" else scale

    def parts(self):
        return (self.kernel,)

    def addends(self):
        return tuple(Scale(self.variance, kernel=k) for k in self.kernel.addends())

    def terms(self):
        return tuple(Scale(self.variance, kernel=term) for term in self.kernel.terms())

    @inherited_ability
    def frequency_inputs(self, dim: int) -> int:
        """Those of the kernel inside."""
        return self.kernel.frequency_inputs(dim)

    @inherited_ability
    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """The frequencies of the kernel inside, with scaled weights."""
        theta, weight = self.kernel.frequencies_at(u)
        return Frequencies(theta, self.variance * weight)

    @inherited_ability
    def spectral_density(self, theta: Float[Array, "l d"]) -> Float[Array, " l"]:
        """That of the kernel inside, times the variance."""
        return self.variance * self.kernel.spectral_density(theta)

    @inherited_ability
    def tail_frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Those of the kernel inside, with scaled weights."""
        theta, weight = self.kernel.tail_frequencies_at(u)
        return Frequencies(theta, self.variance * weight)

    def __repr__(self) -> str:
        return f"{self.show_field('variance')} * {_factor(self.kernel)}"


class Sum(Kernel):
    """The sum of kernels: independent functions added up."""

    kernels: tuple[Kernel, ...]

    def __check_init__(self):
        _check_kernels(self)

    def __call__(self, x, y):
        return reduce(plus, (k(x, y) for k in self.kernels))

    def diag(self, x):
        return reduce(plus, (k.diag(x) for k in self.kernels))

    def parts(self):
        return self.kernels

    def addends(self):
        return self.kernels

    def terms(self):
        return tuple(itertools.chain.from_iterable(k.terms() for k in self.kernels))

    @inherited_ability
    def frequency_inputs(self, dim: int) -> int:
        """The most that any of the kernels needs."""
        return max(k.frequency_inputs(dim) for k in self.kernels)

    @inherited_ability
    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """The frequencies of all terms, each with its share of the rows of `u`."""
        return stratified_frequencies(self, u)

    @inherited_ability
    def spectral_density(self, theta: Float[Array, "l d"]) -> Float[Array, " l"]:
        """The sum of the densities."""
        return reduce(plus, (k.spectral_density(theta) for k in self.kernels))

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.kernels))


class Product(Kernel):
    """The product of kernels."""

    kernels: tuple[Kernel, ...]

    def __check_init__(self):
        _check_kernels(self)

    def __call__(self, x, y):
        return reduce(times, (k(x, y) for k in self.kernels))

    def diag(self, x):
        return reduce(times, (k.diag(x) for k in self.kernels))

    def scale_for(self, field: str, scale: DataScale) -> Any:
        """One factor carries the targets' units, the first that has a parameter in them."""
        if field != "kernels":
            return scale
        carrier = next((i for i, k in enumerate(self.kernels) if _has_target_units(k)), 0)
        unitless = dataclasses.replace(scale, y_std=1.0)
        return tuple(scale if i == carrier else unitless for i in range(len(self.kernels)))

    def parts(self):
        return self.kernels

    def terms(self):
        """Every product of one term of each factor."""
        choices = itertools.product(*(k.terms() for k in self.kernels))
        return tuple(Product(choice) for choice in choices)

    @inherited_ability
    def frequency_inputs(self, dim: int) -> int:
        """Those of all factors."""
        return sum(k.frequency_inputs(dim) for k in self.kernels)

    @inherited_ability
    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Sums of independent frequencies of the factors."""
        if len(self.terms()) > 1:
            return stratified_frequencies(self, u)
        dim, n = self.input_columns(u), u.shape[0]
        theta, weight, start = jnp.zeros((n, dim)), jnp.full(n, 1.0 / n), 0
        for k in self.kernels:
            stop = start + k.frequency_inputs(dim)
            more, factor = k.frequencies_at(u[:, start:stop])
            theta, weight, start = theta + more, weight * (n * factor), stop
        return Frequencies(theta, weight)

    def __repr__(self) -> str:
        return " * ".join(map(_factor, self.kernels))


def stratified_frequencies(kernel: Kernel, u: Float[Array, "l k"]) -> Frequencies:
    """Share the rows of `u` out among the terms of `kernel`, in blocks of consecutive rows."""
    terms, n = kernel.terms(), u.shape[0]
    if n < len(terms):
        raise InvalidData(
            f"The spectrum of this {type(kernel).__name__} has {len(terms)} terms, each of which "
            f"needs a frequency of its own: {n} frequencies are too few."
        )
    dim = kernel.input_columns(u)
    blocks = np.array_split(np.arange(n), len(terms))
    found = [
        term.frequencies_at(u[rows[0] : rows[-1] + 1, : term.frequency_inputs(dim)])
        for term, rows in zip(terms, blocks, strict=True)
    ]
    return Frequencies(*(jnp.concatenate(parts) for parts in zip(*found, strict=True)))


def add(left: Any, right: Any) -> Any:
    """`left + right`, where one of them may be a number: a constant kernel of that variance."""
    parts: list[Kernel] = []
    for part in (left, right):
        part = Constant(part) if _is_number(part) else part
        if not isinstance(part, Kernel):
            return NotImplemented
        parts.extend(part.kernels if isinstance(part, Sum) else (part,))
    return Sum(tuple(parts))


def multiply(left: Any, right: Any) -> Any:
    """`left * right`, where one of them may be a number: a factor on the variance."""
    if _is_number(left):
        return Scale(left, kernel=right)
    if _is_number(right):
        return Scale(right, kernel=left)
    if not (isinstance(left, Kernel) and isinstance(right, Kernel)):
        return NotImplemented
    parts: list[Kernel] = []
    for part in (left, right):
        parts.extend(part.kernels if isinstance(part, Product) else (part,))
    return Product(tuple(parts))


def _is_number(value: Any) -> bool:
    if isinstance(value, Fixed):
        return True
    return isinstance(value, int | float | np.generic | np.ndarray | jax.Array)


def _has_target_units(kernel: Kernel) -> bool:
    return any(slot.constraint.in_target_units for slot in free_slots(kernel))


def _factor(kernel: Kernel) -> str:
    return f"({kernel})" if isinstance(kernel, Sum) else repr(kernel)


def _check_kernels(kernel: Sum | Product) -> None:
    bad = [k for k in kernel.kernels if not isinstance(k, Kernel)]
    if bad or not kernel.kernels:
        given = f"a {type(bad[0]).__name__}" if bad else "none"
        raise ValueError(f"{type(kernel).__name__} takes one or more kernels, got {given}.")
