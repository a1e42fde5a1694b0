"""Density ratios from samples, divergences, and the classifiers that they come from.

    ratio = ll.ratios.fit(x_numerator, x_denominator)       # or classifier="forest", "rulsif", ...
    ratio.log_ratio(x), ratio.relative(x, gamma=0.25)
    ll.ratios.divergence(x_numerator, x_denominator, "kl")

A classifier that tells the rows of two samples apart knows the ratio of their densities, and an
estimator of the ratio is a classifier: both are `Classifier`s, and `fit` takes any of them.
"""

from leadline.ratios._best import Best
from leadline.ratios._calibration import Calibrated
from leadline.ratios._choices import as_classifier, classifier_settings
from leadline.ratios._classifier import Classifier, FittedClassifier, State
from leadline.ratios._direct import (
    KLIEP,
    Expansion,
    FittedKernelDensity,
    KernelDensity,
    RuLSIF,
    SignedExpansion,
    kernel_mean_matching,
    uLSIF,
)
from leadline.ratios._divergence import Divergence, divergence
from leadline.ratios._ensemble import Ensemble
from leadline.ratios._gaussian_process import GaussianProcess
from leadline.ratios._generators import GENERATORS, Generator
from leadline.ratios._networks import (
    MLP,
    SGHMC,
    Dropout,
    FittedMLP,
    FittedVariational,
    Laplace,
    Network,
    Variational,
)
from leadline.ratios._ratio import Ratio, fit, ratio_network, relative_ratio
from leadline.ratios._scikit import Scikit, boosting, forest

__all__ = [
    "GENERATORS",
    "KLIEP",
    "MLP",
    "SGHMC",
    "Best",
    "Calibrated",
    "Classifier",
    "Divergence",
    "Dropout",
    "Ensemble",
    "Expansion",
    "FittedClassifier",
    "FittedKernelDensity",
    "FittedMLP",
    "FittedVariational",
    "GaussianProcess",
    "Generator",
    "KernelDensity",
    "Laplace",
    "Network",
    "Ratio",
    "RuLSIF",
    "Scikit",
    "SignedExpansion",
    "State",
    "Variational",
    "as_classifier",
    "boosting",
    "classifier_settings",
    "divergence",
    "fit",
    "forest",
    "kernel_mean_matching",
    "ratio_network",
    "relative_ratio",
    "uLSIF",
]
