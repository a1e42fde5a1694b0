"""Kernels that read some of the input columns: one alone, or several on disjoint blocks, added."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, inherited_ability
from leadline.kernels._algebra import Product, Scale, Sum, stratified_frequencies
from leadline.kernels._kernel import Frequencies, Kernel
from leadline.numerics import DataScale


def as_columns(columns: Any) -> tuple[int, ...]:
    """Column numbers from 0 on, as a tuple."""
    given = np.atleast_1d(np.asarray(columns))
    whole = given.ndim == 1 and given.size > 0 and given.dtype.kind in "iu"
    if not whole or np.any(given < 0) or len(set(given.tolist())) != given.size:
        raise ValueError(
            f"Input columns must be different whole numbers from 0 on, got {columns!r}."
        )
    return tuple(int(c) for c in given)


class ActiveDims(Kernel):
    """A kernel of some of the input columns.

    The same as `kernel.on(dims)`, and as `active_dims=dims` in the call that makes the kernel.

    Args:
        kernel: the kernel of the selected columns.
        dims: which columns it reads, in this order.
    """

    kernel: Kernel
    dims: tuple[int, ...] = eqx.field(static=True, converter=as_columns)

    def __call__(self, x, y):
        return self.kernel(self.select(x), self.select(y))

    def diag(self, x):
        return self.kernel.diag(self.select(x))

    def select(self, x: Any) -> Any:
        """The columns that the kernel reads."""
        if max(self.dims) >= x.shape[1]:
            raise InvalidData(
                f"The kernel reads input column {max(self.dims)} (the first is 0), but the inputs "
                f"have {x.shape[1]} columns."
            )
        return x[:, np.asarray(self.dims)]

    def scale_for(self, field: str, scale: DataScale) -> DataScale:
        """The kernel inside sees its own columns."""
        return scale.with_inputs(self.select(scale.x)) if field == "kernel" else scale

    def parts(self):
        return (self.kernel,)

    def addends(self):
        return tuple(ActiveDims(k, self.dims) for k in self.kernel.addends())

    def terms(self):
        return tuple(ActiveDims(term, self.dims) for term in self.kernel.terms())

    @inherited_ability
    def frequency_inputs(self, dim: int) -> int:
        """Those of the kernel inside, and one for each column that it does not read."""
        own = len(self.dims)
        return self.kernel.frequency_inputs(own) + dim - own

    @inherited_ability
    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """The frequencies of the kernel inside; zero along all other columns."""
        dim, own = self.input_columns(u), self.kernel.frequency_inputs(len(self.dims))
        theta, weight = self.kernel.frequencies_at(u[:, :own])
        columns = np.asarray(self.dims)
        return Frequencies(jnp.zeros((u.shape[0], dim)).at[:, columns].set(theta), weight)

    def __repr__(self) -> str:
        compound = isinstance(self.kernel, Scale | Sum | Product)
        inside = f"({self.kernel})" if compound else repr(self.kernel)
        return f"{inside}.on({list(self.dims)})"


def _as_blocks(blocks: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(as_columns(block) for block in blocks)


class DirectSum(Kernel):
    """k(x, y) = sum_i k_i(x_i, y_i) over disjoint blocks of columns: an additive function.

    Args:
        kernels: one kernel for each block.
        blocks: the columns of each block.
    """

    kernels: tuple[Kernel, ...] = eqx.field(converter=tuple)
    blocks: tuple[tuple[int, ...], ...] = eqx.field(static=True, converter=_as_blocks)

    def __check_init__(self):
        if len(self.kernels) != len(self.blocks):
            raise ValueError(
                f"DirectSum takes one block of columns for each kernel, got {len(self.blocks)} "
                f"blocks for {len(self.kernels)} kernels."
            )
        columns = [c for block in self.blocks for c in block]
        if len(set(columns)) != len(columns):
            raise ValueError(f"The blocks of a DirectSum must be disjoint, got {self.blocks}.")

    def parts(self):
        return tuple(map(ActiveDims, self.kernels, self.blocks))

    def __call__(self, x, y):
        return Sum(self.parts())(x, y)

    def diag(self, x):
        return Sum(self.parts()).diag(x)

    def scale_for(self, field: str, scale: DataScale) -> Any:
        """Each kernel sees its own block."""
        if field != "kernels":
            return scale
        return tuple(part.scale_for("kernel", scale) for part in self.parts())

    def addends(self):
        return self.parts()

    def terms(self):
        return Sum(self.parts()).terms()

    @inherited_ability
    def frequency_inputs(self, dim: int) -> int:
        """The most that any block needs."""
        return Sum(self.parts()).frequency_inputs(dim)

    @inherited_ability
    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """The frequencies of all blocks, each with its share of the rows of `u`."""
        return stratified_frequencies(self, u)
