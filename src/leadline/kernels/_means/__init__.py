"""Kernels averaged over inputs that have a law: in closed form, by columns, or by points."""

from leadline.kernels._means._kernel_means import kernel_double_mean, kernel_mean
from leadline.kernels._means._pair_means import kernel_pair_mean, kernel_triple_mean

__all__ = [
    "kernel_double_mean",
    "kernel_mean",
    "kernel_pair_mean",
    "kernel_triple_mean",
]
