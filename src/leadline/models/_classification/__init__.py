"""Binary classification with a Gaussian process."""

from leadline.models._classification._laplace import LaplaceClassifier, LaplacePosterior
from leadline.models._classification._logistic_normal import averaged_log_odds

__all__ = [
    "LaplaceClassifier",
    "LaplacePosterior",
    "averaged_log_odds",
]
