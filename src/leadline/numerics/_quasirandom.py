"""Point sets that fill the unit cube evenly, through SciPy.

Every function is deterministic in its seed, an integer or a JAX key, and returns arrays `(n, d)`
strictly inside the cube, so that quantile functions of them are finite. SciPy is
imported where it is used: `scipy.stats` takes as long to load as JAX does.
"""

from __future__ import annotations

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

# Points lie on a grid of 2^-52; half a step moves them to the centers of its cells.
_BITS = 52


def sobol(n: int, d: int, seed: int | Array) -> Float[np.ndarray, "n d"]:
    """The first `n` points of a scrambled Sobol sequence (Owen 1998) in `d` dimensions.

    The set is balanced when `n` is a power of two: prefer one.
    """
    from scipy.stats import qmc

    _check(n, d)
    engine = qmc.Sobol(d, scramble=True, bits=_BITS, rng=generator(seed))
    points = engine.random_base2(int(n - 1).bit_length())[:n]
    return points + 2.0 ** -(_BITS + 1)


def sobol_normal(n: int, d: int, seed: int | Array) -> Float[np.ndarray, "n d"]:
    """`n` scrambled Sobol points mapped to the standard normal law in `d` dimensions."""
    from scipy import special

    return special.ndtri(sobol(n, d, seed))


def shifted_sobol(key: Array, n: int, d: int) -> Float[Array, "n d"]:
    """Sobol points with the same binary digits flipped in all of them: a digital shift.

    Each point is uniform on the open cube, and the set stays balanced; a shift around the edges
    would not keep it so, and makes errors up to four times larger. Unlike scrambling, which is no
    better here, this is a pure function of the key, also in a trace.
    """
    flips = jax.random.bits(key, (d,), jnp.uint64) >> np.uint64(64 - _BITS)
    digits = jnp.asarray(_sobol_digits(n, d)) ^ flips
    return (digits.astype(jnp.float64) + 0.5) * 2.0**-_BITS


def rotated_sobol(n: int, d: int, rng: np.random.Generator) -> Float[np.ndarray, "n d"]:
    """Sobol points, all moved by one random step around the edges of the cube.

    For candidates of a search, which need to be spread and new, and cheap: scrambling takes longer.
    """
    _check(n, d)
    return (_sobol_points(n, d) + rng.random(d)) % 1.0


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
    if jnp.issubdtype(seed.dtype, jax.dtypes.prng_key):
        seed = jax.random.key_data(seed)
    return np.random.default_rng(np.asarray(seed).ravel().tolist())


@lru_cache(maxsize=32)
def _sobol_points(n: int, d: int) -> np.ndarray:
    from scipy.stats import qmc

    return qmc.Sobol(d, scramble=False, bits=_BITS).random_base2(int(n - 1).bit_length())[:n]


def _sobol_digits(n: int, d: int) -> np.ndarray:
    return (_sobol_points(n, d) * 2.0**_BITS).astype(np.uint64)
