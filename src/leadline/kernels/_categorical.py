"""Kernels of one index column: the category, person or output that a row belongs to.

Notation: `i (n,)`, `j (m,)` whole numbers from 0 on, stored as floats like all inputs.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, is_traced
from leadline.kernels._kernel import Kernel, check_shape
from leadline.numerics import bounded, positive, real


def _index(kernel: Kernel, x: Any) -> Array:
    if np.ndim(x) != 2 or x.shape[1] != 1:
        raise InvalidData(
            f"{type(kernel).__name__} reads one index column, but the inputs have shape "
            f"{np.shape(x)}: name the column with active_dims=[...]."
        )
    return jnp.round(x[:, 0])


class Categorical(Kernel):
    """k = 1 for equal categories, else rho: categories that are all equally alike."""

    rho: Float[Array, ""] = bounded(0.0, 1.0, 0.5)

    def __check_init__(self):
        check_shape(self, "rho", 0)

    def __call__(self, x, y):
        return jnp.where(_index(self, x)[:, None] == _index(self, y)[None, :], 1.0, self.rho)

    def diag(self, x):
        return jnp.ones(x.shape[0])


class Coregionalization(Kernel):
    """k(i, j) = B[i, j] with B = W W^T + diag(kappa): how outputs vary together.

    Times a kernel of the other columns it is the intrinsic model of coregionalization (Alvarez et
    al. 2012), `Matern52(active_dims=[0]) * Coregionalization(W, kappa).on([1])`.

    Args:
        W: weights (p, r) of p outputs on r shared functions.
        kappa: variances (p,) that outputs do not share; 0 is allowed.
    """

    W: Float[Array, "p r"] = real(scales_with="deviation")
    kappa: Float[Array, " p"] = positive(scales_with="output", zero=True)

    def __check_init__(self):
        w, kappa = np.shape(self.W), np.shape(self.kappa)
        if len(w) != 2 or kappa != w[:1]:
            raise ValueError(
                f"Coregionalization takes W (p, r) and kappa (p,), got shapes {w} and {kappa}."
            )

    @property
    def covariance(self) -> Float[Array, "p p"]:
        """The covariance B of the outputs."""
        return self.W @ self.W.T + jnp.diag(self.kappa)

    def __call__(self, x, y):
        i, j = self._output(x), self._output(y)
        alone = jnp.where(i[:, None] == j[None, :], self.kappa[i][:, None], 0.0)
        return self.W[i] @ self.W[j].T + alone

    def diag(self, x):
        i = self._output(x)
        return jnp.sum(self.W[i] ** 2, axis=1) + self.kappa[i]

    def _output(self, x):
        index, p = _index(self, x), self.kappa.shape[0]
        if not is_traced(index):
            unknown = [i for i in np.unique(np.asarray(index)) if not 0 <= i < p]
            if unknown:
                raise InvalidData(
                    f"Coregionalization has {p} outputs, numbered from 0 to {p - 1}, but the index "
                    f"column has the value {unknown[0]:g}."
                )
        return index.astype(int)
