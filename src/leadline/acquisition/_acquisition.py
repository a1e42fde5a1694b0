"""The contract of an acquisition function: what a next call, or several at once, would be worth."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float


class Acquisition(eqx.Module):
    """The worth of calling the function at `q` points together; larger is better.

    Attributes:
        traceable: whether `values` is a JAX program, which then has gradients.
        logarithmic: whether values are logarithms, so that differences of them are what matters.
    """

    traceable: ClassVar[bool] = True
    logarithmic: ClassVar[bool] = False

    @abc.abstractmethod
    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The worth of each of `b` sets of points."""
