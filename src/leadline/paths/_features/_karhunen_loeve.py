"""Karhunen-Loeve expansions: the eigenfunctions of a covariance as features.

Notation: eigenpairs `lambda_i (l,)`, `phi_i` of psi -> int psi(x) k(x, .) dx, orthonormal,

    f(x) = sum_i w_i phi_i(x),   w_i ~ N(0, lambda_i)

(Wilson 2023, eq. 3.25). Of all expansions with `l` terms it has the least mean squared error. The
features are sqrt(lambda_i) phi_i(x), so that weights are standard normal.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_variances, is_traced
from leadline.numerics import sine_and_cosine
from leadline.paths._features._features import Features


class Expansion(Features):
    """Features sqrt(lambda_i) phi_i(x) with standard normal weights.

    A class with its own `eigenfunctions` and `dim` that sets `eigenvalues` is an expansion on
    whatever domain it likes.
    """

    eigenvalues: Float[Array, " l"]

    @abc.abstractmethod
    def eigenfunctions(self, x: Float[Array, "m d"]) -> Float[Array, "m l"]:
        """The functions phi_i at the rows of `x`."""

    @property
    def size(self):
        return self.eigenvalues.shape[0]

    def __call__(self, x):
        return jnp.sqrt(self.eigenvalues) * self.eigenfunctions(x)

    def values(self, x, weights):
        return (weights * jnp.sqrt(self.eigenvalues)) @ self.eigenfunctions(x).T


class KarhunenLoeve(Expansion):
    """The expansion with given eigenpairs, on whatever domain they are known.

    Args:
        eigenvalues: lambda_i (l,), not negative.
        functions: maps inputs (m, d) to the values (m, l) of the eigenfunctions; traces.
        dim: how many columns the inputs have.
    """

    functions: Callable[[Array], Array]
    columns: int = eqx.field(static=True)

    def __init__(self, eigenvalues: Any, functions: Callable[[Array], Array], dim: int):
        if not is_traced(eigenvalues):
            eigenvalues = as_variances(eigenvalues, as_size(np.size(eigenvalues)))
        self.eigenvalues = jax.device_put(eigenvalues)
        self.functions, self.columns = functions, dim

    @property
    def dim(self):
        return self.columns

    def eigenfunctions(self, x):
        return self.functions(x)


class BrownianMotion(Expansion):
    """Brownian motion on [0, 1], whose covariance is min(x, y).

    lambda_i = 1 / ((i - 1/2) pi)^2, phi_i(x) = sqrt2 sin((i - 1/2) pi x).

    Args:
        size: how many terms. What is cut off has a variance of at most 2 / (pi^2 size).
    """

    def __init__(self, size: int):
        self.eigenvalues = jax.device_put(_brownian_frequencies(as_size(size)) ** -2.0)

    @property
    def dim(self):
        return 1

    def eigenfunctions(self, x):
        sines, _ = sine_and_cosine(x * _brownian_frequencies(self.size))
        return np.sqrt(2.0) * sines


def _brownian_frequencies(size: int) -> np.ndarray:
    return (np.arange(size) + 0.5) * np.pi


def as_size(size: int) -> int:
    """A number of features, at least one."""
    if size < 1:
        raise InvalidData(f"The number of features must be at least 1, got {size}.")
    return int(size)
