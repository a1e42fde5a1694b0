"""Isotropic kernels in bases that diagonalize the Laplacian.

Notation: -Lap phi = s phi on a domain in `d` dimensions. Seen from far inside the domain, phi is
made of waves with |theta|^2 = s, and its weight has the variance (2 pi)^d S(theta) with the
kernel's spectral density S. For a Matern kernel, with kappa^2 = 2 nu / lengthscale^2, that is

    variance (4 pi)^(d/2) Gamma(nu + d/2) / Gamma(nu) kappa^(2 nu) (kappa^2 + s)^-(nu + d/2),

which solves (kappa^2 - Lap)^(nu/2 + d/4) f = white noise (Whittle 1963; Wilson 2023, eqs. 3.71 and
3.72). The exponent d/4 is printed as a/4 there, and the factor C_nu is left open; with this one the
variance far from any boundary is the kernel's.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported
from leadline.kernels import Kernel, Stationary
from leadline.paths._features._quadrature import unscaled


def mode_variances(
    kernel: Kernel, s: Float[Array | np.ndarray, " l"], dim: int
) -> Float[Array, " l"]:
    """The variances of weights of eigenfunctions with eigenvalues `s` of minus the Laplacian."""
    shared_lengthscale(kernel)
    return _mode_variances_jit(kernel, s, dim)


@eqx.filter_jit
def _mode_variances_jit(kernel: Kernel, s: Any, dim: int) -> Array:
    theta = jnp.zeros((s.shape[0], dim)).at[:, 0].set(jnp.sqrt(s))
    return (2.0 * np.pi) ** dim * kernel.spectral_density(theta)


def shared_lengthscale(kernel: Kernel) -> Float[Array, ""]:
    """The length scale of a Matern or squared exponential kernel, which may be scaled."""
    inside = unscaled(kernel)
    if not (isinstance(inside, Stationary) and hasattr(inside, "spectral_density")):
        raise Unsupported(
            "Only Matern and squared exponential kernels, and scalings of them, have the isotropic "
            f"spectrum that is needed here, got {kernel!r}."
        )
    if inside.lengthscale.shape:
        raise InvalidData(
            "The kernel must have one length scale, shared by all input columns, got shape "
            f"{inside.lengthscale.shape}. Scale the inputs instead."
        )
    return inside.lengthscale
