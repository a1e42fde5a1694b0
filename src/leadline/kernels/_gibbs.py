"""The Gibbs kernel: a length scale that changes from place to place.

Notation: `l(x) (n, d)` positive length scales, `L_d = l_d(x)^2 + l_d(y)^2`.

    k(x, y) = prod_d sqrt(2 l_d(x) l_d(y) / L_d) exp(-(x_d - y_d)^2 / L_d)
"""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from leadline.boundary import InvalidData, is_traced
from leadline.kernels._kernel import Kernel
from leadline.kernels._warp import as_module


class Gibbs(Kernel):
    """A squared exponential whose length scale is a function of the input.

    Due to Gibbs (1997); the formula above is eq. 4.32 of Rasmussen and Williams (2006).

    Args:
        lengthscale: maps rows (n, d) to positive length scales, (n, d) or (n, 1). A plain
            function, or a module; `fit` learns the parameters that a `Parameterized` one declares.
    """

    lengthscale: Callable[[Array], Array] = eqx.field(converter=as_module)

    def __call__(self, x, y):
        a, b = self.lengthscales(x)[:, None, :], self.lengthscales(y)[None, :, :]
        total = a**2 + b**2
        squares = (x[:, None, :] - y[None, :, :]) ** 2
        return jnp.exp(jnp.sum(0.5 * jnp.log(2.0 * a * b / total) - squares / total, axis=-1))

    def diag(self, x):
        return jnp.ones(x.shape[0])

    def lengthscales(self, x):
        """The length scales (n, d) at the rows of `x`, checked."""
        found = self.lengthscale(jnp.asarray(x))
        if np.shape(found) not in ((x.shape[0], x.shape[1]), (x.shape[0], 1)):
            raise InvalidData(
                f"The length scales of a Gibbs kernel must have shape {x.shape} or "
                f"({x.shape[0]}, 1), got {np.shape(found)}."
            )
        if not is_traced(found) and not np.all(np.asarray(found) > 0):
            raise InvalidData("The length scales of a Gibbs kernel must be positive everywhere.")
        return jnp.broadcast_to(found, x.shape)
