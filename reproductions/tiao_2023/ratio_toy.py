"""Figures 2.1 and 2.2 of Tiao (2023): a density ratio by density estimates and by classifiers.

The numerator is 0.3 N(2, 1) + 0.7 N(-3, 1/4), the denominator N(0, 4); 1000 rows, a quarter of them
of the numerator. Two kernel density estimates with normal reference bandwidths are compared with
classifiers (a network, a random forest, boosted trees) and with estimates of the ratio itself.

Run it as `python -m reproductions.tiao_2023.ratio_toy [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from reproductions._script import claim, options

ROWS, SHARE = 1000, 0.25
GRID = np.linspace(-8.0, 8.0, 1601)
INSIDE = np.abs(GRID) <= 6.0


def boosting() -> Any:
    """XGBoost, as in the thesis; scikit-learn's boosted trees where it is not installed."""
    try:
        return ll.ratios.boosting()
    except ImportError:
        from sklearn.ensemble import HistGradientBoostingClassifier

        print("Boosting is scikit-learn's, with settings like XGBoost's defaults.")
        # A leaf of XGBoost has a curvature of at least 1, which four rows can have.
        return HistGradientBoostingClassifier(
            max_iter=100,
            learning_rate=0.3,
            max_depth=6,
            l2_regularization=1.0,
            min_samples_leaf=4,
            early_stopping=False,
        )


ESTIMATORS = {
    "KDE": ("kde", "#7f7f7f"),
    "MLP": ("mlp", "#d62728"),
    "forest": ("forest", "#2ca02c"),
    "boosting": (boosting(), "#ff7f0e"),
    "RuLSIF": (ll.ratios.RuLSIF(gamma=SHARE, nonnegative=False), "#1f77b4"),
    "KLIEP": ("kliep", "#9467bd"),
}


def normal(x: np.ndarray, mean: float, std: float) -> np.ndarray:
    """The density of a normal law."""
    return np.exp(-0.5 * ((x - mean) / std) ** 2) / (std * np.sqrt(2.0 * np.pi))


NUMERATOR = 0.3 * normal(GRID, 2.0, 1.0) + 0.7 * normal(GRID, -3.0, 0.5)
DENOMINATOR = normal(GRID, 0.0, 2.0)
MIXTURE = SHARE * NUMERATOR + (1.0 - SHARE) * DENOMINATOR
RELATIVE = NUMERATOR / MIXTURE


