"""Arc-cosine kernels: infinitely wide layers of step or ramp functions (Cho and Saul 2009).

Notation: angle `theta` between augmented rows, squared chord `s = 2 - 2 cos(theta)`.

    order 0:  1 - theta / pi
    order 1:  (sin(theta) + (pi - theta) cos(theta)) / pi,    d/ds (order 1) = -(order 0) / 2

The derivative of the angle is infinite at s = 0. For order 1 it cancels, which the rule above
states outright; order 0 has a kink there, and 0 is given as its derivative.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.kernels._kernel import check_columns, check_shape
from leadline.kernels._sphere import Zonal, with_bias
from leadline.numerics import positive


@jax.custom_jvp
def _order0(s):
    return 1.0 - (2.0 / np.pi) * jnp.arcsin(0.5 * jnp.sqrt(s))


@_order0.defjvp
def _order0_jvp(primals, tangents):
    (s,), (ds,) = primals, tangents
    square = s * (1.0 - 0.25 * s)  # of sin(theta)
    smooth = square > 0
    slope = jnp.where(smooth, -0.5 / np.pi / jnp.sqrt(jnp.where(smooth, square, 1.0)), 0.0)
    return _order0(s), slope * ds


@jax.custom_jvp
def _order1(s):
    sine = jnp.sqrt(jnp.maximum(s * (1.0 - 0.25 * s), 0.0))
    return sine / np.pi + (1.0 - 0.5 * s) * _order0(s)


@_order1.defjvp
def _order1_jvp(primals, tangents):
    (s,), (ds,) = primals, tangents
    return _order1(s), -0.5 * _order0(s) * ds


def as_order(order: Any) -> int:
    """The order of an arc-cosine kernel: 0 or 1."""
    if order not in (0, 1):
        raise ValueError(f"The order of an ArcCosine kernel must be 0 or 1, got {order}.")
    return int(order)


class ArcCosine(Zonal):
    """The covariance of a wide layer with random weights, and its gradients at parallel rows.

    With x~ = [sqrt(weight_variance) x, sqrt(bias_variance)]: order 1 (ramps, the default) is
    |x~| |y~| times the order 1 function of the angle, order 0 (steps) that of order 0.

    Args:
        weight_variance: of the layer's weights: shared, or one for each input column.
        bias_variance: of the layer's biases.
        order: 0 or 1.
    """

    weight_variance: Float[Array, ...] = positive(1.0, scales_with="slope_variance")
    bias_variance: Float[Array, ""] = positive(1.0, scales_with="output")
    order: int = eqx.field(default=1, static=True, converter=as_order, kw_only=True)

    def __check_init__(self):
        check_shape(self, "weight_variance", 0, 1)
        check_shape(self, "bias_variance", 0)

    def augmented(self, x):
        check_columns(self, "weight_variance", x)
        return with_bias(x * jnp.sqrt(self.weight_variance), jnp.sqrt(self.bias_variance))

    def profile(self, s):
        return _order1(s) if self.order == 1 else _order0(s)

    def __call__(self, x, y):
        x, y = self.augmented(x), self.augmented(y)
        if self.order == 0:
            return self.zonal(x, y)
        lengths = jnp.linalg.norm(x, axis=1)[:, None] * jnp.linalg.norm(y, axis=1)[None, :]
        return lengths * self.zonal(x, y)

    def diag(self, x):
        if self.order == 0:
            return jnp.ones(x.shape[0])
        return jnp.sum(self.augmented(x) ** 2, axis=1)
