"""Probability measures: what an average is taken over, and what an unknown input may be."""

from leadline.measures._beta import Beta
from leadline.measures._dirichlet import Dirichlet
from leadline.measures._gaussian import Gaussian
from leadline.measures._lognormal import LogNormal
from leadline.measures._measure import Measure
from leadline.measures._mixture import GaussianMixture
from leadline.measures._product import Product
from leadline.measures._uniform import Uniform

__all__ = [
    "Beta",
    "Dirichlet",
    "Gaussian",
    "GaussianMixture",
    "LogNormal",
    "Measure",
    "Product",
    "Uniform",
]
