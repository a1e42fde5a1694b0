"""The contract of function draws.

Notation: `n` draws, inputs `x (m, d)` shared by all of them or `(n, m, d)` of their own; values are
`(n, m)`, or `(n, m, p)` for draws with several outputs. A draw is a function: it gives the same
value at the same input, however often and in whatever company it is asked.
"""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import Able, InvalidData, KnowsColumns, as_inputs, is_traced
from leadline.numerics import blas_threads_for, in_pieces
from leadline.paths._extrema import argmin_of_each

# Rows of one piece of a long query, and the most numbers that an array may have in a piece. Pieces
# keep the memory of a query bounded, and the features of a piece in the cache.
_PIECE = 2048
_NUMBERS = 2**22


class Paths(Able, KnowsColumns):
    """Draws of a function, which can be evaluated and differentiated anywhere."""

    abilities: ClassVar = ("update", "argmin", "argmax")

    @property
    @abc.abstractmethod
    def n(self) -> int:
        """How many draws there are."""

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """How many columns the inputs have."""

    @property
    @abc.abstractmethod
    def basis_size(self) -> int:
        """How many numbers one draw computes for one input: what bounds the size of a piece."""

    @abc.abstractmethod
    def values(self, x: Float[Array, "m d"]) -> Float[Array, "n m ..."]:
        """Every draw at the same inputs, in one piece."""

    @abc.abstractmethod
    def paired_values(self, x: Float[Array, "n m d"]) -> Float[Array, "n m ..."]:
        """Each draw at its own inputs, in one piece."""

    def __call__(self, x: Any) -> Float[Array, "n m ..."]:
        """Every draw at the rows of `x (m, d)`: `(n, m)`, or `(n, m, p)` with several outputs.

        The cost is linear in the number of rows. Long queries are answered in pieces, so that only
        the answer itself grows with them.
        """
        if is_traced(self, x):
            return _traced_pieces(self.values, x, self.basis_size)
        x = as_inputs(x, "x", columns=self.dim, minimum=0, names=self.input_names)
        return _answer(self.named(None), x, _values_jit, axis=0)

    def paired(self, x: Any) -> Float[Array, "n m ..."]:
        """Draw i at its own inputs `x[i]`, for `x (n, m, d)`: `(n, m)` or `(n, m, p)`."""
        if is_traced(self, x):
            return _traced_pieces(self.paired_values, x, self.n * self.basis_size)
        x = np.asarray(x, dtype=float)
        if x.ndim != 3 or x.shape[0] != self.n or x.shape[2] != self.dim:
            raise InvalidData(
                f"paired inputs must have shape (draws, rows, columns) = ({self.n}, m, {self.dim}),"
                f" got {x.shape}."
            )
        as_inputs(x.reshape(-1, self.dim), "x", minimum=0)
        return _answer(self.named(None), x, _paired_jit, axis=1)

    def __len__(self) -> int:
        return self.n


class ScalarPaths(Paths):
    """Draws of a function with one output, which has a lowest and a highest point."""

    @property
    @abc.abstractmethod
    def anchors(self) -> Float[Any, "k d"]:
        """Inputs near which a draw may be lowest: those of the data."""

    def argmin(self, bounds: Any, starts: int = 4) -> Float[Array, "n d"]:
        """Where each draw is lowest in a box, by the best of several local searches.

        Args:
            bounds: (low, high) of each input column.
            starts: local searches for each draw, from the best of many evenly spread points and of
                the data.
        """
        return argmin_of_each(self.named(None), bounds, starts, sign=1.0)

    def argmax(self, bounds: Any, starts: int = 4) -> Float[Array, "n d"]:
        """Where each draw is highest in a box; see `argmin`."""
        return argmin_of_each(self.named(None), bounds, starts, sign=-1.0)


def _answer(paths: Paths, x: np.ndarray, program: Any, axis: int) -> Array:
    """Answer rows along `axis` of `x` piece by piece."""
    piece = _PIECE if axis == 0 else piece_rows(paths.n * paths.basis_size)
    with blas_threads_for(1):
        found = in_pieces(
            lambda part: program(paths, np.moveaxis(part, 0, axis)),
            np.moveaxis(x, axis, 0),
            piece,
            axis=1,
        )
    return jax.device_put(found)


def piece_rows(numbers_per_row: int) -> int:
    """The rows of a piece in which each row needs an array of so many numbers."""
    return max(1, min(_PIECE, _NUMBERS // max(numbers_per_row, 1)))


def _traced_pieces(evaluate: Any, x: Any, numbers_per_row: int) -> Array:
    """Inside a trace: pieces of equal size, and what is left over."""
    m, axis = x.shape[-2], x.ndim - 2
    if m * numbers_per_row <= 16 * _NUMBERS:
        return evaluate(x)
    piece = piece_rows(numbers_per_row)
    whole = m // piece
    head = jnp.moveaxis(x[..., : whole * piece, :], axis, 0)
    head = jnp.moveaxis(head.reshape(whole, piece, *head.shape[1:]), 1, 1 + axis)
    found = jnp.moveaxis(jax.lax.map(evaluate, head), 0, 1)
    found = found.reshape(found.shape[0], whole * piece, *found.shape[3:])
    if whole * piece == m:
        return found
    return jnp.concatenate([found, evaluate(x[..., whole * piece :, :])], axis=1)


@eqx.filter_jit
def _values_jit(paths: Paths, x: Any) -> Array:
    return paths.values(x)


@eqx.filter_jit
def _paired_jit(paths: Paths, x: Any) -> Array:
    return paths.paired_values(x)
