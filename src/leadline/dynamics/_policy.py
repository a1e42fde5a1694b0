"""Policies: bounded functions from states to one action.

Notation: encoded state `s (q,)`, centers `c (k, q)`, weights `w (k,)`, length scales `l (q,)`,
bound `B`; a(x) = B (2 Phi(sum_i w_i exp(-|s - c_i|_l^2 / 2)) - 1), Phi the normal distribution
function (Wilson 2023, eq. 3.77, with B = 10).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.dynamics._encoding import Encoding
from leadline.dynamics._moment_matching import Expansions, match_moments, probit_moments
from leadline.numerics import squared_distance

# How much farther than the states seen so far a policy should reach.
_WIDER = 1.5


class RBFPolicy(eqx.Module):
    """A kernel regressor, squashed to stay within a bound; length scales are kept as logarithms."""

    centers: Float[Array, "k q"]
    weights: Float[Array, " k"]
    log_lengthscale: Float[Array, " q"]
    bound: float = eqx.field(static=True)
    encoding: Encoding = eqx.field(static=True)

    @classmethod
    def random(
        cls, states: Any, key: Array, encoding: Encoding, bound: float, centers: int = 30
    ) -> RBFPolicy:
        """A smooth policy that acts at random, made for states like `states (n, d)` and beyond.

        Centers are normal with 1.5 times the spread of the states, at all angles alike. Length
        scales are sqrt(q) times that, so that every center is felt everywhere.
        """
        parameters = _random_jit(jnp.asarray(states), key, encoding, centers)
        return cls(*parameters, bound=bound, encoding=encoding)

    def __call__(self, x: Float[Array | np.ndarray, "... d"]) -> Float[Array, "... 1"]:
        """The action in each state."""
        s, l = self.encoding(x), jnp.exp(self.log_lengthscale)
        near = squared_distance(s.reshape(-1, s.shape[-1]) / l, self.centers / l)
        z = jnp.exp(-0.5 * near) @ self.weights
        return self.bound * (2.0 * jax.scipy.special.ndtr(z) - 1.0).reshape(*s.shape[:-1], 1)

    def moments(
        self, mean: Float[Array | np.ndarray, " d"], cov: Float[Array | np.ndarray, "d d"]
    ) -> tuple[Float[Array, " r"], Float[Array, "r r"], Float[Array, "d r"]]:
        """Mean and covariance of (s, a), and Cov(x, (s, a)), of a state x ~ N(mean, cov).

        The encoded state, and what is squashed, are taken for normal.
        """
        s, ss, xs = self.encoding.moments(mean, cov)
        z = match_moments(self._expansion(), s, ss)
        squashed, var, steepness = probit_moments(z.mean[0], z.cov[0, 0])
        slope = 2.0 * self.bound * steepness * z.slope
        sa, corner = ss @ slope, 4.0 * self.bound**2 * var[None, None]
        joint = jnp.block([[ss, sa], [sa.T, corner]])
        action = self.bound * (2.0 * squashed - 1.0)
        return jnp.append(s, action), joint, jnp.concatenate([xs, xs @ slope], axis=1)

    def _expansion(self) -> Expansions:
        return Expansions(
            offset=jnp.zeros(1),
            variance=jnp.ones(1),
            lengthscale=jnp.exp(self.log_lengthscale)[None],
            centers=self.centers[None],
            weights=self.weights[None],
        )


@eqx.filter_jit
def _random_jit(states: Array, key: Array, encoding: Encoding, centers: int):
    places, turns, heights = jax.random.split(key, 3)
    mean, std = encoding.ranges(states)
    beside = encoding.size if encoding.angle is None else encoding.size - 2  # the angle
    std = std.at[:beside].multiply(_WIDER)
    s = mean + std * jax.random.normal(places, (centers, encoding.size))
    if encoding.angle is not None:
        phi = jax.random.uniform(turns, (centers, 1), maxval=2.0 * np.pi)
        s = jnp.concatenate([s[:, :-2], jnp.sin(phi), jnp.cos(phi)], axis=1)
    weights = jax.random.normal(heights, (centers,))
    return s, weights, jnp.log(np.sqrt(encoding.size) * std)
