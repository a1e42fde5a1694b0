"""Places for journals."""

from tests.places import database, place, postgresql

__all__ = ["database", "place", "postgresql"]
