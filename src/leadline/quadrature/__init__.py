"""Integrals of functions that Gaussian processes model, and what a next call says about them."""

from leadline.quadrature._exponential import Exponential
from leadline.quadrature._information import Information
from leadline.quadrature._integrand import Coupling, Integrand
from leadline.quadrature._plain import Plain
from leadline.quadrature._square_root import SquareRoot, square_roots

__all__ = [
    "Coupling",
    "Exponential",
    "Information",
    "Integrand",
    "Plain",
    "SquareRoot",
    "square_roots",
]
