"""How the best value came down (or up), call by call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from leadline.plots._colors import BLUE, GRAY, VERMILION

# Positive values that differ by more than this factor are told apart on a log scale only.
_WIDE = 1e2


def draw_convergence(
    axes: Axes, trials: Sequence[Any], scores: Sequence[float], sign: float
) -> None:
    """The value of each call as a dot, the best so far as a line, failures as crosses on the edge.

    Calls have the numbers of their trials. Data that nobody asked for are hollow dots. Calls that
    have no score were not allowed; they are gray crosses, and the best so far is of the others.

    Args:
        axes: where to draw.
        trials: of a campaign, with values that are numbers.
        scores: of the trials; NaN if there is none.
        sign: whether larger scores are better (1) or smaller ones (-1).
    """
    told = [trial for trial in trials if trial.value is not None]
    scored = np.isfinite(scores)
    allowed = [trial for trial, good in zip(trials, scored, strict=True) if good]
    refused = [trial for trial, good in zip(trials, scored, strict=True) if not good]
    failed = [trial.id for trial in trials if trial.failed]
    _draw_values(axes, [t for t in allowed if t.asked], "value", "o")
    _draw_values(axes, [t for t in allowed if not t.asked], "given", "o", markerfacecolor="none")
    _draw_values(axes, [t for t in refused if t.value is not None], "not allowed", "x")
    if allowed:
        best = sign * np.maximum.accumulate(sign * np.asarray(scores)[scored])
        # The line goes on to the last call, whatever became of that.
        calls = [*(t.id for t in allowed), len(trials) - 1]
        axes.step(calls, [*best, best[-1]], where="post", color=BLUE, label="best so far")
    if told:
        values = np.array([t.value for t in told])
        if values.min() > 0.0 and values.max() > _WIDE * values.min():
            axes.set_yscale("log")
    else:
        axes.set_yticks([])
    if failed:
        # On the edge where bad values are; neither data nor limits can hide them there.
        axes.plot(
            failed,
            np.full(len(failed), 1.0 if sign < 0 else 0.0),
            "x",
            color=VERMILION,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            label="failed",
        )
    axes.set(xlabel="call", ylabel="value", xlim=(-0.7, max(len(trials), 2) - 0.3))
    axes.set_title("Convergence", loc="left", pad=9)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if told or failed:
        axes.legend(loc="best", fontsize="small", frameon=False)


def _draw_values(axes: Axes, trials: list[Any], label: str, marker: str, **style: Any) -> None:
    """The values of some calls; no entry in the legend if there are none."""
    if trials:
        calls, values = [t.id for t in trials], [t.value for t in trials]
        axes.plot(calls, values, marker, color=GRAY, markersize=4.5, label=label, **style)
