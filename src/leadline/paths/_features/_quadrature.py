"""Fourier features with deterministic frequencies: quadrature rules of the spectral density.

Notation: length scales `l (d,)`, frequencies `z = theta l` for unit length scales, whose density is
p(z) = S(z / l) / prod(l). A rule along one axis has nodes `z_i` and lengths `h_i`, such that
int f(z) dz ~ sum_i h_i f(z_i); in several dimensions it is the product of as many axes, and

    k(x, y) = int p(z) cos(z . (x - y) / l) dz ~ sum_i a_i cos(theta_i . (x - y)),
    a_i = p(z_i) prod_j h_ij.

Nodes come in pairs z, -z with the same cosine and opposite sines: one of each is kept, with twice
the weight, which halves the features (Tiao 2023, appendix A.3, keeps both). `n` nodes along each
axis make n^d features if `n` is even, and one more, the sine of the zero frequency, if it is odd.

A finite sum of waves with regular frequencies is almost periodic: such features describe a kernel
well up to some distance, and not at all beyond. The more nodes, the further.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported
from leadline.kernels import Frequencies, Kernel, Scale, SquaredExponential
from leadline.paths._features._fourier import Waves

# The box of Simpson's rule, in standard deviations: a normal law has 2e-9 of its mass outside.
_REACH = 6.0


class GaussHermite(Waves):
    """Waves at the nodes of Gauss-Hermite quadrature (Mutny and Krause 2018; Tiao 2023, A.3).

    For squared exponential kernels the error falls faster than any power of the number of nodes
    along an axis, but only from about (range of the inputs / length scale)^2 / 4 nodes on: with
    fewer, it is larger than that of random frequencies. As `n` nodes along each of `d` axes are
    n^d features, there are rarely enough in many dimensions. `choose_features` weighs that up.

    The spectra of Matern kernels are weighted relative to the normal law of the same length scale.
    The nodes reach few of the high frequencies, so the variance is not quite k(x, x) and the error
    falls as a power of the number of nodes. In up to three dimensions that is still far less than
    the error of random frequencies; from four on it is more.

    Args:
        kernel: squared exponential, Matern or product-Matern, or a scaling of one.
        size: the most features; the number of nodes along each axis follows from it.
        dim: how many columns the inputs have.
    """

    def __init__(self, kernel: Kernel, size: int, dim: int):
        n = _nodes_per_axis(size, dim)
        self.theta, self.weight = _tensor_product(kernel, dim, *_hermite_axis(n))


class GaussLegendre(Waves):
    """Waves at the nodes of Gauss-Legendre quadrature, for spectra with light or heavy tails.

    The axis is the image of (-1, 1) under tan(pi u / 2) / lengthscale. Tiao (2023, appendix A.3)
    has tan(pi u / 2): without the length scale most nodes miss the spectrum, unless its width
    happens to be about 1.

    Args:
        kernel: squared exponential, Matern or product-Matern, or a scaling of one.
        size: the most features; the number of nodes along each axis follows from it.
        dim: how many columns the inputs have.
    """

    def __init__(self, kernel: Kernel, size: int, dim: int):
        n = _nodes_per_axis(size, dim)
        self.theta, self.weight = _tensor_product(kernel, dim, *_legendre_axis(n))


class Simpson(Waves):
    """Waves at equally spaced nodes with the weights 1, 4, 2, 4, ..., 4, 1 of Simpson's rule.

    Squared exponential kernels are integrated over the box of 6 / lengthscale about zero. The tails
    of Matern spectra are too heavy for a box: there, the nodes are equally spaced in the `u` of
    theta = tan(pi u / 2) / lengthscale, without the two ends, where the frequency is infinite. The
    thesis (Tiao 2023, appendix A.3) leaves the bounds open.

    Args:
        kernel: squared exponential, Matern or product-Matern, or a scaling of one.
        size: the most features; the number of nodes along each axis follows from it.
        dim: how many columns the inputs have.
    """

    def __init__(self, kernel: Kernel, size: int, dim: int):
        n = _nodes_per_axis(size, dim, least=3, step=2)
        light = isinstance(unscaled(kernel), SquaredExponential)
        axis = _simpson_axis(n) if light else _open_simpson_axis(n)
        self.theta, self.weight = _tensor_product(kernel, dim, *axis)


def takes_quadrature(kernel: Kernel) -> bool:
    """Whether the classes of this module can take the kernel."""
    inside = unscaled(kernel)
    return hasattr(inside, "lengthscale") and hasattr(inside, "spectral_density")


def lengthscales(kernel: Kernel, dim: int) -> Float[Array, " d"]:
    """The length scale along each of `dim` columns, if the kernel can be taken."""
    if not takes_quadrature(kernel):
        raise Unsupported(
            f"Quadrature of a spectrum is for squared exponential, Matern and product-Matern "
            f"kernels and scalings of them, not for {kernel!r}. FourierFeatures take every "
            "stationary kernel."
        )
    found = jnp.asarray(unscaled(kernel).lengthscale)
    if found.ndim and found.shape != (dim,):
        raise InvalidData(
            f"The kernel has {found.shape[0]} length scales, but the inputs have {dim} columns."
        )
    return jnp.broadcast_to(found, (dim,))


def unscaled(kernel: Any) -> Any:
    """The kernel without its factors."""
    while isinstance(kernel, Scale):
        kernel = kernel.kernel
    return kernel


def _nodes_per_axis(size: int, dim: int, least: int = 2, step: int = 1) -> int:
    """The most nodes that give at most `size` features: `least`, or some steps more."""
    if dim < 1:
        raise InvalidData(f"The number of input columns must be at least 1, got {dim}.")
    if _features(least, dim) > size:
        raise InvalidData(
            f"{least} nodes along each of {dim} input columns make {_features(least, dim)} "
            f"features, but at most {size} are wanted. FourierFeatures take any number."
        )
    n = least
    while _features(n + step, dim) <= size:
        n += step
    return n


def _features(n: int, dim: int) -> int:
    """Two for each pair of nodes, and for the zero node."""
    return n**dim + n % 2


def _tensor_product(kernel: Kernel, dim: int, nodes: Any, lengths: Any) -> Frequencies:
    """Frequencies and weights of the products of one symmetric rule."""
    return _weighted(kernel, lengthscales(kernel, dim), nodes, lengths)


@eqx.filter_jit
def _weighted(kernel: Kernel, lengthscale: Array, nodes: Any, lengths: Any) -> Frequencies:
    dim = lengthscale.shape[0]
    # In the order of the flat index, the mirror image of the i-th node is the i-th last.
    total = len(nodes) ** dim
    kept = np.arange(total // 2, total)
    index = np.stack(np.unravel_index(kept, (len(nodes),) * dim), axis=1)
    pairs = np.where(2 * kept + 1 == total, 1.0, 2.0)
    theta = nodes[index] / lengthscale
    volume = pairs * jnp.prod(lengths[index], axis=1)
    return Frequencies(theta, volume * kernel.spectral_density(theta) / jnp.prod(lengthscale))


@lru_cache
def _hermite_axis(n: int) -> tuple[np.ndarray, np.ndarray]:
    """The rule of weight exp(-z^2 / 2); SciPy has its nodes also where NumPy's overflow."""
    from scipy.special import roots_hermite

    x, w = roots_hermite(n)
    with np.errstate(divide="ignore"):  # far nodes whose weight underflows stay at zero
        lengths = np.sqrt(2.0) * np.exp(np.log(w) + x**2)
    return _symmetric(np.sqrt(2.0) * x), lengths


