"""Pictures of answers. They need matplotlib, so nothing imports this package before it is used."""

try:
    import matplotlib as _  # noqa: F401
except ImportError as error:
    raise ImportError("Pictures need matplotlib: pip install 'leadline[plots]'.") from error

from leadline.plots._integral import picture_of_integral
from leadline.plots._optimum import picture_of_optimum
from leadline.plots._picture import Picture

__all__ = ["Picture", "picture_of_integral", "picture_of_optimum"]
