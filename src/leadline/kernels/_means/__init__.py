"""Kernels averaged over inputs that have a law: in closed form, or by points."""

from leadline.kernels._means._kernel_means import kernel_double_mean, kernel_mean

__all__ = [
    "kernel_double_mean",
    "kernel_mean",
]
