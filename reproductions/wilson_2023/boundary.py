"""Figure 3.7 of Wilson (2023): draws of a Matern process that vanish on a boundary, given data.

Two domains: a rectangle, whose eigenfunctions of the Laplacian are sines, and a band in the shape
of the infinity sign, whose eigenfunctions are computed on a grid. The columns are a prior draw, its
update by the data, their sum (a draw of the posterior), and the posterior's mean and standard
deviation. The thesis gives no numbers for this figure (order, length scale, eigenfunctions and data
are unknown). What is compared is its claim: draws keep the boundary condition and meet the data.

Run it as `python -m reproductions.wilson_2023.boundary [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jax
import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.paths import BoxModes, RegionModes, RegularGrid, exact_update, prior_draws
from reproductions._script import claim, options

KERNEL = ll.kernels.Matern52(lengthscale=0.2)
DRAWS = 32
HALF_WIDTH = 0.2  # of the band


class Domain(NamedTuple):
    """A domain with its prior and data.

    `depth` says how far inside the domain points are (negative outside); `boundary` holds the
    points where draws have to be zero; `frame` is (left, right, bottom, top) of the picture.
    """

    name: str
    features: BoxModes | RegionModes
    x: np.ndarray
    y: np.ndarray
    boundary: np.ndarray
    depth: Callable[[np.ndarray], np.ndarray]
    frame: tuple[float, float, float, float]


def rectangle(modes: int) -> Domain:
    """[0, 2] x [0, 1], with sines; the boundary is its four sides."""
    corner, t = np.array([2.0, 1.0]), np.linspace(0.0, 1.0, 101)
    sides = ([2 * t, 0 * t], [2 * t, 0 * t + 1], [0 * t, t], [0 * t + 2, t])
    return Domain(
        name="rectangle",
        features=BoxModes(KERNEL, [(0.0, 2.0), (0.0, 1.0)], modes),
        x=np.array([[0.3, 0.65], [0.55, 0.25], [0.95, 0.6], [1.2, 0.2], [1.45, 0.7], [1.75, 0.4]]),
        y=np.array([1.5, -1.3, 1.2, 1.4, -1.6, 1.1]),
        boundary=np.concatenate([np.stack(side, axis=1) for side in sides]),
        depth=lambda points: np.minimum(points, corner - points).min(axis=1),
        frame=(-0.03, 2.03, -0.03, 1.03),
    )


def infinity(modes: int, spacing: float) -> Domain:
    """A band around the infinity sign, as a masked grid; all nodes outside are boundary."""
    margin = 1.15 * HALF_WIDTH
    frame = (-1.0 - margin, 1.0 + margin, -0.48 - margin, 0.48 + margin)
    grid = RegularGrid.covering([frame[:2], frame[2:]], spacing)
    mask = depth_in_band(grid.points()) > 0
    return Domain(
        name="infinity sign",
        features=RegionModes(KERNEL, grid, mask.reshape(grid.shape), modes),
        x=lemniscate(24)[[1, 4, 8, 11, 14, 18, 20, 22]],
        y=np.array([1.4, -1.2, 1.3, -1.5, 1.1, 0.3, -1.3, 1.2]),
        boundary=grid.points()[~mask],
        depth=depth_in_band,
        frame=frame,
    )


def lemniscate(n: int) -> np.ndarray:
    """Points on the infinity sign (Bernoulli's, stretched to be taller)."""
    t = np.linspace(0.0, 2 * np.pi, n, endpoint=False)
    curve = np.stack([np.cos(t), 1.35 * np.sin(t) * np.cos(t)], axis=1)
    return curve / (1 + np.sin(t) ** 2)[:, None]


def depth_in_band(points: np.ndarray) -> np.ndarray:
    """How far inside the band around the infinity sign points are."""
    nearest = np.full(points.shape[0], np.inf)
    for center in lemniscate(600):
        nearest = np.minimum(nearest, np.hypot(*(points - center).T))
    return HALF_WIDTH - nearest


def pixels(domain: Domain, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates of the columns and rows of the picture."""
    left, right, bottom, top = domain.frame
    height = round(width * (top - bottom) / (right - left))
    return np.linspace(left, right, width), np.linspace(bottom, top, height)


def compute(domain: Domain, key: jax.Array, width: int) -> dict[str, np.ndarray]:
    """The panels of one row; prints how well the claims hold."""
    kernel = domain.features.kernel()
    prior = prior_draws(kernel, key, DRAWS, features=domain.features)
    posterior = exact_update(prior, domain.x, domain.y)
    free = exact_update(
        prior_draws(KERNEL, key, DRAWS, features=domain.features), domain.x, domain.y
    )
    edge = len(domain.boundary)
    checked = np.concatenate([domain.boundary, domain.x])
    before, after, broken = (np.asarray(draws(checked)) for draws in (prior, posterior, free))
    on_boundary = max(float(np.abs(values[:, :edge]).max()) for values in (before, after))
    residual = float(np.abs(after[:, edge:] - domain.y).max())
    where = f"{DRAWS} draws on the {domain.name}"
    claim(
        "every draw is zero on the boundary, before data and after",
        f"largest value {on_boundary:.1e} ({where})",
        on_boundary < 1e-10,
    )
    claim(
        "draws of the posterior pass through the data",
        f"largest residual {residual:.1e} ({where})",
        residual < 1e-6,
    )
    print(
        "control: updates with the kernel of free space break the condition, the largest value on "
        f"the boundary is {float(np.abs(broken[:, :edge]).max()):.2f} ({where})",
        flush=True,
    )
    columns, rows = pixels(domain, width)
    x = np.stack([a.ravel() for a in np.meshgrid(columns, rows)], axis=1)
    first, given = (np.asarray(draws[:1](x))[0] for draws in (prior, posterior))
    predicted = ll.GP(kernel, noise=0.0).condition(domain.x, domain.y).predict(x)
    panels = {
        "prior draw": first,
        "update": given - first,
        "posterior draw": given,
        "mean": np.asarray(predicted.mean),
        "standard deviation": np.asarray(predicted.std),
        "depth": domain.depth(x),
    }
    return {name: a.reshape(rows.size, columns.size) for name, a in panels.items()}


SIGNED = ("prior draw", "update", "posterior draw", "mean")
DEVIATION = "standard deviation"


def picture(domains: list[Domain], panels: list[dict[str, np.ndarray]], path: Path) -> None:
    """All panels. The signed ones share a scale of colors."""
    largest = max(float(np.abs(p[name]).max()) for p in panels for name in SIGNED)
    spread = max(float(p[DEVIATION].max()) for p in panels)
    heights = [p["depth"].shape[0] / p["depth"].shape[1] for p in panels]
    figure, axes = plt.subplots(
        len(domains),
        len(SIGNED) + 1,
        figsize=(15.0, 2.9 * sum(heights) + 0.9),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    for row, domain, panel in zip(axes, domains, panels, strict=True):
        for ax, name in zip(row, (*SIGNED, DEVIATION), strict=True):
            low, high = (0.0, spread) if name == DEVIATION else (-largest, largest)
            image = ax.imshow(
                np.ma.masked_array(panel[name], panel["depth"] < 0),
                extent=domain.frame,
                origin="lower",
                cmap="viridis" if name == DEVIATION else "RdBu_r",
                vmin=low,
                vmax=high,
            )
            columns, rows = pixels(domain, panel["depth"].shape[1])
            ax.contour(columns, rows, panel["depth"], levels=[0.0], colors="black", linewidths=1.4)
            if name != "prior draw":
                ax.scatter(*domain.x.T, s=18, c="white", edgecolors="black", linewidths=0.9)
            ax.set_axis_off()
            if name == "mean":
                shown = image
    for ax, name in zip(axes[0], (*SIGNED, DEVIATION), strict=True):
        ax.set_title(name)
    below = {"orientation": "horizontal", "pad": 0.02}
    figure.colorbar(shown, ax=axes[:, :-1], aspect=70, shrink=0.6, **below)
    figure.colorbar(image, ax=axes[:, -1], aspect=20, shrink=0.9, **below)
    figure.savefig(path, dpi=130, bbox_inches="tight", pad_inches=0.08)
    plt.close(figure)


def main() -> None:
    """Print the claims and draw the figure."""
    given = options(__doc__, quick="fewer eigenfunctions, coarser grid")
    if given.quick:
        domains, width = [rectangle(150), infinity(100, spacing=0.05)], 120
    else:
        domains, width = [rectangle(800), infinity(400, spacing=0.02)], 400
    panels = [compute(domain, jax.random.key(i), width) for i, domain in enumerate(domains)]
    picture(domains, panels, given.output / "boundary.png")


if __name__ == "__main__":
    main()
