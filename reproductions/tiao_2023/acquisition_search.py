"""Figure 5.10 of Tiao (2023): how the highest log odds are looked for, and what becomes of it.

Architectures: on the table of 15 625 points (`bench/tabular.py`), log odds of boosted trees are
searched at random and by differential evolution, with 50, 100, 200 and 500 evaluations. The thesis
finds random search slightly better, evolution gaining from evaluations, and random search losing.
It has forests too; here they take part only where XGBoost is missing. With 50 evaluations there are
not enough generations, and Leadline's evolution is a random search too.

Branin: the thesis climbs the log odds along gradients from a few random starts. A network rises
without end towards some corner, so calls pile up on the walls of the box and beside one another.
Leadline's search "gradient" begins at the best of many points, some of them beside the best calls.
Leadline's search "nearby" compares draws around the best calls only.

There are 10 calls that fill the space, and 60 or 100 calls in all.

Run it as `python -m reproductions.tiao_2023.acquisition_search [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np

import leadline as ll
from reproductions._script import claim, options
from reproductions.tiao_2023._contests import (
    GAMMA,
    Problem,
    Results,
    as_in_the_thesis,
    branin,
    compare,
    has_boosting,
    tabular,
)

INITIAL = 10
BUDGETS = (50, 100, 200, 500)
WALL = CLOSE = 1e-3
# Where Branin's function is lowest, in the unit square.
MINIMA = np.array([[0.1239, 0.8183], [0.5428, 0.1517], [0.9617, 0.1650]])


def branin_methods() -> dict[str, ll.methods.BORE]:
    """Searches of a network as in the thesis, and of Leadline's four networks."""
    one = {"classifier": ll.ratios.MLP(), "gamma": GAMMA}
    return {
        "gradient, one network": _bore("gradient", **one),
        "random, one network": _bore("random", **one),
        "nearby, one network": _bore("nearby", **one),
        "gradient": _bore("gradient"),
        "evolution": _bore("evolution"),
        "random": _bore("random"),
        "nearby": _bore("nearby"),
    }


def _bore(search: str, **settings) -> ll.methods.BORE:
    return ll.methods.BORE(search=search, candidates=500, epsilon=0.0, initial=INITIAL, **settings)


class Calls(NamedTuple):
    """The calls of one method after its design, with all seeds.

    Attributes:
        x: points (seeds, calls, 2).
        wall: the part of them on the boundary.
        close: the part that is close to an earlier call.
        regret: of the best call of each seed.
    """

    x: np.ndarray
    wall: float
    close: float
    regret: np.ndarray


def calls_of(problem: Problem, method: ll.methods.BORE, budget: int, seeds: int) -> Calls:
    """Run a method with each seed."""
    places, wall, close, regret = [], [], [], []
    for seed in range(seeds):
        found = ll.minimize(
            problem.function,
            problem.space,
            budget=budget,
            method=method,
            seed=seed,
            progress=False,
        )
        x = np.array([trial.x for trial in found.trials])
        regret.append(min(trial.value for trial in found.trials) - problem.lowest)
        for n in range(INITIAL, budget):
            wall.append(np.min([x[n], 1.0 - x[n]]) < WALL)
            close.append(np.min(np.linalg.norm(x[:n] - x[n], axis=1)) < CLOSE)
        places.append(x[INITIAL:])
    return Calls(np.array(places), float(np.mean(wall)), float(np.mean(close)), np.array(regret))


def claims_on_table(results: Results) -> None:
    """Random search against evolution, and what evaluations are worth."""
    at = {s: [results.anytime(f"{s}, {b}") for b in BUDGETS] for s in ("random", "evolution")}
    ahead = [r < e for r, e in zip(at["random"][1:], at["evolution"][1:], strict=True)]
    claim(
        "random search is slightly better than differential evolution",
        f"average regret for {', '.join(map(str, BUDGETS))} evaluations: "
        + "; ".join(f"{s} {', '.join(f'{v:.3g}' for v in values)}" for s, values in at.items()),
        "yes"
        if all(ahead)
        else f"partly, for {sum(ahead)} of {len(ahead)}"
        if any(ahead)
        else "no",
    )
    for search, word in (("evolution", "gains"), ("random", "loses")):
        few, many = (_averages(results, f"{search}, {b}") for b in (BUDGETS[0], BUDGETS[-1]))
        gain, error = float((few - many).mean()), _error(few - many)
        right = (gain > 0) == (word == "gains")
        unsure = "" if abs(gain) > 2 * error else ", not beyond two standard errors"
        claim(
            f"{search} {word} with more evaluations",
            f"500 instead of 50 lower the average regret by {gain:+.3g} +- {error:.2g}",
            ("partly" if unsure else "yes" if right else "no") + unsure,
        )


