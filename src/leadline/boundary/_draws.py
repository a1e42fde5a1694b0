"""What draws are made with: a random key, and how many of them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from leadline.boundary._display import shorten
from leadline.boundary._errors import InvalidData
from leadline.boundary._inputs import is_traced


def as_count(value: Any, name: str) -> int:
    """A whole number, at least 1."""
    if not _is_whole(value) or value < 1:
        raise InvalidData(f"{name} must be a whole number, at least 1, got {shorten(value)}.")
    return int(value)


def as_key(key: Any) -> Any:
    """One random key of JAX, of the new kind or of the old."""
    if is_traced(key):
        return key
    if isinstance(key, jax.Array | np.ndarray):
        typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
        if typed and key.ndim:
            raise InvalidData(f"key must be one random key, got an array of shape {key.shape}.")
        if typed or (key.dtype == np.uint32 and key.ndim == 1):
            return key
    seed = key if _is_whole(key) and 0 <= key < 2**63 else 0
    raise InvalidData(
        f"key must be a random key, such as jax.random.key({seed}), got {shorten(key)}."
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
