"""Latent-variable models whose prior is given by samples only, and translation between two sets."""

from leadline.implicit._conditional import Conditional, Gaussian, Laplace
from leadline.implicit._factor_analysis import FactorAnalysis
from leadline.implicit._fitted import Fitted
from leadline.implicit._methods import AVB, SJMVI, VAE, CycleGAN
from leadline.implicit._networks import (
    Affine,
    AnchoredRatio,
    JointRatio,
    KnownDensity,
    LearnedDensity,
    MarginalRatio,
    Networks,
    Perceptron,
)
from leadline.implicit._objective import Objective, Terms
from leadline.implicit._scale import ConstantScale, NetworkScale, Scale, TriangularScale
from leadline.implicit._training import History

__all__ = [
    "AVB",
    "SJMVI",
    "VAE",
    "Affine",
    "AnchoredRatio",
    "Conditional",
    "ConstantScale",
    "CycleGAN",
    "FactorAnalysis",
    "Fitted",
    "Gaussian",
    "History",
    "JointRatio",
    "KnownDensity",
    "Laplace",
    "LearnedDensity",
    "MarginalRatio",
    "NetworkScale",
    "Networks",
    "Objective",
    "Perceptron",
    "Scale",
    "Terms",
    "TriangularScale",
]
