"""Slices of the model through the best point: one parameter moves, the others stay.

Parameters that do not exist at the best point have no slice. Those that come into existence as
another one moves are at their middle, and points that the constraint forbids are left out.

Notation: `m` places along a slice.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from leadline.plots._colors import BLUE, SKY, VERMILION
from leadline.spaces import Choice, Integer, Ordinal, Parameter, Real, Space

# Half the width of the band that holds 95 % of a normal.
_BAND = 1.96
_PLACES = 100
# So many numbers are still points; more are a line.
_POINTS = 24
# A log scale over less than this factor has labels between the powers of ten.
_DECADES = 200.0
# More labels than this do not fit under a panel, nor do longer ones. With more letters than fit in
# a row they are turned, and if they are many, upright.
_LABELS, _LETTERS = 12, 14
_LETTERS_IN_A_ROW, _STEEP = 24, 6


class Slice(NamedTuple):
    """What the model believes as one parameter moves through its range.

    Attributes:
        name: of the parameter.
        parameter: which moves.
        places: where on the axis; the value of a number, the index of an option.
        mean, std: what is believed there; NaN where points are forbidden.
        best: the place of the best point.
    """

    name: str
    parameter: Parameter
    places: Float[np.ndarray, " m"]
    mean: Float[np.ndarray, " m"]
    std: Float[np.ndarray, " m"]
    best: float


def find_slices(optimum: Any, most: int) -> list[Slice]:
    """Slices through the best point: of the parameters that move the model's mean the most."""
    space, point = optimum.space, optimum.space.as_dict(optimum.x)
    names = [name for name in space.names if name in point]
    parameters = [space.parameters[name] for name in names]
    best = [p.state(point[name]) for name, p in zip(names, parameters, strict=True)]
    places = [_places(p, state) for p, state in zip(parameters, best, strict=True)]
    # One call of the model, because a new number of rows may be a new program.
    rows = np.concatenate(
        [_rows_along(space, optimum.x, name, at) for name, at in zip(names, places, strict=True)]
    )
    belief, allowed = optimum.predict(space.decode(rows)), space.allowed(rows)
    ends = np.cumsum([len(at) for at in places])[:-1]
    means = np.split(np.where(allowed, belief.mean, np.nan), ends)
    stds = np.split(np.where(allowed, belief.std, np.nan), ends)
    slices = [Slice(*s) for s in zip(names, parameters, places, means, stds, best, strict=True)]
    order = sorted(range(len(slices)), key=lambda k: -_movement(slices[k]))
    return [slices[k] for k in sorted(order[:most])]


def _places(parameter: Parameter, best: float) -> np.ndarray:
    """States along a parameter: all of them if they are few; `best` is among them."""
    if isinstance(parameter, Choice | Ordinal) or parameter.size <= _POINTS:
        return parameter.nth(np.arange(parameter.size, dtype=np.float64))
    return np.unique([best, *parameter.nearest(np.linspace(0.0, 1.0, _PLACES)[:, None])])


def _movement(slice_: Slice) -> float:
    """How far the mean moves; not at all if the constraint forbids every place."""
    known = slice_.mean[np.isfinite(slice_.mean)]
    return float(np.ptp(known)) if known.size else 0.0


def _rows_along(space: Space, point: Any, name: str, places: np.ndarray) -> np.ndarray:
    """The rows of a point in which one parameter has other states."""
    parameters = space.parameters
    j = space.names.index(name)
    start = sum(p.columns for p in list(parameters.values())[:j])
    rows = np.repeat(space.encode([point]), len(places), axis=0)
    rows[:, start : start + parameters[name].columns] = parameters[name].encode(places)
    return space.snap(rows)


def draw_slice(axes: Axes, slice_: Slice, value: float, name: str) -> None:
    """The mean and its 95 % band, or error bars where there is nothing between two places.

    Args:
        axes: where to draw.
        slice_: what to draw.
        value: of the function at the point that the slice goes through.
        name: of that point.
    """
    parameter, places = slice_.parameter, slice_.places
    half = _BAND * slice_.std
    if isinstance(parameter, Real | Integer) and parameter.size > _POINTS:
        low, high = slice_.mean - half, slice_.mean + half
        axes.fill_between(places, low, high, color=SKY, alpha=0.35, linewidth=0, label="95 %")
        axes.plot(places, slice_.mean, color=BLUE, label="mean")
        axes.set_xlim(places[0], places[-1])
    else:
        axes.errorbar(
            places,
            slice_.mean,
            half,
            fmt="o",
            color=BLUE,
            ecolor=SKY,
            elinewidth=2.5,
            markersize=4.5,
            label="mean, 95 %",
        )
        axes.margins(x=0.1)
    if isinstance(parameter, Integer):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if isinstance(parameter, Real | Integer) and parameter.log:
        _scale_by_logarithm(axes, parameter)
    if isinstance(parameter, Choice | Ordinal):
        _label_options(axes, parameter, places)
    axes.plot(
        slice_.best,
        value,
        "*",
        color=VERMILION,
        markersize=11,
        markeredgecolor="white",
        zorder=5,
        clip_on=False,
        label=name,
    )
    axes.set_xlabel(slice_.name)


def _scale_by_logarithm(axes: Axes, parameter: Real | Integer) -> None:
    axes.set_xscale("log")
    if parameter.high < _DECADES * parameter.low:
        # Powers of ten would be one or two labels, and matplotlib's own between them overlap.
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())


def _label_options(axes: Axes, parameter: Parameter, places: np.ndarray) -> None:
    shown = places[:: math.ceil(len(places) / _LABELS)]
    labels = [str(value) for value in parameter.decode(shown)]
    labels = [text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…" for text in labels]
    axes.set_xticks(shown, labels)
    if sum(map(len, labels)) > _LETTERS_IN_A_ROW:
        steep = len(labels) > _STEEP
        axes.tick_params("x", rotation=90 if steep else 30, labelsize="small")
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("center" if steep else "right")
