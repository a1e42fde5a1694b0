"""Where something is highest, whatever it is: over a space, or over a finite pool."""

from leadline.search._acquisition import Acquisition, single_points
from leadline.search._maximize import maximize
from leadline.search._maximum import Maximum, is_among
from leadline.search._parzen import Parzen, parzen
from leadline.search._pool import maximize_pool
from leadline.search._proportional import proportional_starts
from leadline.search._unseen import unseen

__all__ = [
    "Acquisition",
    "Maximum",
    "Parzen",
    "is_among",
    "maximize",
    "maximize_pool",
    "parzen",
    "proportional_starts",
    "single_points",
    "unseen",
]
