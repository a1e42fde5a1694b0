"""How wide a conditional is: the matrix S in `value = mean + S noise`.

Notation: `u (n, d)` standard noise, `given (n, c)` what the conditional is given. A scale maps
noise to residuals and back, and knows log |det S| of each row.
"""

from __future__ import annotations

import abc
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData

Noise = Float[Array, "n d"]
Given = Float[Array | np.ndarray, "n c"]

# The least scale of a network, in its units: densities stay bounded.
_LEAST = 1e-3


class Scale(eqx.Module):
    """The spread of a conditional around its mean."""

    @abc.abstractmethod
    def spread(self, noise: Noise, given: Given) -> Noise:
        """S u of each row."""

    @abc.abstractmethod
    def whiten(self, residual: Noise, given: Given) -> tuple[Noise, Float[Array, " n"]]:
        """S^-1 r of each row, and log |det S|."""


class ConstantScale(Scale):
    """The same diagonal S everywhere.

    Args:
        value: the scale of each column, or one number for all.
        learned: whether training changes it.
    """

    log_value: Float[Array, "*shape"]
    learned: bool = eqx.field(static=True)

    def __init__(self, value: float | Float[Array | np.ndarray, "*shape"], learned: bool = False):
        given = np.asarray(value, dtype=np.float64)
        if given.ndim > 1 or not np.all(np.isfinite(given) & (given > 0.0)):
            raise InvalidData(f"a scale must be positive, one number or one a column, got {value}.")
        self.log_value = jnp.log(given)
        self.learned = learned

    @property
    def value(self) -> Float[Array, "*shape"]:
        """The scale in the caller's units."""
        return jnp.exp(self._log())

    def spread(self, noise: Noise, given: Given) -> Noise:
        """S u of each row."""
        return noise * self.value

    def whiten(self, residual: Noise, given: Given) -> tuple[Noise, Float[Array, " n"]]:
        """S^-1 r of each row, and log |det S|."""
        log_scale = jnp.broadcast_to(self._log(), residual.shape)
        return residual * jnp.exp(-log_scale), jnp.sum(log_scale, axis=-1)

    def _log(self) -> Float[Array, "*shape"]:
        return self.log_value if self.learned else jax.lax.stop_gradient(self.log_value)


class TriangularScale(Scale):
    """The same lower triangular S everywhere: a full covariance S S^T, not learned.

    Args:
        root: S (d, d), with a positive diagonal.
    """

    root: Float[Array, "d d"]

    def spread(self, noise: Noise, given: Given) -> Noise:
        """S u of each row."""
        return noise @ self._fixed().T

    def whiten(self, residual: Noise, given: Given) -> tuple[Noise, Float[Array, " n"]]:
        """S^-1 r of each row, and log |det S|."""
        root = self._fixed()
        white = jax.scipy.linalg.solve_triangular(root, residual.T, lower=True).T
        logdet = jnp.sum(jnp.log(jnp.diag(root)))
        return white, jnp.full(residual.shape[0], logdet)

    def _fixed(self) -> Float[Array, "d d"]:
        return jax.lax.stop_gradient(self.root)


class NetworkScale(Scale):
    """A diagonal S that depends on what is given.

    Args:
        network: an Equinox module from one row `(c,)` to `(d,)` numbers, of which a softplus is the
            scale.
        unit: what the softplus is a multiple of.
    """

    network: Callable[..., Array]
    unit: Float[Array | np.ndarray, "*shape"]

    def spread(self, noise: Noise, given: Given) -> Noise:
        """S u of each row."""
        return noise * self._value(given)

    def whiten(self, residual: Noise, given: Given) -> tuple[Noise, Float[Array, " n"]]:
        """S^-1 r of each row, and log |det S|."""
        value = self._value(given)
        return residual / value, jnp.sum(jnp.log(value), axis=-1)

    def _value(self, given: Given) -> Float[Array, "n d"]:
        raw = jax.vmap(self.network)(jnp.asarray(given))
        return jax.lax.stop_gradient(jnp.asarray(self.unit)) * (_LEAST + jax.nn.softplus(raw))


def as_scale(value: Scale | float | Float[Array | np.ndarray, "*shape"]) -> Scale:
    """A scale; numbers are scales that training leaves alone."""
    return value if isinstance(value, Scale) else ConstantScale(value)
