"""The errors that Leadline raises on purpose."""

from __future__ import annotations


class Unsupported(TypeError, AttributeError):
    """An ability was asked of an object that does not have it.

    It is a `TypeError` for people and an `AttributeError` for `hasattr`, so that code can ask
    `hasattr(kernel, "frequencies")` before it relies on an ability.
    """


class NotPositiveDefinite(ArithmeticError):
    """A covariance matrix could not be factorized, even with the largest allowed jitter."""


class InvalidData(ValueError):
    """Data at the boundary that no model can use: what was given, and what is wanted."""
