"""Calls of the library as one program each, for tests that need their values only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax

_call = eqx.filter_jit(lambda f, *args: f(*args))


def computed(f: Callable[..., Any], *args: Any) -> Any:
    """`f(*args)` in NumPy. Called eagerly, JAX compiles each operation inside for each shape.

    `f` is a function of a module, a kernel, or a method of an object that is a pytree. A function
    that is made anew for each call would be compiled anew.
    """
    return jax.device_get(_call(f, *args))
