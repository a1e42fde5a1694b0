"""Fully connected networks from rows to one number, as pure functions of a vector of weights.

Notation: rows `x (n, d)`; layers of `sizes = (d, h_1, ..., h_L, 1)`; `theta (p,)`, all weights and
biases in one vector, layer by layer; `g` the activation.

    a_0 = x,   a_l = g(a_{l-1} W_l + b_l),   f = a_L W_{L+1} + b_{L+1}

One vector is one array for an optimizer, a sampler and a journal alike.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

ACTIVATIONS = {
    "elu": jax.nn.elu,
    "relu": jax.nn.relu,
    "sigmoid": jax.nn.sigmoid,
    "softplus": jax.nn.softplus,
    "swish": jax.nn.swish,
    "tanh": jnp.tanh,
}


@dataclasses.dataclass(frozen=True)
class Network:
    """The shape of a network. It holds no weights, so a compiled program may depend on it.

    Attributes:
        sizes: the number of input columns, of units in each hidden layer, and 1.
        activation: a name from `ACTIVATIONS`.
    """

    sizes: tuple[int, ...]
    activation: str

    @property
    def size(self) -> int:
        """The number of weights and biases."""
        return sum((inputs + 1) * outputs for inputs, outputs in self._layers)

    def init(self, key: Array) -> Float[Array, " p"]:
        """Random weights by Glorot and Bengio (2010), eq. 16: uniform; biases are zero."""
        parts = []
        for (inputs, outputs), k in zip(
            self._layers, jax.random.split(key, len(self._layers)), strict=True
        ):
            limit = (6.0 / (inputs + outputs)) ** 0.5
            weights = jax.random.uniform(k, (inputs * outputs,), minval=-limit, maxval=limit)
            parts += [weights, jnp.zeros(outputs)]
        return jnp.concatenate(parts)

    def apply(
        self,
        theta: Float[Array, " p"],
        x: Float[Any, "n d"],
        keep: Sequence[Any] | None = None,
    ) -> Float[Array, " n"]:
        """The outputs at rows, in the precision of the rows.

        Args:
            theta: the weights.
            x: rows.
            keep: what the units of each hidden layer are multiplied with, `(h_l,)` or `(n, h_l)`;
                nothing if None.
        """
        weights, bias = self._unpacked(theta.astype(x.dtype))[-1]
        return (self.features(theta, x, keep) @ weights + bias)[:, 0]

    def features(
        self,
        theta: Float[Array, " p"],
        x: Float[Any, "n d"],
        keep: Sequence[Any] | None = None,
    ) -> Float[Array, "n h"]:
        """The last hidden layer at rows, of which the output is an affine function."""
        act = ACTIVATIONS[self.activation]
        a = jnp.asarray(x)
        for depth, (weights, bias) in enumerate(self._unpacked(theta.astype(x.dtype))[:-1]):
            a = act(a @ weights + bias)
            if keep is not None:
                a = a * keep[depth]
        return a

    @property
    def _layers(self) -> list[tuple[int, int]]:
        return list(zip(self.sizes[:-1], self.sizes[1:], strict=True))

    def _unpacked(self, theta: Array) -> list[tuple[Array, Array]]:
        found, at = [], 0
        for inputs, outputs in self._layers:
            middle, end = at + inputs * outputs, at + (inputs + 1) * outputs
            found.append((theta[at:middle].reshape(inputs, outputs), theta[middle:end]))
            at = end
        return found
