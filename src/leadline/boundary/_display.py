"""How parameter values are shown: `0.5`, `[0.5, 2]`, or the shape if they are many or traced."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from leadline.boundary._inputs import is_traced

_MOST = 12
_LONGEST = 60


def show(value: Any) -> str:
    """A short text for a parameter, an array, or anything else with a `repr`."""
    if isinstance(value, jax.Array | np.ndarray):
        if is_traced(value) or value.size > _MOST:
            return f"f64[{', '.join(map(str, value.shape))}]"
        return _nested(np.asarray(value).tolist())
    if isinstance(value, tuple):
        return "(" + ", ".join(map(show, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def shorten(value: Any) -> str:
    """The `repr` of what somebody gave, cut to fit into an error."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _nested(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_nested, value)) + "]"
    return f"{value:.4g}"
