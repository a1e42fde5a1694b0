"""Processes with several correlated outputs."""

from leadline.models._multi._multi import MultiGP, MultiPosterior

__all__ = [
    "MultiGP",
    "MultiPosterior",
]
