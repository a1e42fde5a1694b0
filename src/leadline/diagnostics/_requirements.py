"""What the diagnostics of function draws ask of a posterior."""

from __future__ import annotations

from typing import Any

from leadline.boundary import InvalidData, Unsupported
from leadline.paths import Features


def require_update(posterior: Any, features: Features | None = None) -> None:
    """Raise unless the posterior has an affine update, of inputs that the features take."""
    if not hasattr(posterior, "affine_update"):
        raise Unsupported(
            f"Moments of draws are known for exact and Titsias posteriors, not for "
            f"{type(posterior).__name__}."
        )
    if features is not None and features.dim != posterior.query_columns:
        raise InvalidData(
            f"The features are of {features.dim} input columns, the posterior of "
            f"{posterior.query_columns}."
        )
