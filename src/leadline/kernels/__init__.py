"""Covariance functions: what functions look like before data arrive."""

from leadline.kernels._active_dims import ActiveDims, DirectSum
from leadline.kernels._algebra import Constant, Product, Scale, Sum
from leadline.kernels._arc_cosine import ArcCosine
from leadline.kernels._categorical import Categorical, Coregionalization
from leadline.kernels._cosine import Cosine
from leadline.kernels._gibbs import Gibbs
from leadline.kernels._kernel import Frequencies, Kernel
from leadline.kernels._mahalanobis import Mahalanobis
from leadline.kernels._matern import Matern, Matern12, Matern32, Matern52
from leadline.kernels._means import (
    kernel_double_mean,
    kernel_mean,
    kernel_pair_mean,
    kernel_triple_mean,
)
from leadline.kernels._partly_additive import PartlyAdditive
from leadline.kernels._periodic import Periodic
from leadline.kernels._polynomial import Linear, Polynomial
from leadline.kernels._product_matern import ProductMatern
from leadline.kernels._spectral_mixture import SpectralMixture
from leadline.kernels._sphere import SphereMatern, Zonal
from leadline.kernels._stationary import RationalQuadratic, SquaredExponential, Stationary
from leadline.kernels._warp import Warp
from leadline.kernels._white import White

__all__ = [
    "ActiveDims",
    "ArcCosine",
    "Categorical",
    "Constant",
    "Coregionalization",
    "Cosine",
    "DirectSum",
    "Frequencies",
    "Gibbs",
    "Kernel",
    "Linear",
    "Mahalanobis",
    "Matern",
    "Matern12",
    "Matern32",
    "Matern52",
    "PartlyAdditive",
    "Periodic",
    "Polynomial",
    "Product",
    "ProductMatern",
    "RationalQuadratic",
    "Scale",
    "SpectralMixture",
    "SphereMatern",
    "SquaredExponential",
    "Stationary",
    "Sum",
    "Warp",
    "White",
    "Zonal",
    "kernel_double_mean",
    "kernel_mean",
    "kernel_pair_mean",
    "kernel_triple_mean",
]