@lru_cache
def _legendre_axis(n: int) -> tuple[np.ndarray, np.ndarray]:
    from scipy.special import roots_legendre

    return _tangents(*roots_legendre(n))


@lru_cache
def _simpson_axis(n: int) -> tuple[np.ndarray, np.ndarray]:
    u, w = _simpson(n)
    return _REACH * u, _REACH * w


@lru_cache
def _open_simpson_axis(n: int) -> tuple[np.ndarray, np.ndarray]:
    u, w = _simpson(n + 2)
    return _tangents(u[1:-1], w[1:-1])


def _simpson(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Simpson's rule on [-1, 1] with an odd number of nodes."""
    w = np.full(n, 2.0)
    w[1::2] = 4.0
    w[[0, -1]] = 1.0
    return _symmetric(np.linspace(-1.0, 1.0, n)), w * 2.0 / (3.0 * (n - 1))


def _tangents(u: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A rule on (-1, 1) as one on the real line."""
    z = np.tan(0.5 * np.pi * _symmetric(u))
    return z, w * 0.5 * np.pi * (1.0 + z**2)


def _symmetric(nodes: np.ndarray) -> np.ndarray:
    """Nodes whose pairs are exactly opposite, and whose middle one is exactly zero."""
    return 0.5 * (nodes - nodes[::-1])
