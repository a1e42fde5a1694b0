"""Search spaces: what may be asked of a function, and how a point becomes a row of floats."""

from leadline.spaces._numbers import Integer, Real
from leadline.spaces._options import Choice, Ordinal
from leadline.spaces._parameter import Parameter
from leadline.spaces._space import Space, as_space

__all__ = ["Choice", "Integer", "Ordinal", "Parameter", "Real", "Space", "as_space"]