def sample(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the numerator and of the denominator."""
    rng = np.random.default_rng(seed)
    n = int(ROWS * SHARE)
    x = np.where(rng.uniform(size=n) < 0.3, rng.normal(2.0, 1.0, n), rng.normal(-3.0, 0.5, n))
    return x[:, None], rng.normal(0.0, 2.0, ROWS - n)[:, None]


def estimates(seed: int) -> dict[str, np.ndarray]:
    """The relative ratio on the grid by every estimator."""
    x, y = sample(seed)
    return {
        name: ll.ratios.fit(x, y, how, seed=seed).relative(GRID[:, None], SHARE)
        for name, (how, _) in ESTIMATORS.items()
    }


def mode(relative: np.ndarray) -> float:
    """Where a ratio is largest on [-6, 6]; the middle of the place, if trees make it level."""
    inside = np.where(INSIDE, relative, -np.inf)
    return float(GRID[inside == inside.max()].mean())


def squared_error(relative: np.ndarray) -> float:
    """The mean squared error of the relative ratio under the mixture."""
    return float(np.sum((relative - RELATIVE) ** 2 * MIXTURE) * (GRID[1] - GRID[0]))


def verdict(better: list[str]) -> str:
    """Which of three classifiers do better than density estimates."""
    if len(better) in (0, 3):
        return "yes" if better else "no"
    names = " and ".join(better)
    return f"partly, {names} against the others, whose trees follow single rows"


def picture(runs: list[dict[str, np.ndarray]], path: Path) -> None:
    """The densities, and a panel for each estimator: one run in full, the others faintly."""
    figure, axes = plt.subplots(2, 4, figsize=(14, 6), layout="constrained")
    first, *panels = axes.flat
    first.plot(GRID, NUMERATOR, color="black", label="numerator")
    first.plot(GRID, DENOMINATOR, color="black", ls="--", label="denominator")
    first.set(title="Densities", xlim=(-6.5, 6.5))
    x, y = sample(0)
    for rows, height in ((x, -0.03), (y, -0.06)):
        first.plot(rows[:, 0], np.full(len(rows), height), "|", color="black", ms=6, alpha=0.25)
    first.legend(frameon=False)
    for panel, (name, (_, color)) in zip(panels, ESTIMATORS.items(), strict=False):
        for run in runs[1:10]:
            panel.plot(GRID, run[name], color=color, lw=0.7, alpha=0.25)
        panel.plot(GRID, runs[0][name], color=color, lw=1.4)
        panel.plot(GRID, RELATIVE, color="black", lw=1.3, zorder=3)
        panel.axvline(mode(RELATIVE), color="black", lw=0.8, ls=":")
        panel.axvline(mode(runs[0][name]), color=color, lw=0.9, ls=":")
        panel.set(title=name, xlim=(-6.5, 6.5), ylim=(-0.1, 1.0 / SHARE + 0.1))
    last = panels[-1]
    names = list(ESTIMATORS)
    errors = [[squared_error(run[name]) for run in runs] for name in names]
    for at, (name, values) in enumerate(zip(names, errors, strict=True)):
        last.plot(np.full(len(values), at), values, "o", color=ESTIMATORS[name][1], ms=4, alpha=0.5)
        last.plot([at - 0.3, at + 0.3], [np.median(values)] * 2, color="black", lw=1.4)
    last.set(title="Squared errors, and medians", yscale="log", xticks=range(len(names)))
    last.set_xticklabels(names, rotation=35)
    figure.suptitle(
        "Relative ratio (a quarter numerator): truth in black, dotted lines at the modes"
    )
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Print the table and the claims, and draw the figure."""
    given = options(__doc__, quick="three seeds")
    runs = [estimates(seed) for seed in range(3 if given.quick else 20)]
    modes = {name: np.array([mode(run[name]) for run in runs]) for name in ESTIMATORS}
    errors = {name: np.array([squared_error(run[name]) for run in runs]) for name in ESTIMATORS}
    truth = mode(RELATIVE)
    print(f"{ROWS} rows, {len(runs)} seeds; the ratio is largest at {truth:.2f}")
    print(f"{'':10} {'mode':>7} {'sd':>6} {'within 0.6':>11} {'median squared error':>21}")
    for name in ESTIMATORS:
        near = np.mean(np.abs(modes[name] - truth) < 0.6)
        print(
            f"{name:10} {modes[name].mean():7.2f} {modes[name].std():6.2f} {near:11.0%} "
            f"{np.median(errors[name]):21.4f}"
        )
    kde = np.median(errors["KDE"])
    better = [name for name in ("MLP", "forest", "boosting") if np.median(errors[name]) < kde]
    claim(
        "class probabilities recover the ratio well, density estimates do not",
        "median squared errors: "
        + ", ".join(f"{name} {np.median(e):.3f}" for name, e in errors.items()),
        verdict(better),
    )
    claim(
        "the ratio of density estimates has its mode in the wrong place",
        f"at {modes['KDE'].mean():.2f} on average (sd {modes['KDE'].std():.2f}) instead of "
        f"{truth:.2f}; the network's is at {modes['MLP'].mean():.2f} (sd {modes['MLP'].std():.2f})",
        bool(modes["KDE"].mean() < truth - 0.3 and abs(modes["MLP"].mean() - truth) < 0.2),
    )
    claim(
        "RuLSIF, left to future work, is of particular interest",
        f"median squared error {np.median(errors['RuLSIF']):.3f} beside the network's "
        f"{np.median(errors['MLP']):.3f}, mode at {modes['RuLSIF'].mean():.2f}",
        bool(np.median(errors["RuLSIF"]) < kde),
    )
    picture(runs, given.output / "ratio_toy.png")


if __name__ == "__main__":
    main()
