"""Function draws: a prior in one basis, data in another, and functions that can be evaluated."""

from leadline.paths._boundary import BoxModes, RegionModes
from leadline.paths._choice import choose_features, feature_error
from leadline.paths._circulant import Circulant
from leadline.paths._combined import (
    CoregionalFeatures,
    JoinedFeatures,
    LinearFeatures,
    ScaledFeatures,
    prior_features,
)
from leadline.paths._draws import FunctionDraws, Inferred, Information, Observed, prior_draws
from leadline.paths._features import FeatureKernel, Features
from leadline.paths._filon import filon_integral, filon_kernel
from leadline.paths._finite_elements import FiniteElements
from leadline.paths._finite_set import FiniteSet
from leadline.paths._fourier import (
    FourierFeatures,
    OrthogonalFeatures,
    PhaseShiftedFeatures,
    Waves,
)
from leadline.paths._grid import RegularGrid
from leadline.paths._karhunen_loeve import BrownianMotion, KarhunenLoeve
from leadline.paths._mixture import MixtureDraws, allot, slots_of
from leadline.paths._nystrom import Nystrom
from leadline.paths._outputs import StackedDraws, stack_outputs
from leadline.paths._paths import Paths, ScalarPaths
from leadline.paths._quadrature_features import GaussHermite, GaussLegendre, Simpson
from leadline.paths._updates import (
    exact_update,
    gaussian_update,
    inducing_draws,
    inferred_draws,
    iterative_update,
    matheron,
    observed_draws,
    pseudo_data_update,
    sparse_update,
    weight_space_update,
)

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
    "FunctionDraws",
    "GaussHermite",
    "GaussLegendre",
    "Inferred",
    "Information",
    "JoinedFeatures",
    "KarhunenLoeve",
    "LinearFeatures",
    "MixtureDraws",
    "Nystrom",
    "Observed",
    "OrthogonalFeatures",
    "Paths",
    "PhaseShiftedFeatures",
    "RegionModes",
    "RegularGrid",
    "ScalarPaths",
    "ScaledFeatures",
    "Simpson",
    "StackedDraws",
    "Waves",
    "allot",
    "choose_features",
    "exact_update",
    "feature_error",
    "filon_integral",
    "filon_kernel",
    "gaussian_update",
    "inducing_draws",
    "inferred_draws",
    "iterative_update",
    "matheron",
    "observed_draws",
    "prior_draws",
    "prior_features",
    "pseudo_data_update",
    "slots_of",
    "sparse_update",
    "stack_outputs",
    "weight_space_update",
]
