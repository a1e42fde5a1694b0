"""Leadline: answers about functions that are expensive to call."""

import jax as _jax

_jax.config.update("jax_enable_x64", True)

from leadline import acquisition, diagnostics, dynamics, kernels, means, measures, paths  # noqa: E402
from leadline.models import GP, MultiGP  # noqa: E402
from leadline.numerics import (  # noqa: E402
    InvalidData,
    NotPositiveDefinite,
    Unsupported,
    enable_compilation_cache,
    fixed,
)
from leadline.questions import Maximize, Minimize, methods  # noqa: E402
from leadline.spaces import Choice, Integer, Ordinal, Real, Space  # noqa: E402

enable_compilation_cache()

__all__ = [
    "GP",
    "Choice",
    "Integer",
    "InvalidData",
    "Maximize",
    "Minimize",
    "MultiGP",
    "NotPositiveDefinite",
    "Ordinal",
    "Real",
    "Space",
    "Unsupported",
    "acquisition",
    "diagnostics",
    "dynamics",
    "fixed",
    "kernels",
    "means",
    "measures",
    "methods",
    "paths",
]
