"""The picture of the answer to `minimize` and `maximize`."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.axes import Axes

from leadline.plots._candidates import draw_candidates, name_of_answer
from leadline.plots._convergence import draw_convergence
from leadline.plots._picture import Picture
from leadline.plots._slices import draw_slice, find_slices
from leadline.spaces import Pool

_MOST = 6
# A model needs two values to say anything.
_LEAST_DATA = 2
# Width and height of a panel in inches.
_WIDE, _HIGH = 3.3, 2.8


def picture_of_optimum(optimum: Any) -> Picture:
    """Convergence, and slices of the model through the best point for up to six parameters.

    If there are more, they are those that move the model's mean the most. Of a pool it shows what
    is believed of the candidates instead: between them there is nothing to slice. Without two
    values there is no model, and without an allowed one no best point: then the picture shows the
    convergence alone.

    Args:
        optimum: an answer with `trials`, `space`, `sign`, `x`, `best`, `recommended` and
            `predict`.
    """
    values = sum(trial.value is not None for trial in optimum.trials)
    known = values >= _LEAST_DATA and optimum.x is not None
    space = optimum.space
    slices = find_slices(optimum, _MOST) if known and not isinstance(space, Pool) else []
    pool = known and isinstance(space, Pool) and space.at_hand
    picture = Picture(layout="constrained")
    first, others = _panels(picture, 1 if pool else len(slices))
    scores = [trial.value if trial.allowed else math.nan for trial in optimum.trials]
    draw_convergence(first, optimum.trials, scores, optimum.sign)
    if pool:
        draw_candidates(others[0], optimum)
    else:
        name = name_of_answer(optimum)
        for axes, slice_ in zip(others, slices, strict=True):
            draw_slice(axes, slice_, optimum.recommended.value, name)
    for axes in picture.axes:
        axes.spines[["top", "right"]].set_visible(False)
    if slices:
        shown, there = len(slices), optimum.space.dim
        several = "" if shown == there else f" ({shown} of {there} parameters)"
        others[0].set_title(f"Model through the {name} point{several}", loc="left", pad=9)
        others[0].legend(loc="best", fontsize="small", frameon=False)
    return picture


def _panels(picture: Picture, slices: int) -> tuple[Axes, list[Axes]]:
    """A panel for the convergence, beside one or two slices or above more."""
    beside = slices <= 2
    columns = 1 + slices if beside else math.ceil(slices / math.ceil(slices / 3))
    rows = 1 if beside else 1 + math.ceil(slices / columns)
    picture.set_size_inches(max(columns * _WIDE, 5.0), rows * _HIGH)
    grid = picture.add_gridspec(rows, columns)
    first = picture.add_subplot(grid[0, 0] if beside else grid[0, :])
    others: list[Axes] = []
    for k in range(slices):
        row, column = (0, 1 + k) if beside else (1 + k // columns, k % columns)
        # What moves the model little should look so: one scale for all slices.
        shared = others[0] if others else None
        others.append(picture.add_subplot(grid[row, column], sharey=shared))
        if column > beside:
            others[-1].tick_params(labelleft=False)
        else:
            others[-1].set_ylabel("value")
    return first, others
