"""Which rows a step of training looks at: one from each of equal parts, evenly over steps.

Notation: `n` rows, batches of `b`; part k holds the rows from k n / b to (k + 1) n / b. It is
entered at a random place s_k in [0, 1), which moves on by the golden section at every step:

    i_k = floor((k + frac(s_k + step (sqrt(5) - 1) / 2)) n / b)

Any row is as likely as any other, rows are visited evenly, as in epochs, and nothing is drawn or
sorted whose size grows with n. Places are 32-bit integers, which wrap around by themselves.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, UInt32

_GOLDEN = np.uint32(2654435769)  # 2^32 (sqrt(5) - 1) / 2


def first_places(key: Array, shape: tuple[int, ...]) -> UInt32[Array, "*many b"]:
    """Random places, in units of 2^-32."""
    return jax.random.bits(key, shape, jnp.uint32)


def batch_rows(places: UInt32[Array, "*many b"], step: Any, n: Any) -> Int[Array, "*many b"]:
    """The rows of the batches at this step; each is below n."""
    batch = places.shape[-1]
    moved = places + jnp.asarray(step).astype(jnp.uint32) * _GOLDEN
    place = jnp.arange(batch) + moved.astype(jnp.float64) / 2.0**32
    return jnp.minimum((place * (n / batch)).astype(jnp.int32), n - 1)
