"""Random keys from other random keys, by compiled programs.

Eagerly each of these takes tenths of a millisecond, which is a good part of a short ask.
"""

from __future__ import annotations

from functools import partial

import jax
import numpy as np
from jaxtyping import Array


def numbered_key(key: Array, number: int) -> Array:
    """The key with this number among those that belong to `key`."""
    return _numbered(key, np.uint32(number))


@partial(jax.jit, static_argnums=1)
def split_key(key: Array, count: int) -> tuple[Array, ...]:
    """So many independent keys."""
    return tuple(jax.random.split(key, count))


@jax.jit
def key_bits(key: Array) -> Array:
    """The bits of a key."""
    return jax.random.key_data(key)


_numbered = jax.jit(jax.random.fold_in)
