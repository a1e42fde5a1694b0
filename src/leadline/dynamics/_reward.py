"""A reward that is a Gaussian bump of a linear function of the encoded state.

Notation: encoded state `s`, matrix `A (q, k)`, target `t (q,)`, width `w`;
r(x) = exp(-|A s - t|^2 / (2 w^2)). For A s ~ N(m, S),

    E r = |I + S / w^2|^-1/2 exp(-1/2 (m - t)^T (w^2 I + S)^-1 (m - t))

(Deisenroth et al. 2015). The distance of the tip of a pole to its goal is linear in the cart's
position and the angle's sine and cosine.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.dynamics._encoding import Encoding
from leadline.numerics import log_determinant, solve_lower


class GaussianReward(eqx.Module):
    """At most 1, where the linear function hits its target.

    Attributes:
        matrix: A.
        target: t.
        width: w, in the units of the target.
        encoding: of states.
    """

    matrix: Float[Array | np.ndarray, "q k"]
    target: Float[Array, " q"]
    width: float
    encoding: Encoding = eqx.field(static=True)

    def __call__(self, x: Float[Array | np.ndarray, "... d"]) -> Float[Array, ...]:
        """The reward of each state."""
        missed = self.encoding(x) @ self.matrix.T - self.target
        return jnp.exp(-0.5 * jnp.sum(missed**2, axis=-1) / self.width**2)

    def expectation(
        self, mean: Float[Array | np.ndarray, " d"], cov: Float[Array | np.ndarray, "d d"]
    ) -> Float[Array, ""]:
        """The expected reward of a state that is N(mean, cov).

        Exact without an angle. With one, the encoded state is taken for normal.
        """
        s_mean, s_cov, _ = self.encoding.moments(mean, cov)
        missed = jnp.divide(self.matrix @ s_mean - self.target, self.width)
        spread = self.matrix @ s_cov @ self.matrix.T / self.width**2
        factor = jnp.linalg.cholesky(jnp.eye(missed.shape[0]) + spread)
        z = solve_lower(factor, missed)
        return jnp.exp(-0.5 * (z @ z + log_determinant(factor)))
