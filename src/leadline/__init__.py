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
        boundary,
        campaign,
        decisions,
        diagnostics,
        dynamics,
        implicit,
        journal,
        kernels,
        means,
        measures,
        models,
        paths,
        quadrature,
        questions,
        ratios,
        search,
        spaces,
    )
    from leadline.boundary import InvalidData, NotPositiveDefinite, Unsupported
    from leadline.campaign import integrate, load, maximize, minimize
    from leadline.decisions import decide, elicit_probability, elicit_utility
    from leadline.models import GP, MultiGP
    from leadline.numerics import fixed
    from leadline.questions import Integrate, Maximize, Minimize, methods
    from leadline.spaces import Choice, Integer, Ordinal, Pool, Real, Space

    __version__: str

_ROOMS = (
    "acquisition",
    "boundary",
    "campaign",
    "decisions",
    "diagnostics",
    "dynamics",
    "implicit",
    "integrations",
    "journal",
    "kernels",
    "means",
    "measures",
    "models",
    "numerics",
    "paths",
    "plots",
    "quadrature",
    "questions",
    "ratios",
    "search",
    "spaces",
)
_NAMES = {
    "boundary": ("InvalidData", "NotPositiveDefinite", "Unsupported"),
    "campaign": ("integrate", "load", "maximize", "minimize"),
    "decisions": ("decide", "elicit_probability", "elicit_utility"),
    "models": ("GP", "MultiGP"),
    "numerics": ("fixed",),
    "questions": ("Integrate", "Maximize", "Minimize", "methods"),
    "spaces": ("Choice", "Integer", "Ordinal", "Pool", "Real", "Space"),
}
_ROOM_OF = {name: room for room, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> _typing.Any:
    if name in _ROOMS:
        return _importlib.import_module(f"leadline.{name}")
    if name == "__version__":
        return _importlib.import_module("importlib.metadata").version("leadline")
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
    "Integrate",
    "InvalidData",
    "Maximize",
    "Minimize",
    "MultiGP",
    "NotPositiveDefinite",
    "Ordinal",
    "Pool",
    "Real",
    "Space",
    "Unsupported",
    "acquisition",
    "boundary",
    "campaign",
    "decide",
    "decisions",
    "diagnostics",
    "dynamics",
    "elicit_probability",
    "elicit_utility",
    "fixed",
    "implicit",
    "integrate",
    "journal",
    "kernels",
    "load",
    "maximize",
    "means",
    "measures",
    "methods",
    "minimize",
    "models",
    "paths",
    "quadrature",
    "questions",
    "ratios",
    "search",
    "spaces",
]
