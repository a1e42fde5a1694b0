"""The families of features that the scripts in this folder compare, and how they report.

Frequencies come from `leadline.paths`, for unit length scales; feature matrices are then NumPy, so
that one draw serves all length scales, and its beginning all smaller numbers of features.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

import leadline as ll
from leadline.boundary import InvalidData
from leadline.paths import (
    FourierFeatures,
    GaussHermite,
    GaussLegendre,
    OrthogonalFeatures,
    PhaseShiftedFeatures,
    Simpson,
)

RANDOM = {
    "RFF": lambda k, size, dim, key: FourierFeatures(k, size, dim, key=key, points="random"),
    "RFF, phases": lambda k, size, dim, key: PhaseShiftedFeatures(k, size, dim, key=key),
    "Sobol": lambda k, size, dim, key: FourierFeatures(k, size, dim, key=key),
    "Sobol, weighted": None,  # normal frequencies with importance weights, as in the thesis
    "ORF": lambda k, size, dim, key: OrthogonalFeatures(k, size, dim, key=key),
}
QUADRATURE = {
    "Gauss-Hermite": GaussHermite,
    "Gauss-Legendre": GaussLegendre,
    "Simpson": Simpson,
}
STYLES = {
    "RFF": ("#7f7f7f", "-"),
    "RFF, phases": ("#bcbd22", "-"),
    "Sobol": ("#1f77b4", "-"),
    "Sobol, weighted": ("#1f77b4", ":"),
    "ORF": ("#2ca02c", "-"),
    "Gauss-Hermite": ("#d62728", "-"),
    "Gauss-Legendre": ("#9467bd", "-"),
    "Simpson": ("#ff7f0e", "-"),
}


@dataclasses.dataclass
class Drawn:
    """Frequencies for unit length scales; without weights they share the variance evenly."""

    theta: np.ndarray
    weight: np.ndarray | None = None
    ratio: np.ndarray | None = None
    phase: np.ndarray | None = None

    def first(self, size: int) -> Drawn:
        """The same family with fewer features."""
        n = size if self.phase is not None else size // 2
        cut = [a if a is None else a[:n] for a in (self.ratio, self.phase)]
        return Drawn(self.theta[:n], None, *cut)

    def matrix(self, x: np.ndarray, scale: float) -> np.ndarray:
        """The features (n, l) at x (n, d)."""
        angle = x @ (self.theta / scale).T
        n = len(self.theta)
        weight = np.full(n, 1.0 / n) if self.weight is None else self.weight
        weight = weight if self.ratio is None else weight * self.ratio
        if self.phase is not None:
            return np.sqrt(2.0 * weight) * np.cos(angle + self.phase)
        return np.concatenate(
            [np.sqrt(weight) * np.cos(angle), np.sqrt(weight) * np.sin(angle)], axis=1
        )


def draw(family: str, make: type, size: int, dim: int, seed: int) -> Drawn:
    """A random family of at most `size` features."""
    key = jax.random.key(seed)
    if family == "Sobol, weighted":
        normal = ll.kernels.SquaredExponential(1.0)
        theta = FourierFeatures(normal, size, dim, key=key).theta
        ratio = make(1.0).spectral_density(theta) / normal.spectral_density(theta)
        return Drawn(np.asarray(theta), ratio=np.asarray(ratio))
    features = RANDOM[family](make(1.0), size, dim, key)
    phase = np.asarray(features.phase) if family == "RFF, phases" else None
    return Drawn(np.asarray(features.theta), phase=phase)


def quadrature(family: str, make: type, size: int, dim: int) -> Drawn | None:
    """A deterministic family of at most `size` features; None if there is none so small."""
    try:
        features = QUADRATURE[family](make(1.0), size, dim)
    except InvalidData:
        return None
    return Drawn(np.asarray(features.theta), np.asarray(features.weight))


def gram(make: type, x: np.ndarray, y: np.ndarray, scale: float) -> np.ndarray:
    """The kernel matrix, with the length scale in the inputs so that one program serves all."""
    return np.asarray(_gram(make(1.0), jnp.asarray(x / scale), jnp.asarray(y / scale)))


@jax.jit
def _gram(kernel, x, y):
    return kernel(x, y)


def table(header: list[str], rows: list[list]) -> None:
    """Print rows in columns."""
    cells = [header, *([_cell(c) for c in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        print("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)).rstrip())
    print()


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "-" if np.isnan(value) else f"{value:.2g}"
    return str(value)
