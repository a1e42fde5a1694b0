"""Every kernel once (and the interesting variants), for inputs with three columns.

`KERNELS` maps a name to `(kernel, kind)`; `inputs(kind, n)` gives inputs that the kernel can read.
Kinds: "spectral" has frequencies, "index" reads whole numbers 0, 1, 2 from the last column, "other"
is the rest. For tests of models: `from tests.kernels.registry import KERNELS, inputs`.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from leadline import kernels as k

COLUMNS = 3


def wavy_lengthscale(x):
    return 0.6 + 0.3 * jnp.sin(x)


def squash(x):
    return jnp.tanh(0.7 * x)[:, :2]


_ARD = [0.7, 1.1, 1.6]
_MIXTURE = k.SpectralMixture(
    weights=[0.5, 0.9],
    means=[[0.2, 0.0, 0.1], [-0.1, 0.3, 0.05]],
    scales=[[0.1, 0.2, 0.15], [0.05, 0.1, 0.2]],
)

KERNELS: dict[str, tuple[k.Kernel, str]] = {
    "SquaredExponential": (k.SquaredExponential(0.9), "spectral"),
    "SquaredExponentialARD": (k.SquaredExponential(_ARD), "spectral"),
    "Matern12": (k.Matern12(_ARD), "spectral"),
    "Matern32": (k.Matern32(_ARD), "spectral"),
    "Matern52": (k.Matern52(_ARD), "spectral"),
    "MaternRough": (k.Matern(_ARD, nu=0.3), "spectral"),
    "MaternOne": (k.Matern(_ARD, nu=1.0), "spectral"),
    "MaternSmooth": (k.Matern(_ARD, nu=4.2), "spectral"),
    "RationalQuadratic": (k.RationalQuadratic(_ARD, alpha=1.7), "spectral"),
    "PartlyAdditive": (k.PartlyAdditive(_ARD, share=0.4), "spectral"),
    "Periodic": (k.Periodic(lengthscale=[0.8, 1.2, 1.0], period=[2.0, 3.0, 4.0]), "spectral"),
    "Cosine": (k.Cosine([3.0, 5.0, 7.0]), "spectral"),
    "Constant": (k.Constant(0.7), "spectral"),
    "SpectralMixture": (_MIXTURE, "spectral"),
    "ProductMatern12": (k.ProductMatern(_ARD, nu=0.5), "spectral"),
    "ProductMatern32": (k.ProductMatern(_ARD, nu=1.5), "spectral"),
    "ProductMatern52": (k.ProductMatern(_ARD), "spectral"),
    "Mahalanobis": (k.Mahalanobis(k.Matern52(_ARD), [0.5, -0.3, 0.8]), "spectral"),
    "ActiveDims": (k.Matern52([0.7, 1.3], active_dims=[2, 0]), "spectral"),
    "DirectSum": (
        k.DirectSum([k.Matern32(0.8), 1.5 * k.SquaredExponential(1.2)], [[1], [0, 2]]),
        "spectral",
    ),
    "Scale": (2.5 * k.Matern52(_ARD), "spectral"),
    "Sum": (2.0 * k.Matern52(_ARD) + k.Periodic(period=3.0) + 0.5, "spectral"),
    "Product": (1.5 * k.Matern52(_ARD) * k.Cosine([3.0, 5.0, 7.0]), "spectral"),
    "ProductOfSums": ((k.Matern52(_ARD) + 3.0) * (2.0 * k.Cosine(4.0) + _MIXTURE), "spectral"),
    "Linear": (k.Linear([0.5, 1.0, 2.0]), "other"),
    "Polynomial": (k.Polynomial(_ARD, offset=0.6, degree=3), "other"),
    "White": (k.White(0.4), "other"),
    "ArcCosine0": (k.ArcCosine([0.5, 1.0, 2.0], 0.8, order=0), "other"),
    "ArcCosine1": (k.ArcCosine([0.5, 1.0, 2.0], 0.8), "other"),
    "SphereMatern": (k.SphereMatern(_ARD, bias=0.9, nu=1.5), "other"),
    "Gibbs": (k.Gibbs(wavy_lengthscale), "other"),
    "Warp": (k.Warp(k.Matern52([0.5, 0.9]), squash), "other"),
    "Categorical": (k.Matern52(active_dims=[0, 1]) * k.Categorical(0.3).on(2), "index"),
    "Coregionalization": (
        k.Coregionalization([[1.0], [-0.5], [0.3]], [0.2, 0.4, 0.0], active_dims=[2])
        * k.Matern32(active_dims=[0, 1]),
        "index",
    ),
}

SPECTRAL = [name for name, (_, kind) in KERNELS.items() if kind == "spectral"]


def inputs(kind: str, n: int, seed: int = 0) -> np.ndarray:
    """Random inputs (n, 3); the last column is an index if the kind is "index"."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, COLUMNS))
    if kind == "index":
        x[:, -1] = rng.integers(0, 3, size=n)
    return x


@jax.jit
def gram(kernel: k.Kernel, x: jax.Array, y: jax.Array) -> jax.Array:
    """`kernel(x, y)`, compiled once for each kernel and shape in a test run."""
    return kernel(x, y)
