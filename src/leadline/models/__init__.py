"""Beliefs about functions."""

from leadline.models._affine_update import AffineUpdate
from leadline.models._classification import LaplaceClassifier, LaplacePosterior, averaged_log_odds
from leadline.models._exact import GP, ExactPosterior
from leadline.models._expansion import Expansion, KernelExpansion
from leadline.models._mixture import MixturePosterior, NormalMixture, mixture
from leadline.models._multi import MultiGP, MultiPosterior
from leadline.models._normal import MultivariateNormal, Normal
from leadline.models._part import PartPosterior
from leadline.models._posterior import Posterior
from leadline.models._priors import Priors, as_priors
from leadline.models._rows import Data, Observations
from leadline.models._titsias import Titsias, TitsiasPosterior

__all__ = [
    "GP",
    "AffineUpdate",
    "Data",
    "ExactPosterior",
    "Expansion",
    "KernelExpansion",
    "LaplaceClassifier",
    "LaplacePosterior",
    "MixturePosterior",
    "MultiGP",
    "MultiPosterior",
    "MultivariateNormal",
    "Normal",
    "NormalMixture",
    "Observations",
    "PartPosterior",
    "Posterior",
    "Priors",
    "Titsias",
    "TitsiasPosterior",
    "as_priors",
    "averaged_log_odds",
    "mixture",
]
