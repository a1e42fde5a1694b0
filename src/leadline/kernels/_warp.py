"""Kernels of transformed inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.kernels._kernel import Kernel
from leadline.numerics import DataScale


class Function(eqx.Module):
    """A plain function as a module without parameters, so that kernels hold arrays only."""

    function: Callable = eqx.field(static=True)

    def __call__(self, x: Float[Array, "n d"]) -> Any:
        return self.function(x)

    def __repr__(self) -> str:
        return getattr(self.function, "__name__", repr(self.function))


def as_module(function: Any) -> Any:
    """A callable of rows as a module."""
    if not callable(function):
        raise ValueError(f"A function of rows (n, d) is wanted, got {function!r}.")
    return function if isinstance(function, eqx.Module) else Function(function)


class Warp(Kernel):
    """k(w(x), w(y)): a kernel of transformed inputs (Naiff 2019, chapter 3).

    Args:
        kernel: the kernel of what comes out of `warp`.
        warp: maps rows (n, d) to rows (n, e). A plain function, or a module; `fit` learns the
            parameters that a `Parameterized` module declares.
    """

    kernel: Kernel
    warp: Callable[[Array], Array] = eqx.field(converter=as_module)

    def __call__(self, x, y):
        return self.kernel(self.transform(x), self.transform(y))

    def diag(self, x):
        return self.kernel.diag(self.transform(x))

    def transform(self, x: Any) -> Any:
        """The rows that the kernel sees."""
        return self.warp(jnp.asarray(x))

    def parts(self):
        return (self.kernel,)

    def scale_for(self, field: str, scale: DataScale) -> DataScale:
        """The kernel inside sees transformed inputs."""
        if field != "kernel":
            return scale
        return scale.with_inputs(np.asarray(self.transform(scale.x)))
