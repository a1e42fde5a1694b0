"""States as models and policies see them: an angle by its sine and cosine.

Notation: state `x (d,)`, its angle `phi = x[angle]`; the encoded state `s` holds the other columns
in order, then sin phi and cos phi. For x ~ N(mean, cov), with phi ~ N(mu, v),

    E sin phi = e^(-v/2) sin mu,    E cos phi = e^(-v/2) cos mu,
    Cov(x, sin phi) = Cov(x, phi) E cos phi,    Cov(x, cos phi) = -Cov(x, phi) E sin phi

(the last two by Stein's lemma), and the second moments of sine and cosine are those of the double
angle (Deisenroth 2010, appendix A).
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData


@dataclasses.dataclass(frozen=True)
class Encoding:
    """How a state becomes inputs of models and policies.

    Attributes:
        dim: how many columns a state has.
        angle: which of them is an angle; None if none is, and states stay as they are.
    """

    dim: int
    angle: int | None = None

    def __post_init__(self):
        if self.angle is not None and not 0 <= self.angle < self.dim:
            raise InvalidData(f"angle must be a column from 0 to {self.dim - 1}, got {self.angle}.")

    @property
    def size(self) -> int:
        """How many columns an encoded state has."""
        return self.dim if self.angle is None else self.dim + 1

    @property
    def _others(self) -> np.ndarray:
        return np.delete(np.arange(self.dim), [] if self.angle is None else self.angle)

    def __call__(self, x: Float[Array | np.ndarray, "... d"]) -> Float[Array, "... k"]:
        """Encode states."""
        x = jnp.asarray(x)
        if self.angle is None:
            return x
        phi = x[..., self.angle, None]
        return jnp.concatenate([x[..., self._others], jnp.sin(phi), jnp.cos(phi)], axis=-1)

    def ranges(
        self, x: Float[Array | np.ndarray, "n d"]
    ) -> tuple[Float[Array, " k"], Float[Array, " k"]]:
        """Mean and standard deviation of encoded states, of which `x` are some.

        Those of an angle are of all angles alike, since there are no others to come.
        """
        s = self(x)
        mean, std = jnp.mean(s, axis=0), jnp.maximum(jnp.std(s, axis=0), 1e-3)
        if self.angle is None:
            return mean, std
        return mean.at[-2:].set(0.0), std.at[-2:].set(np.sqrt(0.5))

    def moments(
        self, mean: Float[Array | np.ndarray, " d"], cov: Float[Array | np.ndarray, "d d"]
    ) -> tuple[Float[Array, " k"], Float[Array, "k k"], Float[Array, "d k"]]:
        """Mean and covariance of the encoded state, and Cov(x, s), of a normal state."""
        mean, cov = jnp.asarray(mean), jnp.asarray(cov)
        if self.angle is None:
            return mean, cov, cov
        mu, v = mean[self.angle], cov[self.angle, self.angle]
        e = jnp.exp(-0.5 * v)
        sine, cosine = e * jnp.sin(mu), e * jnp.cos(mu)
        # Second moments minus products of means, with the common factor taken out: differences of
        # nearly equal numbers would lose all digits of a small v.
        half, double = -0.5 * jnp.expm1(-v), jnp.exp(-v)
        sine_var = half * (1.0 + double * jnp.cos(2.0 * mu))
        cosine_var = half * (1.0 - double * jnp.cos(2.0 * mu))
        both = -half * double * jnp.sin(2.0 * mu)
        others = self._others
        cross = cov[:, self.angle, None] * jnp.stack([cosine, -sine])
        x_s = jnp.concatenate([cov[:, others], cross], axis=1)
        corner = jnp.array([[sine_var, both], [both, cosine_var]])
        s_s = jnp.concatenate(
            [x_s[others], jnp.concatenate([cross[others].T, corner], axis=1)], axis=0
        )
        return jnp.concatenate([mean[others], jnp.stack([sine, cosine])]), s_s, x_s
