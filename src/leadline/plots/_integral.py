"""The picture of the answer to `integrate`."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from leadline.plots._picture import Picture

# Width and height of a panel in inches.
_WIDE, _HIGH = 4.2, 3.0
# Standard deviations of a band.
_BAND = 1.96
_ALONG, _EACH_WAY = 257, 65


def picture_of_integral(integral: Any) -> Picture:
    """The integral after each call, and the integrand as it is believed in one or two dimensions.

    Args:
        integral: an answer with `history`, `trials`, `measure`, `bounds`, and `predict`.
    """
    d = integral.measure.dim
    panels = 2 if d <= 2 else 1
    picture = Picture(layout="constrained")
    picture.set_size_inches(max(panels * _WIDE, 5.0), _HIGH)
    grid = picture.add_gridspec(1, panels)
    _draw_history(picture.add_subplot(grid[0, 0]), integral)
    if panels > 1:
        draw = _draw_line if d == 1 else _draw_plane
        draw(picture.add_subplot(grid[0, 1]), integral)
    for axes in picture.axes:
        axes.spines[["top", "right"]].set_visible(False)
    return picture


def _draw_history(axes: Axes, integral: Any) -> None:
    calls, mean, std = np.array(integral.history).T
    axes.fill_between(calls, mean - _BAND * std, mean + _BAND * std, alpha=0.25, lw=0)
    axes.plot(calls, mean, marker=".")
    # The first estimates may be off by orders of magnitude; the last ones are what matters.
    late = slice(len(calls) // 2, None)
    low, high = (mean - _BAND * std)[late].min(), (mean + _BAND * std)[late].max()
    margin = 0.5 * (high - low)
    if margin > 0.0:
        axes.set_ylim(low - margin, high + margin)
    axes.set_xlabel("calls")
    axes.set_title("Integral, and its 95 % interval", loc="left")


def _told(integral: Any) -> np.ndarray:
    """The points that have a value."""
    return np.array([trial.x for trial in integral.trials if trial.value is not None])


def _draw_line(axes: Axes, integral: Any) -> None:
    (low,), (high,) = integral.bounds
    x = np.linspace(low, high, _ALONG)
    f = integral.predict(x[:, None])
    mean, std = np.asarray(f.mean), np.asarray(f.std)
    axes.fill_between(x, mean - _BAND * std, mean + _BAND * std, alpha=0.25, lw=0)
    axes.plot(x, mean)
    points = _told(integral)
    axes.plot(points[:, 0], np.asarray(integral.predict(points).mean), "k.", label="calls")
    axes.set_xlabel("x0")
    axes.set_title("What is believed of the integrand", loc="left")
    axes.legend(frameon=False, fontsize="small")


def _draw_plane(axes: Axes, integral: Any) -> None:
    low, high = integral.bounds
    first, second = (np.linspace(low[i], high[i], _EACH_WAY) for i in range(2))
    points = np.stack([each.ravel() for each in np.meshgrid(first, second)], axis=1)
    mean = np.asarray(integral.predict(points).mean).reshape(_EACH_WAY, _EACH_WAY)
    filled = axes.contourf(first, second, mean, levels=12, cmap="viridis")
    axes.figure.colorbar(filled, ax=axes)
    told = _told(integral)
    axes.plot(told[:, 0], told[:, 1], "w.", markeredgecolor="k", markeredgewidth=0.4)
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_xlabel("x0")
    axes.set_ylabel("x1")
    axes.set_title("What is believed of the integrand", loc="left")
