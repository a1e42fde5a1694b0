"""How the best value came down (or up), call by call."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from leadline.plots._colors import BLUE, GRAY, VERMILION

# Positive values that differ by more than this factor are told apart on a log scale only.
_WIDE = 1e2


def draw_convergence(axes: Axes, optimum: Any) -> None:
    """The value of each call as a dot, the best so far as a line, failures as crosses on the edge.

    Calls have the numbers of their trials. Data that nobody asked for are hollow dots.
    """
    told = [trial for trial in optimum.trials if trial.value is not None]
    failed = [trial.id for trial in optimum.trials if trial.failed]
    for asked, label, face in ((True, "value", GRAY), (False, "given", "none")):
        group = [trial for trial in told if trial.asked == asked]
        if group:
            axes.plot(
                [trial.id for trial in group],
                [trial.value for trial in group],
                "o",
                color=GRAY,
                markerfacecolor=face,
                markersize=4.5,
                label=label,
            )
    if told:
        values = np.array([t.value for t in told])
        best = optimum.sign * np.maximum.accumulate(optimum.sign * values)
        # The line goes on to the last call, whatever became of that.
        calls = [*(t.id for t in told), len(optimum.trials) - 1]
        axes.step(calls, [*best, best[-1]], where="post", color=BLUE, label="best so far")
        if values.min() > 0.0 and values.max() > _WIDE * values.min():
            axes.set_yscale("log")
    else:
        axes.set_yticks([])
    if failed:
        # On the edge where bad values are; neither data nor limits can hide them there.
        axes.plot(
            failed,
            np.full(len(failed), 1.0 if optimum.sign < 0 else 0.0),
            "x",
            color=VERMILION,
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            label="failed",
        )
    axes.set(xlabel="call", ylabel="value", xlim=(-0.7, max(len(optimum.trials), 2) - 0.3))
    axes.set_title("Convergence", loc="left", pad=9)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if told or failed:
        axes.legend(loc="best", fontsize="small", frameon=False)