def _averages(results: Results, name: str) -> np.ndarray:
    """The regret on average over calls, of each seed."""
    return results.regrets[name][:, INITIAL:].mean(axis=1)


def _error(of_seeds: np.ndarray) -> float:
    return float(of_seeds.std(ddof=1) / np.sqrt(len(of_seeds)))


def claims_on_branin(found: dict[str, Calls]) -> None:
    """What climbing does, and what draws do instead."""
    climbed, drawn = found["gradient, one network"], found["random, one network"]
    claim(
        "the log odds of a network are searched along gradients from random starts (its setting)",
        f"{climbed.wall:.0%} of calls on the walls and {climbed.close:.0%} beside an earlier call, "
        f"median regret {np.median(climbed.regret):.2g}; with 500 random points {drawn.wall:.0%}, "
        f"{drawn.close:.0%} and {np.median(drawn.regret):.2g}",
        "no, random points are better"
        if np.median(drawn.regret) < np.median(climbed.regret)
        else "yes",
    )
    best = min(found, key=lambda name: np.median(found[name].regret))
    near = found["nearby"]
    claim(
        "(not in the thesis) draws around the best calls are a better search",
        f"nearby: {near.wall:.0%} of calls on the walls, {near.close:.0%} beside an earlier call, "
        f"median regret {np.median(near.regret):.2g}; the lowest is that of {best}, "
        f"{np.median(found[best].regret):.2g}",
        "yes" if best.startswith("nearby") else "partly, another is lower",
    )


def picture(path, results: Results, found: dict[str, Calls]) -> None:
    """Regret on the table by evaluations, and where the calls on Branin's function are."""
    shown = ("gradient, one network", "gradient", "random", "nearby")
    figure, axes = plt.subplots(1, 1 + len(shown), figsize=(17, 3.8), layout="constrained")
    for search, color in (("random", "#7f7f7f"), ("evolution", "#8c564b")):
        names = [f"{search}, {b}" for b in BUDGETS]
        errors = [_error(_averages(results, name)) for name in names]
        middle = [results.anytime(name) for name in names]
        axes[0].errorbar(BUDGETS, middle, errors, color=color, marker="o", label=search, capsize=3)
    axes[0].set(
        xscale="log",
        xticks=BUDGETS,
        xlabel="evaluations",
        ylabel="average regret",
        title="architecture table",
    )
    axes[0].set_xticklabels(map(str, BUDGETS))
    axes[0].minorticks_off()
    axes[0].legend(frameon=False)
    for axis, name in zip(axes[1:], shown, strict=True):
        x = found[name].x.reshape(-1, 2)
        axis.plot(x[:, 0], x[:, 1], "o", ms=3, alpha=0.35, color="#d62728", mew=0, clip_on=False)
        axis.plot(*MINIMA.T, "+", color="black", ms=9)
        axis.set(title=name, xlim=(0, 1), ylim=(0, 1), xticks=(), yticks=(), aspect="equal")
    figure.suptitle(
        "Right: calls of Branin's function by search of the log odds, all seeds; crosses: minima"
    )
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Run all, compare, and draw."""
    given = options(__doc__)
    seeds, on_table, on_branin = (2, 13, 16) if given.quick else (8, 100, 60)
    trees = "boosting" if has_boosting() else "forest"
    contestants = {
        f"{search}, {budget}": as_in_the_thesis(trees, search, budget, INITIAL)
        for search in ("random", "evolution")
        for budget in BUDGETS
    }
    results = compare(tabular("architecture"), contestants, on_table, INITIAL, seeds)
    problem = branin()
    found = {
        name: calls_of(problem, method, on_branin, seeds)
        for name, method in branin_methods().items()
    }
    print(f"\nBranin, {on_branin} calls, {seeds} seeds; parts of calls after the design")
    print(f"  {'search':24}{'on a wall':>10}{'beside a call':>15}{'median regret':>15}{'worst':>9}")
    for name, calls in found.items():
        middle, worst = np.median(calls.regret), calls.regret.max()
        print(f"  {name:24}{calls.wall:10.0%}{calls.close:15.0%}{middle:15.3g}{worst:9.3g}")
    print()
    claims_on_table(results)
    claims_on_branin(found)
    picture(given.output / "acquisition_search.png", results, found)


if __name__ == "__main__":
    main()
