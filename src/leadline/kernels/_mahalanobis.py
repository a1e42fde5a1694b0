"""Stationary kernels of a distance with a full matrix.

Notation: unit lower-triangular `C (d, d)`, `F = C diag(1 / lengthscale)`, `tau = x - y`,

    s = |F tau|^2 = tau^T (F^T F) tau,    k = profile(s).

Every positive definite matrix is F^T F for exactly one such pair of length scales and C.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, inherited_ability
from leadline.kernels._kernel import Frequencies, Kernel, check_columns
from leadline.kernels._stationary import Stationary
from leadline.numerics import real, squared_distance


class Mahalanobis(Kernel):
    """A stationary kernel of a full-matrix distance: its length scales, and how columns mix.

    Args:
        kernel: gives the profile and the diagonal of the factor, 1 / lengthscale.
        mixing: the entries of C below its diagonal, row by row, d (d - 1) / 2 of them; with zeros
            this is `kernel` itself.
    """

    kernel: Stationary
    mixing: Float[Array, " e"] = real()

    def __check_init__(self):
        if not isinstance(self.kernel, Stationary):
            raise ValueError(
                f"Mahalanobis takes a kernel of the scaled distance, such as Matern52, "
                f"got {self.kernel!r}."
            )
        shape = np.shape(self.mixing)
        if len(shape) != 1 or _dimension(shape[0]) is None:
            raise ValueError(
                f"mixing of Mahalanobis must be the d (d - 1) / 2 entries below a diagonal, "
                f"got shape {shape}."
            )

    @classmethod
    def from_precision(cls, kernel: Stationary, matrix: Any) -> Mahalanobis:
        """The kernel with s = tau^T matrix tau; the length scales of `kernel` are replaced."""
        matrix = np.asarray(matrix, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"A square matrix is wanted, got shape {matrix.shape}.")
        try:
            factor = np.linalg.cholesky(matrix[::-1, ::-1])[::-1, ::-1].T
        except np.linalg.LinAlgError:
            raise ValueError("The matrix of a distance must be positive definite.") from None
        lengthscale = 1.0 / np.diagonal(factor)
        below = np.tril_indices(matrix.shape[0], -1)
        return cls(
            dataclasses.replace(kernel, lengthscale=lengthscale), (factor * lengthscale)[below]
        )

    @property
    def factor(self) -> Float[Array, "d d"]:
        """The lower-triangular F."""
        d = _dimension(self.mixing.shape[0])
        assert d is not None
        c = jnp.eye(d).at[np.tril_indices(d, -1)].set(self.mixing)
        return c / self.kernel.lengthscale

    def __call__(self, x, y):
        factor = self._factor_for(x)
        return self.kernel.profile(squared_distance(x @ factor.T, y @ factor.T))

    def _factor_for(self, x):
        check_columns(self.kernel, "lengthscale", x)
        factor = self.factor
        if factor.shape[0] != x.shape[1]:
            raise InvalidData(
                f"The matrix of this Mahalanobis kernel is for {factor.shape[0]} input columns, "
                f"but the inputs have {x.shape[1]}."
            )
        return factor

    def diag(self, x):
        return self.kernel.diag(x)

    def parts(self):
        return (self.kernel,)

    @inherited_ability
    def frequency_inputs(self, dim: int) -> int:
        """Those of the kernel."""
        return self.kernel.frequency_inputs(dim)

    @inherited_ability
    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """F^T times the kernel's frequencies for unit length scales."""
        theta, weight = self.kernel.frequencies_at(u)
        return Frequencies((theta * self.kernel.lengthscale) @ self._factor_for(theta), weight)


def _dimension(below: int) -> int | None:
    """The d with `below` = d (d - 1) / 2 entries below the diagonal, if there is one."""
    d = round((1.0 + float(np.sqrt(1.0 + 8.0 * below))) / 2.0)
    return d if d * (d - 1) // 2 == below else None
