"""Search spaces: what may be asked of a function, and how a point becomes a row of floats."""

from leadline.spaces._numbers import Integer, Real
from leadline.spaces._options import Choice, Ordinal
from leadline.spaces._parameter import Parameter
from leadline.spaces._pool import Pool
from leadline.spaces._reading import as_space, space_from_description
from leadline.spaces._space import Space
from leadline.spaces._widening import is_wider

__all__ = [
    "Choice",
    "Integer",
    "Ordinal",
    "Parameter",
    "Pool",
    "Real",
    "Space",
    "as_space",
    "is_wider",
    "space_from_description",
]
