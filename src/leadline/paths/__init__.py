"""Function draws: a prior in one basis, data in another, and functions that can be evaluated."""

from leadline.paths._combined import (
    CoregionalFeatures,
    JoinedFeatures,
    LinearFeatures,
    ScaledFeatures,
    prior_features,
)
from leadline.paths._draws import FunctionDraws, prior_draws
from leadline.paths._features import FeatureKernel, Features
from leadline.paths._fourier import (
    FourierFeatures,
    OrthogonalFeatures,
    PhaseShiftedFeatures,
    Waves,
)
from leadline.paths._mixture import MixtureDraws, allot, slots_of
from leadline.paths._outputs import StackedDraws, stack_outputs
from leadline.paths._paths import Paths, ScalarPaths
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
    "CoregionalFeatures",
    "FeatureKernel",
    "Features",
    "FourierFeatures",
    "FunctionDraws",
    "JoinedFeatures",
    "LinearFeatures",
    "MixtureDraws",
    "OrthogonalFeatures",
    "Paths",
    "PhaseShiftedFeatures",
    "ScalarPaths",
    "ScaledFeatures",
    "StackedDraws",
    "Waves",
    "allot",
    "exact_update",
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
