"""Where people find a class: the nearest module above it that is not private."""

from __future__ import annotations


def home_of(kind: type) -> str:
    """The name of that module; it need not show the class."""
    path = kind.__module__.split(".")
    private = (i for i, part in enumerate(path) if part.startswith("_") and part != "__main__")
    return ".".join(path[: next(private, len(path))])
