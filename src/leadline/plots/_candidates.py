"""What is believed of the candidates of a pool, the most promising first."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from leadline.plots._colors import BLUE, GRAY, SKY, VERMILION

# Half the width of the band that holds 95 % of a normal.
_BAND = 1.96
# Of more candidates only some are drawn, at random.
_MOST = 400


def name_of_answer(optimum: Any) -> str:
    """What the answer is called: the best call, or another one where calls are noisy."""
    return "best" if optimum.recommended is optimum.best else "recommended"


def draw_candidates(axes: Axes, optimum: Any) -> None:
    """The mean and its 95 % band for each candidate, in the order of the means.

    Calls are dots where their candidates are, and the answer is a star.
    """
    pool, called = optimum.space, [t for t in optimum.trials if t.value is not None]
    own = pool.encode([trial.x for trial in called])
    others = pool.left(own)
    room = max(0, _MOST - len(own))
    if len(others) > room:
        others = others[np.random.default_rng(0).choice(len(others), room, replace=False)]
    belief = optimum.predict(pool.decode(np.concatenate([own, others])))
    mean, half = np.asarray(belief.mean), _BAND * np.asarray(belief.std)
    order = np.argsort(-optimum.sign * mean, kind="stable")
    place = np.empty(len(order))
    place[order] = np.arange(1, len(order) + 1)
    x, middle, wide = np.arange(1, len(order) + 1), mean[order], half[order]
    axes.fill_between(
        x, middle - wide, middle + wide, color=SKY, alpha=0.35, linewidth=0, label="95 %"
    )
    axes.plot(x, middle, color=BLUE, label="mean")
    values = [trial.value for trial in called]
    axes.plot(place[: len(own)], values, "o", color=GRAY, markersize=4.5, label="value")
    if optimum.recommended is not None:
        at = [trial.id for trial in called].index(optimum.recommended.id)
        axes.plot(
            place[at],
            values[at],
            "*",
            color=VERMILION,
            markersize=11,
            markeredgecolor="white",
            zorder=5,
            clip_on=False,
            label=name_of_answer(optimum),
        )
    shown = f" ({len(order)} of {pool.count})" if len(order) < pool.count else ""
    axes.set(xlabel=f"candidate, best first{shown}", ylabel="value", xlim=(0.5, len(order) + 0.5))
    axes.set_title("Model of the candidates", loc="left", pad=9)
    axes.legend(loc="best", fontsize="small", frameon=False)
