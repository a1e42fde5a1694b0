"""The Sobol sequence, from the direction numbers of Joe and Kuo (2008).

SciPy ships these numbers, and a generator. But the generator is part of `scipy.stats`, which takes
as long to import as JAX does: too long for a program that wants ten points of a design.

Notation: point i is the exclusive or of the direction numbers v_k over the bits k that are set in
i xor (i >> 1), Gray's code of i; digits are whole numbers of `BITS` binary digits.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

import numpy as np
from jaxtyping import UInt64

BITS = 52


@lru_cache(maxsize=32)
def sobol_digits(n: int, d: int) -> UInt64[np.ndarray, "n d"]:
    """The first `n` points of the sequence in `d` dimensions, as whole numbers below 2^BITS."""
    directions = _directions(d, max(int(n - 1).bit_length(), 1))
    code = np.arange(n, dtype=np.uint64)
    code ^= code >> np.uint64(1)
    digits = np.zeros((n, d), np.uint64)
    for k, direction in enumerate(directions):
        is_set = (code >> np.uint64(k)) & np.uint64(1)
        digits ^= is_set[:, None] * direction
    digits.setflags(write=False)
    return digits


def _directions(d: int, count: int) -> UInt64[np.ndarray, "count d"]:
    """The first direction numbers of each dimension, by the recurrence of its polynomial."""
    polynomials, first = _joe_kuo()
    if d > len(polynomials):
        raise ValueError(f"The Sobol sequence has {len(polynomials)} dimensions, asked for {d}.")
    found = np.empty((count, d), np.uint64)
    for j in range(d):
        polynomial = int(polynomials[j])
        degree = polynomial.bit_length() - 1
        # The first dimension is the sequence of van der Corput: all its numbers are 1.
        m = [int(v) for v in first[j, :degree]] if degree else [1] * count
        for k in range(degree, count if degree else 0):
            new = m[k - degree] ^ (m[k - degree] << degree)
            for i in range(1, degree):
                if (polynomial >> (degree - i)) & 1:
                    new ^= m[k - i] << i
            m.append(new)
        found[:, j] = [m[k] << (BITS - 1 - k) for k in range(count)]
    return found


@lru_cache(maxsize=1)
def _joe_kuo() -> tuple[np.ndarray, np.ndarray]:
    """Primitive polynomials, as the bits of a number, and the first direction numbers."""
    table = resources.files("scipy") / "stats" / "_sobol_direction_numbers.npz"
    with table.open("rb") as file, np.load(file) as numbers:
        return numbers["poly"], numbers["vinit"]
