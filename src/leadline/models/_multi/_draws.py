"""Draws of functions with several correlated outputs."""

from __future__ import annotations

from typing import Any

import equinox as eqx

from leadline.models._multi._rows import checked_outputs, observed_rows, query_rows
from leadline.paths import FunctionDraws, Paths


class MultiDraws(Paths):
    """Draws with `p` outputs: values are `(n, m, p)`.

    Attributes:
        stacked: the same draws as functions of inputs with an output column.
        outputs: the number of outputs p.
    """

    stacked: FunctionDraws
    outputs: int = eqx.field(static=True)

    @property
    def n(self):
        return self.stacked.n

    @property
    def dim(self):
        return self.stacked.dim - 1

    @property
    def basis_size(self):
        return self.outputs * self.stacked.basis_size

    def values(self, x):
        found = self.stacked.values(query_rows(x, self.outputs))
        return found.reshape(self.n, x.shape[0], self.outputs)

    def paired_values(self, x):
        found = self.stacked.paired_values(query_rows(x, self.outputs))
        return found.reshape(self.n, x.shape[1], self.outputs)

    def update(self, x: Any, y: Any, mask: Any = None) -> MultiDraws:
        """The same draws, conditioned on more observations.

        Args:
            x: inputs (m, d).
            y: targets (m, p).
            mask: which values were observed, (m, p); all if None.
        """
        names = self.input_names
        x, y, mask = checked_outputs(x, y, mask, self.outputs, self.dim, names)
        stacked = self.stacked.update(*observed_rows(x, y, mask))
        return MultiDraws(stacked, self.outputs, input_names=names)

    def __repr__(self) -> str:
        return f"MultiDraws({self.n} draws, {self.outputs} outputs)"
