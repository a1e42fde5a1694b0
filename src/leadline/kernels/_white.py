"""White noise."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.kernels._kernel import Kernel, check_shape
from leadline.numerics import positive


class White(Kernel):
    """k = variance if the two rows are equal, else 0: an independent value at every input."""

    variance: Float[Array, ""] = positive(1.0, scales_with="noise")

    def __check_init__(self):
        check_shape(self, "variance", 0)

    def __call__(self, x, y):
        equal = jnp.all(x[:, None, :] == y[None, :, :], axis=-1)
        return jnp.where(equal, self.variance, 0.0)

    def diag(self, x):
        return jnp.full(x.shape[0], self.variance)
