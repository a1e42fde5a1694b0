"""Draws of several outputs, from draws of each."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp

from leadline.boundary import InvalidData
from leadline.paths._paths import Paths, ScalarPaths


class StackedDraws(Paths):
    """Independent outputs side by side: values are `(n, m, p)`.

    Attributes:
        parts: the draws of each output.
    """

    parts: tuple[ScalarPaths, ...]

    @property
    def n(self):
        return self.parts[0].n

    @property
    def dim(self):
        return self.parts[0].dim

    @property
    def basis_size(self):
        return sum(p.basis_size for p in self.parts)

    def values(self, x):
        return jnp.stack([p.values(x) for p in self.parts], axis=-1)

    def paired_values(self, x):
        return jnp.stack([p.paired_values(x) for p in self.parts], axis=-1)

    def __repr__(self) -> str:
        return f"StackedDraws({self.n} draws, {len(self.parts)} outputs)"


def stack_outputs(parts: Sequence[ScalarPaths]) -> StackedDraws:
    """Draws with `p` outputs from `p` sets of draws, draw i of each giving draw i of the result."""
    parts = tuple(parts)
    if not parts:
        raise InvalidData("stack_outputs needs the draws of at least one output, got none.")
    sizes = sorted({(p.n, p.dim) for p in parts})
    if len(sizes) > 1:
        raise InvalidData(
            "The outputs must have the same number of draws and of input columns, got (draws, "
            f"columns) = {sizes}."
        )
    names = {p.input_names for p in parts}
    parts = tuple(p.named(None) for p in parts)
    return StackedDraws(parts, input_names=names.pop() if len(names) == 1 else None)
