"""Functions that are random weights of fixed features: the contract of a prior to draw from.

Notation: `l` features, `phi(x) (m, l)` at `x (m, d)`; a draw is f(x) = phi(x) . w with
w = R z, z standard normal, so that its covariance is phi(x) R R^T phi(y)^T (Wilson 2023, eq. 3.18).
`n` draws are the rows of `weights (n, l)`. Most features absorb R, and their weights are standard
normal.
"""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import as_count
from leadline.kernels import Kernel


class Features(eqx.Module):
    """A finite set of functions whose random combinations are draws of a process."""

    @property
    @abc.abstractmethod
    def size(self) -> int:
        """How many features there are."""

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """How many columns the inputs have."""

    @abc.abstractmethod
    def __call__(self, x: Float[Any, "m d"]) -> Float[Array, "m l"]:
        """The features at the rows of `x`."""

    @property
    def noises(self) -> int:
        """How many standard normal numbers make the weights of one draw."""
        return self.size

    def correlate(self, z: Float[Array, "n k"]) -> Float[Array, "n l"]:
        """Weights from standard normal numbers, one draw in each row."""
        return z

    def weights(self, key: Array, n: int) -> Float[Array, "n l"]:
        """The weights of `n` draws."""
        return self.correlate(jax.random.normal(key, (n, self.noises)))

    def values(self, x: Float[Any, "m d"], weights: Float[Array, "n l"]) -> Float[Array, "n m"]:
        """Every draw at the same inputs."""
        return weights @ self(x).T

    def paired_values(
        self, x: Float[Any, "n m d"], weights: Float[Array, "n l"]
    ) -> Float[Array, "n m"]:
        """Each draw at its own inputs."""
        n, m, d = x.shape
        phi = self(x.reshape(n * m, d)).reshape(n, m, -1)
        return jnp.sum(phi * weights[:, None, :], axis=-1)

    @property
    def row_size(self) -> int:
        """How many numbers the value of a draw at one input is made of."""
        return self.size

    def standardized(self, x: Float[Any, "m d"]) -> Float[Array, "m k"]:
        """How much of each standard normal number a draw has at each row of `x`.

        The features themselves, where their weights are standard normal. Else `correlate`, which is
        linear, is applied backwards to the rows of the features.
        """
        phi = self(x)
        _, backwards = jax.vjp(self.correlate, jnp.zeros((phi.shape[0], self.noises)))
        return backwards(phi)[0]

    def covariance(self, x: Float[Any, "n d"], y: Float[Any, "m d"]) -> Float[Array, "n m"]:
        """The covariance that the draws have."""
        return self.standardized(x) @ self.standardized(y).T

    def variance(self, x: Float[Any, "n d"]) -> Float[Array, " n"]:
        """The diagonal of `covariance(x, x)`."""
        return jnp.sum(self.standardized(x) ** 2, axis=1)

    def kernel(self) -> FeatureKernel:
        """The covariance function of the draws, as a kernel to condition with."""
        return FeatureKernel(self)


def as_features(features: Any) -> int | Features:
    """Features, or how many of them to choose."""
    return features if isinstance(features, Features) else as_count(features, "features")


class FeatureKernel(Kernel):
    """The covariance function of a finite set of features.

    Conditioning with it, and drawing with the same features, is exact: the update stays in their
    span, and keeps whatever they all satisfy, such as a boundary condition.
    """

    features: Features

    def __call__(self, x, y):
        return self.features.covariance(x, y)

    def diag(self, x):
        return self.features.variance(x)
