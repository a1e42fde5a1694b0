"""Ratios that are estimated directly from two samples, without a classifier's loss."""

from leadline.ratios._direct._density import FittedKernelDensity, KernelDensity
from leadline.ratios._direct._expansion import Expansion, SignedExpansion
from leadline.ratios._direct._kliep import KLIEP
from leadline.ratios._direct._least_squares import RuLSIF, uLSIF
from leadline.ratios._direct._matching import kernel_mean_matching

__all__ = [
    "KLIEP",
    "Expansion",
    "FittedKernelDensity",
    "KernelDensity",
    "RuLSIF",
    "SignedExpansion",
    "kernel_mean_matching",
    "uLSIF",
]
