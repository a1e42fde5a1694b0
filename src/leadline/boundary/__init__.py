"""Between a person and the mathematics: errors, checks of what is given, display, progress."""

from leadline.boundary._abilities import Able, inherited_ability
from leadline.boundary._display import shorten, show
from leadline.boundary._errors import InvalidData, NotPositiveDefinite, Unsupported
from leadline.boundary._homes import home_of
from leadline.boundary._inputs import (
    as_bounds,
    as_choice,
    as_labels,
    as_rows,
    as_seed,
    as_targets,
    as_variances,
    as_weights,
    did_you_mean,
    is_traced,
)
from leadline.boundary._progress import Silence, open_progress

__all__ = [
    "Able",
    "InvalidData",
    "NotPositiveDefinite",
    "Silence",
    "Unsupported",
    "as_bounds",
    "as_choice",
    "as_labels",
    "as_rows",
    "as_seed",
    "as_targets",
    "as_variances",
    "as_weights",
    "did_you_mean",
    "home_of",
    "inherited_ability",
    "is_traced",
    "open_progress",
    "shorten",
    "show",
]
