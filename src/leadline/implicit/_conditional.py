"""Conditional densities: the likelihood p(x | z) and the posterior q(z | x).

Notation: `given (n, c)` rows, `value (n, d)`; location m and scale S,

    value = m(given) + S(given) u,    u standard normal or standard Laplace,

a location-scale transform of noise with a density of its own (Tiao 2023, equations 4.2 and 4.4).
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.implicit._scale import Given, Scale, as_scale


class Conditional(eqx.Module):
    """A density of rows given other rows.

    Args:
        location: an Equinox module, or any function, from one row `(c,)` to the mean `(d,)`.
        scale: how wide; a number or one a column stays as it is (see `ConstantScale`,
            `NetworkScale` and `TriangularScale` for the rest).
    """

    location: Callable[..., Array]
    scale: Scale = eqx.field(converter=as_scale)

    def mean(self, given: Given) -> Float[Array, "n d"]:
        """The location of each row."""
        return jax.vmap(self.location)(jnp.asarray(given))

    def sample(self, key: Array, given: Given) -> Float[Array, "n d"]:
        """One draw for each row, differentiable in all parameters."""
        mean = self.mean(given)
        return mean + self.scale.spread(self._noise(key, mean.shape), given)

    def log_prob(self, value: Float[Array | np.ndarray, "n d"], given: Given) -> Float[Array, " n"]:
        """The log density of each row of values, given the row beside it."""
        white, log_det = self.scale.whiten(jnp.asarray(value) - self.mean(given), given)
        return self._log_standard(white) - log_det

    @abc.abstractmethod
    def _noise(self, key: Array, shape: tuple[int, ...]) -> Float[Array, "n d"]:
        """Standard noise."""

    @abc.abstractmethod
    def _log_standard(self, noise: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The log density of standard noise."""


class Gaussian(Conditional):
    """A normal conditional, N(m(given), S S^T)."""

    def _noise(self, key: Array, shape: tuple[int, ...]) -> Float[Array, "n d"]:
        return jax.random.normal(key, shape)

    def _log_standard(self, noise: Float[Array, "n d"]) -> Float[Array, " n"]:
        squares = jnp.sum(noise**2, axis=-1)
        return -0.5 * (squares + noise.shape[-1] * np.log(2.0 * math.pi))


class Laplace(Conditional):
    """Independent Laplace noise of each column, of density exp(-|u|) / 2, scaled by S."""

    def _noise(self, key: Array, shape: tuple[int, ...]) -> Float[Array, "n d"]:
        return jax.random.laplace(key, shape)

    def _log_standard(self, noise: Float[Array, "n d"]) -> Float[Array, " n"]:
        return -jnp.sum(jnp.abs(noise), axis=-1) - noise.shape[-1] * math.log(2.0)


FAMILIES: dict[str, type[Conditional]] = {"gaussian": Gaussian, "laplace": Laplace}
