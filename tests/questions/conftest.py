"""Places for journals."""

from tests.places import database, place

__all__ = ["database", "place"]
