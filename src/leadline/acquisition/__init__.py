"""What a next call is worth, and where it is worth most."""

from leadline.acquisition._acquisition import Acquisition
from leadline.acquisition._expected_improvement import ExpectedImprovement, LogExpectedImprovement
from leadline.acquisition._maximize import Maximum, is_among, maximize

__all__ = [
    "Acquisition",
    "ExpectedImprovement",
    "LogExpectedImprovement",
    "Maximum",
    "is_among",
    "maximize",
]
