"""Leadline: answers about functions that are expensive to call."""

import jax as _jax

_jax.config.update("jax_enable_x64", True)

from leadline import diagnostics, dynamics, kernels, means, measures, paths  # noqa: E402
from leadline.models import GP, MultiGP  # noqa: E402
from leadline.numerics import (  # noqa: E402
    InvalidData,
    NotPositiveDefinite,
    Unsupported,
    enable_compilation_cache,
    fixed,
)

enable_compilation_cache()

__all__ = [
    "GP",
    "InvalidData",
    "MultiGP",
    "NotPositiveDefinite",
    "Unsupported",
    "diagnostics",
    "dynamics",
    "fixed",
    "kernels",
    "means",
    "measures",
    "paths",
]
