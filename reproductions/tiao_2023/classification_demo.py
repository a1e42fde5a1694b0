"""Figures 5.1, 5.3 and 5.4 of Tiao (2023): calls become labels, and labels say where to call.

- Figure 5.1: 27 noisy values of sin(3x) + x^2 - 0.7x, the lowest third of them, the densities of
  good calls and of others, and the probability that a call is good, exactly and by a network.
- Figure 5.3: four random calls of Forrester's function, then six where a network finds good ones
  most probable, with a quarter of the calls good.
- Figure 5.4: labels of pure noise. Each new value changes at most one of those before it.

The thesis says neither the domain of the first function nor the network's learning rate; here x is
uniform in [-1, 2]. Its 100 steps are for a network that goes on from the last one. Here every
network begins anew and has 1000, with a small penalty, without which probabilities would be 0 and 1
only. What fewer steps give is printed.

Run it as `python -m reproductions.tiao_2023.classification_demo [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import jax
import matplotlib as mpl
import numpy as np

from reproductions._script import claim, options

mpl.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.colors import ListedColormap

import leadline as ll
from leadline.questions.minimize.methods._labels import labels

GOOD, OTHER = "#d62728", "#1f77b4"
ROWS, NOISE, GAMMA = 27, 0.2, 1.0 / 3.0
LOWEST_AT = -0.359396
DOMAIN = (-1.0, 2.0)
STEPS, FEWER = 1000, (100, 300)
FORRESTER_NOISE, FORRESTER_GAMMA, FIRST, MORE = 0.05, 0.25, 4, 6
FORRESTER_LOWEST_AT, FORRESTER_LOWEST = 0.757249, -6.020740


def curve(x: np.ndarray) -> np.ndarray:
    """The function of figure 5.1; lowest, -0.500360, at -0.359396."""
    return np.sin(3.0 * x) + x**2 - 0.7 * x


def forrester(x: Any) -> Any:
    """Forrester's function of [0, 1]; lowest, -6.020740, at 0.757249."""
    return (6.0 * x - 2.0) ** 2 * np.sin(12.0 * x - 4.0)


def log_odds(
    x: np.ndarray,
    z: np.ndarray,
    at: np.ndarray,
    domain: tuple[float, float],
    seed: int,
    steps: int = STEPS,
) -> np.ndarray:
    """The log odds of label 1 by four networks, which see the domain as [-1, 1]."""
    low, high = domain
    rows, places = (2.0 * (v - low) / (high - low) - 1.0 for v in (x, at))
    network = ll.ratios.MLP(members=4, steps=steps, decay=1e-3)
    fitted = network.fit(rows[:, None], z, key=jax.random.key(seed))
    return np.asarray(fitted.logits(places[:, None]))


class Labeled(NamedTuple):
    """Calls, their values and labels; the log odds of label 1 on a grid."""

    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    grid: np.ndarray
    log_odds: np.ndarray

    @property
    def probability(self) -> np.ndarray:
        """The probability of label 1 on the grid."""
        return 1.0 / (1.0 + np.exp(-self.log_odds))


def figure_51(seed: int, steps: int = STEPS) -> Labeled:
    """The calls of figure 5.1 and what a network learns from their labels."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(*DOMAIN, ROWS)
    y = curve(x) + NOISE * rng.normal(size=ROWS)
    z = labels(-y, GAMMA)
    grid = np.linspace(*DOMAIN, 601)
    return Labeled(x, y, z, grid, log_odds(x, z, grid, DOMAIN, seed, steps))


def distance(found: Labeled) -> float:
    """How far the highest log odds are from the minimum."""
    return abs(float(found.grid[np.argmax(found.log_odds)]) - LOWEST_AT)


def correlation(found: Labeled) -> float:
    """Of the network's probability with the exact one, over the domain."""
    exact = true_probability(found.grid, float(np.quantile(found.y, GAMMA)))
    return float(np.corrcoef(exact, found.probability)[0, 1])


def true_probability(grid: np.ndarray, threshold: float) -> np.ndarray:
    """The probability that a noisy value is at most the threshold."""
    from scipy.special import ndtr

    return ndtr((threshold - curve(grid)) / NOISE)


