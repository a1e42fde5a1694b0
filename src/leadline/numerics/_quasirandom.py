"""Point sets that fill the unit cube evenly, through SciPy.

Every function is deterministic in its seed, an integer or a JAX key, and returns arrays `(n, d)`
strictly inside the cube, so that quantile functions of them are finite. SciPy is
imported where it is used: `scipy.stats` takes as long to load as JAX does.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.numerics._keys import key_bits
from leadline.numerics._sobol import BITS, sobol_digits


def sobol(n: int, d: int, seed: int | Array) -> Float[np.ndarray, "n d"]:
    """The first `n` points of a scrambled Sobol sequence (Owen 1998) in `d` dimensions.

    The set is balanced when `n` is a power of two: prefer one.
    """
    from scipy.stats import qmc

    _check(n, d)
    engine = qmc.Sobol(d, scramble=True, bits=BITS, rng=generator(seed))
    points = engine.random_base2(int(n - 1).bit_length())[:n]
    # Points lie on a grid of 2^-BITS; half a step moves them to the centers of its cells.
    return points + 2.0 ** -(BITS + 1)


def sobol_normal(n: int, d: int, seed: int | Array) -> Float[np.ndarray, "n d"]:
    """`n` scrambled Sobol points mapped to the standard normal law in `d` dimensions."""
    from scipy import special

    return special.ndtri(sobol(n, d, seed))


def shifted_sobol(source: Any, n: int, d: int) -> Float[Any, "n d"]:
    """Sobol points with the same binary digits flipped in all of them: a digital shift.

    Each point is uniform on the open cube, and the set stays balanced; a shift around the edges
    would not keep it so, and makes errors up to four times larger. Scrambling is no better here,
    and takes longer.

    Args:
        source: of randomness: a JAX key, of which this is a pure function, also in a trace; or a
            NumPy generator, and all stays on the host.
        n: how many points.
        d: dimensions.
    """
    if isinstance(source, np.random.Generator):
        flips = source.integers(2**BITS, size=d, dtype=np.uint64)
        return ((sobol_digits(n, d) ^ flips) + 0.5) * 2.0**-BITS
    flips = jax.random.bits(source, (d,), jnp.uint64) >> np.uint64(64 - BITS)
    digits = jnp.asarray(sobol_digits(n, d)) ^ flips
    return (digits.astype(jnp.float64) + 0.5) * 2.0**-BITS


def latin_hypercube(n: int, d: int, seed: int | Array) -> Float[np.ndarray, "n d"]:
    """`n` points, one in each of the `n` slices of every coordinate (McKay et al. 1979)."""
    from scipy.stats import qmc

    _check(n, d)
    points = qmc.LatinHypercube(d, rng=generator(seed)).random(n)
    return np.clip(points, np.finfo(np.float64).tiny, np.nextafter(1.0, 0.0))


def _check(n: int, d: int) -> None:
    if n < 1 or d < 1:
        raise ValueError(f"A point set needs n >= 1 and d >= 1; got n = {n}, d = {d}.")


def generator(seed: int | Array) -> np.random.Generator:
    """A generator from an integer, or from the bits of a JAX key."""
    if isinstance(seed, int | np.integer):
        return np.random.default_rng(int(seed))
    typed = jnp.issubdtype(seed.dtype, jax.dtypes.prng_key)
    bits = key_bits(seed) if typed else np.asarray(seed)
    return np.random.default_rng(bits.ravel().tolist())
