"""Which Fourier features are best for a kernel, a number of features and a box of inputs.

Deterministic frequencies win by orders of magnitude where the box is small in units of the length
scale and the columns are few, and lose badly elsewhere: neither number decides alone (Tiao 2023,
appendix A.4, gives the rule by dimension). Errors are cheap to measure, so they are measured.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, as_bounds, is_traced
from leadline.kernels import Kernel
from leadline.numerics import sobol
from leadline.paths._features._features import Features
from leadline.paths._features._fourier import FourierFeatures, Waves
from leadline.paths._features._quadrature import GaussHermite, GaussLegendre, takes_quadrature

_POINTS = 64


def choose_features(kernel: Kernel, size: int, lower: Any, upper: Any, *, key: Array) -> Waves:
    """The Fourier features with the smallest kernel error in a box.

    Gauss-Hermite, Gauss-Legendre and quasi-random frequencies are compared on 64 points of the box.
    Draws made with the features are trustworthy in the box only: deterministic frequencies are
    almost periodic, and their draws may repeat themselves outside it. Inside a trace nothing can be
    compared, and the frequencies are quasi-random, which are safe anywhere.

    Args:
        kernel: a kernel with frequencies.
        size: the most features, an even number.
        lower: the lower corner of the box (d,).
        upper: its upper corner (d,).
        key: a random key, for the quasi-random frequencies and the points.
    """
    if not hasattr(kernel, "frequencies_at"):
        raise Unsupported(
            f"{kernel!r} has no frequencies, so there are no Fourier features of it. "
            "Use Nystrom features, which any kernel has."
        )
    if np.ndim(lower) != 1 or np.shape(lower) != np.shape(upper):
        raise InvalidData(
            "The corners of a box are two vectors (d,), got shapes "
            f"{np.shape(lower)} and {np.shape(upper)}."
        )
    lower, upper = as_bounds(np.stack([lower, upper], axis=1))
    dim = len(lower)
    for_frequencies, for_points = jax.random.split(key)
    candidates: list[Waves] = [FourierFeatures(kernel, size, dim, key=for_frequencies)]
    if not takes_quadrature(kernel) or size < 2**dim or is_traced(kernel, key):
        return candidates[0]
    candidates += [GaussHermite(kernel, size, dim), GaussLegendre(kernel, size, dim)]
    x = lower + (upper - lower) * sobol(_POINTS, dim, for_points)
    return candidates[int(np.argmin(_errors(candidates, kernel, x)))]


def feature_error(
    features: Features, kernel: Kernel, x: Float[Array | np.ndarray, "n d"]
) -> Float[Array, ""]:
    """How far the features' covariance matrix at `x` is off, relative to the kernel's.

    In Frobenius norms: |Phi Phi^T - K| / |K|.
    """
    x = jnp.asarray(x)
    gram = kernel(x, x)
    return jnp.linalg.norm(features.covariance(x, x) - gram) / jnp.linalg.norm(gram)


@eqx.filter_jit
def _errors(candidates: list[Waves], kernel: Kernel, x: Any) -> Float[Array, " c"]:
    return jnp.stack([feature_error(features, kernel, x) for features in candidates])