def forrester_rounds(seed: int) -> list[Labeled]:
    """Each round's calls and probability; the last has no call after it."""
    rng = np.random.default_rng(seed)
    noise = FORRESTER_NOISE * rng.normal(size=FIRST + MORE)
    x = rng.uniform(size=FIRST)
    grid, rounds = np.linspace(0.0, 1.0, 501), []
    for n in range(FIRST, FIRST + MORE + 1):
        y = forrester(x) + noise[:n]
        z = labels(-y, FORRESTER_GAMMA)
        said = log_odds(x, z, grid, (0.0, 1.0), seed)
        rounds.append(Labeled(x, y, z, grid, said))
        # Points beside earlier calls teach little.
        new = np.min(np.abs(grid[:, None] - x), axis=1) > 5e-3
        x = np.append(x, grid[np.argmax(np.where(new, said, -np.inf))])
    return rounds


def flips(y: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels after each value (n, n), NaN before a value is there; how many changed each time."""
    n = len(y)
    history, changed = np.full((n, n), np.nan), np.zeros(n, int)
    for m in range(2, n + 1):
        history[m - 1, :m] = labels(-y[:m], gamma)
        if m > 2:
            changed[m - 1] = np.sum(history[m - 1, : m - 1] != history[m - 2, : m - 1])
    return history, changed


def scatter(axis: Any, found: Labeled) -> None:
    """Calls in the colors of their labels."""
    for label, color, name in ((1, GOOD, "good"), (0, OTHER, "other")):
        chosen = found.z == label
        axis.plot(found.x[chosen], found.y[chosen], "o", color=color, ms=5, label=name)


def picture_51(found: Labeled, path: Path) -> None:
    """Values and threshold, densities of good calls and others, and the probability."""
    figure, axes = plt.subplots(
        3, 1, figsize=(7, 8), sharex=True, layout="constrained", height_ratios=(2, 1, 1)
    )
    top, middle, bottom = axes
    threshold = 0.5 * (found.y[found.z == 1].max() + found.y[found.z == 0].min())
    top.plot(found.grid, curve(found.grid), color="black", lw=1)
    scatter(top, found)
    top.axhline(threshold, color="black", ls="--", lw=0.9, label="threshold")
    top.set(title="27 values, the lowest third is good", ylabel="y")
    top.legend(frameon=False)
    exact = true_probability(found.grid, threshold)
    share = exact.mean()
    width = DOMAIN[1] - DOMAIN[0]
    middle.plot(found.grid, exact / share / width, color=GOOD, label="density of good calls")
    others = (1.0 - exact) / (1.0 - share) / width
    middle.plot(found.grid, others, color=OTHER, label="density of others")
    for label, color, height in ((1, GOOD, -0.04), (0, OTHER, -0.09)):
        chosen = found.x[found.z == label]
        middle.plot(chosen, np.full(len(chosen), height), "|", color=color, ms=7)
    middle.set(ylim=(-0.15, 1.0))
    middle.legend(frameon=False, loc="upper center", ncols=2)
    bottom.plot(found.grid, exact, color="black", label="exact: the ratio times its share")
    bottom.plot(found.grid, found.probability, color=GOOD, label="network")
    bottom.axvline(LOWEST_AT, color="black", ls=":", lw=0.9)
    bottom.set(
        title="Probability that a call is good; dotted: the minimum", xlabel="x", ylim=(0, 1.3)
    )
    bottom.legend(frameon=False, loc="upper center", ncols=2)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def picture_forrester(rounds: list[Labeled], path: Path) -> None:
    """A column for each round: the values above, the probability and the next call below."""
    columns = rounds[:-1]
    figure, axes = plt.subplots(
        2, len(columns), figsize=(15, 4.6), sharex=True, sharey="row", layout="constrained"
    )
    for i, (found, above, below) in enumerate(zip(columns, *axes, strict=True)):
        above.plot(found.grid, forrester(found.grid), color="black", lw=0.9)
        scatter(above, found)
        after = rounds[i + 1].x[-1]
        below.plot(found.grid, found.probability, color=GOOD)
        below.axvline(after, color="black", ls="--", lw=0.9)
        above.set(title=f"{len(found.x)} calls")
        below.set(ylim=(-0.03, 1.03), xlabel="x")
    axes[0, 0].set_ylabel("y")
    axes[1, 0].set_ylabel("probability that it is good")
    figure.suptitle("Forrester's function; the dashed line is the next call")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def picture_flips(y: np.ndarray, history: np.ndarray, changed: np.ndarray, path: Path) -> None:
    """Values in order, and a row of labels for each number of them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
    last = history[-1] == 1
    n = np.arange(len(y))
    left.plot(n[~last], y[~last], "o", color=OTHER, ms=5)
    left.plot(n[last], y[last], "o", color=GOOD, ms=5)
    left.set(title="Pure noise, a quarter is good", xlabel="value", ylabel="y")
    colors = ListedColormap([OTHER, GOOD])
    size = len(y)
    right.imshow(
        history,
        cmap=colors,
        aspect="auto",
        interpolation="nearest",
        alpha=0.75,
        extent=(-0.5, size - 0.5, size + 0.5, 0.5),
    )
    for m in np.flatnonzero(changed):
        places = np.flatnonzero(history[m, :m] != history[m - 1, :m])
        right.plot(places, np.full(len(places), m + 1), "o", color="black", ms=3.5)
    right.set(
        title="Labels after each value; dots: changed ones", xlabel="value", ylabel="values so far"
    )
    figure.savefig(path, dpi=120)
    plt.close(figure)


def claims_on_labels(runs: int, length: int) -> None:
    """How many labels change with each value, for several parts of good calls."""
    most = {}
    for gamma in (0.1, 0.25, 1.0 / 3.0, 0.5):
        noise = [np.random.default_rng(seed).normal(size=length) for seed in range(runs)]
        most[gamma] = max(int(flips(y, gamma)[1].max()) for y in noise)
    claim(
        "a new value changes at most one label of those before it",
        f"in {runs} runs of {length} values of pure noise at most "
        + ", ".join(f"{count} (a part of {gamma:.2g})" for gamma, count in most.items()),
        max(most.values()) <= 1,
    )


def main() -> None:
    """Print the claims and draw the figures."""
    given = options(__doc__)
    seeds = 3 if given.quick else 20
    shown = [figure_51(seed) for seed in range(seeds)]
    for steps in (*FEWER, STEPS):
        runs = shown if steps == STEPS else [figure_51(seed, steps) for seed in range(seeds)]
        print(
            f"{steps:5} steps: median distance {np.median([distance(r) for r in runs]):.2f}, "
            f"median correlation {np.median([correlation(r) for r in runs]):.3f}"
        )
    far, alike = np.array([(distance(r), correlation(r)) for r in shown]).T
    claim(
        "the probability that a call is good is highest near the minimum (figure 5.1)",
        f"of {seeds} samples its highest place is within 0.3 of the minimum in "
        f"{np.mean(far < 0.3):.0%}, median distance {np.median(far):.2f} of a domain of length 3",
        "yes" if np.all(far < 0.3) else "partly" if np.mean(far < 0.3) > 0.5 else "no",
    )
    claim(
        "a classifier finds the probability of improvement without a model of values",
        f"the correlation with the exact probability over the domain is {np.median(alike):.3f} in "
        f"the median and at least {alike.min():.3f}",
        "yes" if alike.min() > 0.8 else "partly" if np.median(alike) > 0.8 else "no",
    )
    rounds = [forrester_rounds(seed) for seed in range(seeds)]
    regrets = np.array([forrester(run[-1].x).min() - FORRESTER_LOWEST for run in rounds])
    near = regrets < 0.5
    claim(
        "six calls after four random ones find the minimum of Forrester's function (figure 5.3)",
        f"the median regret of {seeds} seeds is {np.median(regrets):.2g}, and below 0.5 in "
        f"{near.mean():.0%}; the largest is {regrets.max():.2g}",
        "yes" if near.all() else "partly" if near.any() else "no",
    )
    claims_on_labels(2 if given.quick else 20, 40 if given.quick else 100)
    picture_51(shown[0], given.output / "classification_demo.png")
    # A run that shows how it works.
    chosen = rounds[int(np.argmin(np.abs(regrets - np.median(regrets))))]
    picture_forrester(chosen, given.output / "classification_demo_forrester.png")
    y = np.random.default_rng(0).normal(size=40)
    picture_flips(y, *flips(y, 0.25), given.output / "classification_demo_labels.png")


if __name__ == "__main__":
    main()
