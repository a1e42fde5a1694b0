"""The priors that one can draw from: random weights of features, one file for each family."""

from leadline.paths._features._boundary import BoxModes, RegionModes
from leadline.paths._features._choice import choose_features, feature_error
from leadline.paths._features._circulant import Circulant
from leadline.paths._features._combined import (
    CoregionalFeatures,
    JoinedFeatures,
    LinearFeatures,
    ScaledFeatures,
    prior_features,
)
from leadline.paths._features._features import FeatureKernel, Features, as_features
from leadline.paths._features._filon import filon_kernel
from leadline.paths._features._finite_elements import FiniteElements
from leadline.paths._features._finite_set import FiniteSet
from leadline.paths._features._fourier import (
    FourierFeatures,
    OrthogonalFeatures,
    PhaseShiftedFeatures,
    Waves,
)
from leadline.paths._features._grid import RegularGrid
from leadline.paths._features._karhunen_loeve import BrownianMotion, KarhunenLoeve
from leadline.paths._features._nystrom import Nystrom
from leadline.paths._features._quadrature import GaussHermite, GaussLegendre, Simpson

__all__ = [
    "BoxModes",
    "BrownianMotion",
    "Circulant",
    "CoregionalFeatures",
    "FeatureKernel",
    "Features",
    "FiniteElements",
    "FiniteSet",
    "FourierFeatures",
    "GaussHermite",
    "GaussLegendre",
    "JoinedFeatures",
    "KarhunenLoeve",
    "LinearFeatures",
    "Nystrom",
    "OrthogonalFeatures",
    "PhaseShiftedFeatures",
    "RegionModes",
    "RegularGrid",
    "ScaledFeatures",
    "Simpson",
    "Waves",
    "as_features",
    "choose_features",
    "feature_error",
    "filon_kernel",
    "prior_features",
]
