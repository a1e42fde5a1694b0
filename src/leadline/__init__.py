"""Leadline: answers about functions that are expensive to call.

What a program does not use is not loaded: names are looked up in the table below when they are
first wanted.
"""

import importlib as _importlib
import typing as _typing

import jax as _jax

_jax.config.update("jax_enable_x64", True)

if _typing.TYPE_CHECKING:
    from leadline import (
        acquisition,
        campaign,
        diagnostics,
        dynamics,
        implicit,
        kernels,
        means,
        measures,
        paths,
        questions,
        ratios,
        spaces,
    )
    from leadline.acquisition import decide, elicit_probability, elicit_utility
    from leadline.campaign import maximize, minimize
    from leadline.models import GP, MultiGP
    from leadline.numerics import InvalidData, NotPositiveDefinite, Unsupported, fixed
    from leadline.questions import Maximize, Minimize, methods
    from leadline.spaces import Choice, Integer, Ordinal, Real, Space

_ROOMS = (
    "acquisition",
    "campaign",
    "diagnostics",
    "dynamics",
    "implicit",
    "integrations",
    "kernels",
    "means",
    "measures",
    "models",
    "numerics",
    "paths",
    "plots",
    "questions",
    "ratios",
    "spaces",
)
_NAMES = {
    "acquisition": ("decide", "elicit_probability", "elicit_utility"),
    "campaign": ("maximize", "minimize"),
    "models": ("GP", "MultiGP"),
    "numerics": ("InvalidData", "NotPositiveDefinite", "Unsupported", "fixed"),
    "questions": ("Maximize", "Minimize", "methods"),
    "spaces": ("Choice", "Integer", "Ordinal", "Real", "Space"),
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> _typing.Any:
    if name in _ROOMS:
        return _importlib.import_module(f"leadline.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'leadline' has no attribute {name!r}")
    found = getattr(_importlib.import_module(f"leadline.{_ROOM_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_ROOMS, *_ROOM_OF})


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
