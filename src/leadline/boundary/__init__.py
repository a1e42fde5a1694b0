"""Between a person and the mathematics: errors, checks of what is given, display, progress."""

from leadline.boundary._abilities import Able, inherited_ability
from leadline.boundary._display import shorten, show
from leadline.boundary._draws import as_count, as_key
from leadline.boundary._errors import InvalidData, NotPositiveDefinite, Unsupported
from leadline.boundary._frames import KnowsColumns, column_names, in_order
from leadline.boundary._homes import home_of
from leadline.boundary._inputs import (
    as_bounds,
    as_choice,
    as_inputs,
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
from leadline.boundary._sizes import (
    LARGEST_VARIANCE,
    SMALLEST,
    SMALLEST_VARIANCE,
    require_size,
    require_spread,
)

__all__ = [
    "LARGEST_VARIANCE",
    "SMALLEST",
    "SMALLEST_VARIANCE",
    "Able",
    "InvalidData",
    "KnowsColumns",
    "NotPositiveDefinite",
    "Silence",
    "Unsupported",
    "as_bounds",
    "as_choice",
    "as_count",
    "as_inputs",
    "as_key",
    "as_labels",
    "as_rows",
    "as_seed",
    "as_targets",
    "as_variances",
    "as_weights",
    "column_names",
    "did_you_mean",
    "home_of",
    "in_order",
    "inherited_ability",
    "is_traced",
    "open_progress",
    "require_size",
    "require_spread",
    "shorten",
    "show",
]
