"""Networks as classifiers: how they are trained, and laws of their class probabilities."""

from leadline.ratios._networks._dropout import Dropout
from leadline.ratios._networks._laplace import Laplace
from leadline.ratios._networks._mlp import MLP, FittedMLP
from leadline.ratios._networks._network import Network
from leadline.ratios._networks._sghmc import SGHMC
from leadline.ratios._networks._variational import FittedVariational, Variational

__all__ = [
    "MLP",
    "SGHMC",
    "Dropout",
    "FittedMLP",
    "FittedVariational",
    "Laplace",
    "Network",
    "Variational",
]
