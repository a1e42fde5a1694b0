"""Leadline: answers about functions that are expensive to call."""

import importlib as _importlib
import typing as _typing

import jax as _jax

_jax.config.update("jax_enable_x64", True)

from leadline import (  # noqa: E402
    acquisition,
    campaign,
    kernels,
    means,
    measures,
    paths,
    questions,
    spaces,
)
from leadline.acquisition import decide, elicit_probability, elicit_utility  # noqa: E402
from leadline.campaign import maximize, minimize  # noqa: E402
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

if _typing.TYPE_CHECKING:
    from leadline import diagnostics, dynamics, implicit, ratios

enable_compilation_cache()

# Rooms that few programs enter are imported when they are.
_LATER = ("diagnostics", "dynamics", "implicit", "ratios")


def __getattr__(name: str) -> _typing.Any:
    if name in _LATER:
        return _importlib.import_module(f"leadline.{name}")
    raise AttributeError(f"module 'leadline' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


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
    "campaign",
    "decide",
    "diagnostics",
    "dynamics",
    "elicit_probability",
    "elicit_utility",
    "fixed",
    "implicit",
    "kernels",
    "maximize",
    "means",
    "measures",
    "methods",
    "minimize",
    "paths",
    "questions",
    "ratios",
    "spaces",
]
