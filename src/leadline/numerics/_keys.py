"""Random keys from seeds and from other random keys, on the host.

A campaign needs a new key at every ask. JAX's own functions compile a program each, and take tenths
of a millisecond a call; the few integer operations behind them (Threefry-2x32, Salmon et al. 2011)
take a hundredth. Keys of another kind than JAX's default, and keys in a trace, are left to JAX.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from leadline.boundary import is_traced

_WORD = 0xFFFFFFFF
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_DEFAULT = "threefry2x32"


def seed_key(seed: int) -> Array:
    """The key of a seed: `jax.random.key(seed)`."""
    config: Any = jax.config
    if config.jax_default_prng_impl != _DEFAULT or config.jax_random_seed_offset:
        return jax.random.key(seed)
    return _wrapped(seed >> 32 & _WORD, seed & _WORD)


def numbered_key(key: Array, number: int) -> Array:
    """The key with this number among those that belong to `key`: `jax.random.fold_in`."""
    if is_traced(key) or str(jax.random.key_impl(key)) != _DEFAULT:
        return jax.random.fold_in(key, number)
    first, second = key_bits(key).tolist()
    words = _threefry(first, second, 0, number)
    typed = jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    return _wrapped(*words) if typed else jax.device_put(np.array(words, np.uint32))


@partial(jax.jit, static_argnums=1)
def split_key(key: Array, count: int) -> tuple[Array, ...]:
    """So many independent keys."""
    return tuple(jax.random.split(key, count))


def key_bits(key: Array) -> np.ndarray:
    """The bits of a key."""
    return np.asarray(jax.random.key_data(key))


def _wrapped(first: int, second: int) -> Array:
    bits: Any = np.array([first, second], np.uint32)
    return jax.random.wrap_key_data(bits)


def _threefry(k0: int, k1: int, x0: int, x1: int) -> tuple[int, int]:
    """Two words from two words, under a key of two words: twenty rounds."""
    keys = (k0, k1, k0 ^ k1 ^ _PARITY)
    x0, x1 = (x0 + k0) & _WORD, (x1 + k1) & _WORD
    for i in range(5):
        for turn in _ROTATIONS[i % 2]:
            x0 = (x0 + x1) & _WORD
            x1 = ((x1 << turn | x1 >> (32 - turn)) & _WORD) ^ x0
        x0 = (x0 + keys[(i + 1) % 3]) & _WORD
        x1 = (x1 + keys[(i + 2) % 3] + i + 1) & _WORD
    return x0, x1
