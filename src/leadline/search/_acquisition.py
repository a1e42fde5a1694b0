"""The contract of an acquisition function: what a next call, or several at once, would be worth."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from leadline.boundary import Able, InvalidData


class Acquisition(Able, eqx.Module):
    """The worth of calling the function at `q` points together; larger is better.

    `after(rows)` is an ability: the same acquisition where calls at the rows `(k, d)` are under
    way, so that its values are what further calls add to them. `ceilings(x)` is another: what no
    set is worth more than, in less time than its value takes.

    Attributes:
        traceable: whether `values` is a JAX program, which then has gradients.
        logarithmic: whether values are logarithms, so that differences of them are what matters.
        submodular: whether a set is worth no more than its points one by one, each after those
            before it. Then a batch that is chosen greedily is worth at least 1 - 1/e of the best
            one (Wilson 2023, theorem 2.12), up to the error of the search.
    """

    abilities: ClassVar = ("after", "ceilings")
    traceable: ClassVar[bool] = True
    logarithmic: ClassVar[bool] = False
    submodular: ClassVar[bool] = False

    @abc.abstractmethod
    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The worth of each of `b` sets of points."""


def single_points(acquisition: Acquisition, x: Any) -> Any:
    """The rows (b, d) of sets of one point, (b, 1, d)."""
    if x.ndim != 3 or x.shape[1] != 1:
        raise InvalidData(
            f"{type(acquisition).__name__} is of one point at a time, so it takes (b, 1, d), got "
            f"{x.shape}. Several points together are for the Monte Carlo forms."
        )
    return x[:, 0, :]
