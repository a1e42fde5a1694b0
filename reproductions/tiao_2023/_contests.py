"""Contests of optimizers: problems, contestants, regrets, and tables and pictures of them.

The problems of Tiao (2023, section 5.5) need tables of trained networks and other people's
simulators. What stands in for them are two tables (`bench.problems.tables`) and lap times
(`_racing`).

Regret is how far the best value so far is above the lowest value.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt
from bench.problems.functions import FUNCTIONS
from bench.problems.functions import LOWEST as LOWEST_OF_FUNCTIONS
from bench.problems.tables import table, train_networks

import leadline as ll
from reproductions.tiao_2023._baselines import differential_evolution, regularized_evolution
from reproductions.tiao_2023._racing import LOWEST, RacingLine

Contestant = Callable[["Problem", int, int], np.ndarray]
# The part of good calls in all experiments of Tiao (2023).
GAMMA = 1.0 / 3.0
COLORS = {
    "BORE-MLP": "#d62728",
    "BORE-forest": "#2ca02c",
    "BORE-boosting": "#ff7f0e",
    "BORE": "#8c1a1a",
    "LFBO": "#9467bd",
    "TPE": "#1f77b4",
    "GP": "#17becf",
    "regularized evolution": "#8c564b",
    "differential evolution": "#8c564b",
    "random": "#7f7f7f",
}


@dataclasses.dataclass(frozen=True)
class Problem:
    """A function of points of a space, and its lowest value.

    Attributes:
        name: for tables and pictures.
        space: where points are.
        function: of a point as the space gives it.
        lowest: value, or the lowest that is known.
        options: how many options each parameter of a table has; None if it is not one.
    """

    name: str
    space: ll.Space
    function: Callable[[Any], float]
    lowest: float
    options: tuple[int, ...] | None = None


def tabular(name: str) -> Problem:
    """A table, "architecture" or "network"; the second is made first, which takes minutes."""
    if name == "network":
        train_networks()
    values = table(name)
    sizes = values.values.shape
    parameters = {
        f"x{i}": ll.Integer(0, size - 1) if ordered else ll.Choice(*range(size))
        for i, (size, ordered) in enumerate(zip(sizes, values.ordered, strict=True))
    }
    return Problem(
        f"{name} table",
        ll.Space(**parameters),
        lambda point: values(tuple(point.values())),
        values.lowest,
        sizes,
    )


def racing(gates: int) -> Problem:
    """Lap times of lines through so many gates."""
    return Problem(
        f"racing line, {gates} inputs",
        ll.Space([(0.0, 1.0)] * gates),
        RacingLine(gates),
        LOWEST[gates],
    )


def branin() -> Problem:
    """Branin's function in the unit square."""
    function, lowest = FUNCTIONS["branin"][0], LOWEST_OF_FUNCTIONS["branin"]
    space = ll.Space([(0.0, 1.0)] * 2)
    return Problem("Branin", space, lambda x: float(function(np.asarray(x)[None])[0]), lowest)


def by(method: Callable[[], ll.methods.Method]) -> Contestant:
    """A method of Leadline as a contestant; it is made when it is used."""

    def contest(problem: Problem, budget: int, seed: int) -> np.ndarray:
        found = ll.minimize(
            problem.function,
            problem.space,
            budget=budget,
            method=method(),
            seed=seed,
            progress=False,
        )
        return np.array([trial.value for trial in found.trials])

    return contest


def with_defaults(initial: int) -> dict[str, Contestant]:
    """Leadline's methods as they are, after so many calls that fill the space."""
    names = ("BORE", "LFBO", "TPE", "GP")
    return {name: by(partial(getattr(ll.methods, name), initial=initial)) for name in names}


def evolve(problem: Problem, budget: int, seed: int) -> np.ndarray:
    """Regularized evolution on a table, differential evolution elsewhere."""
    rng = np.random.default_rng(seed)
    if problem.options is None:
        return differential_evolution(problem.function, problem.space.dim, budget, rng)
    names = problem.space.names
    return regularized_evolution(
        lambda point: problem.function(dict(zip(names, point, strict=True))),
        problem.options,
        budget,
        rng,
    )


def as_in_the_thesis(classifier: Any, search: str, candidates: int, initial: int) -> Contestant:
    """BORE with a third of good calls, no random calls, and a search all over the space.

    "mlp" is one network of two layers of 32 units, of which Leadline's default has four.
    """
    made = ll.ratios.MLP() if classifier == "mlp" else classifier
    return by(
        lambda: ll.methods.BORE(
            made,
            gamma=GAMMA,
            epsilon=0.0,
            search=search,
            candidates=candidates,
            initial=initial,
        )
    )


def has_boosting() -> bool:
    """Whether XGBoost is there; says that rows are missing if not."""
    try:
        ll.ratios.boosting()
    except ImportError:
        print("XGBoost is not installed, so there is no row for boosted trees.")
        return False
    return True


@dataclasses.dataclass(frozen=True)
class Results:
    """Regrets (seeds, calls) of each contestant on one problem, the first `initial` by design."""

    problem: Problem
    initial: int
    regrets: dict[str, np.ndarray]

    def final(self, name: str) -> float:
        """The median regret after all calls."""
        return float(np.median(self.regrets[name][:, -1]))

    def after(self, name: str, calls: int) -> float:
        """The median regret after so many calls."""
        return float(np.median(self.regrets[name][:, calls - 1]))

    def anytime(self, name: str) -> float:
        """The regret on average over seeds and over calls after the design."""
        return float(self.regrets[name][:, self.initial :].mean())

    def order(self) -> list[str]:
        """The contestants by `anytime`, the best first."""
        return sorted(self.regrets, key=self.anytime)


def compare(
    problem: Problem, contestants: dict[str, Contestant], budget: int, initial: int, seeds: int
) -> Results:
    """One trial of each contestant with each seed; prints a table of what came out."""
    print(f"\n{problem.name}: median regret of {seeds} seeds, {initial} calls by design")
    calls = [int(c) for c in np.linspace(initial, budget, 4)]
    heads = "".join(f"{c:>9} calls" for c in calls)
    print(f"  {'':28}{heads}  quartiles at the end   anytime    s", flush=True)
    regrets = {}
    for name, contestant in contestants.items():
        start = time.perf_counter()
        values = np.array([contestant(problem, budget, seed) for seed in range(seeds)])
        regrets[name] = np.minimum.accumulate(values, axis=1) - problem.lowest
        low, high = np.quantile(regrets[name][:, -1], [0.25, 0.75])
        middle = "".join(f"{np.median(regrets[name][:, c - 1]):15.4g}" for c in calls)
        seconds = (time.perf_counter() - start) / seeds
        quartiles = f"{low:.3g} to {high:.3g}"
        mean = regrets[name][:, initial:].mean()
        print(f"  {name:28}{middle}  {quartiles:>20} {mean:9.3g} {seconds:4.1f}", flush=True)
    return Results(problem, initial, regrets)


def draw(path: Path, panels: list[Results], *, logarithmic: bool) -> None:
    """A panel for each problem: medians of the regret after the design, between quartiles."""
    figure, axes = plt.subplots(
        1, len(panels), figsize=(6 * len(panels), 4.6), squeeze=False, layout="constrained"
    )
    for axis, results in zip(axes[0], panels, strict=True):
        begin = results.initial - 1
        for i, (name, regret) in enumerate(results.regrets.items()):
            # Those without a color of their own come in fives, which differ in their dashes.
            color, dashes = COLORS.get(name, f"C{i % 5}"), "-" if i < 5 or name in COLORS else "--"
            low, middle, high = np.quantile(regret[:, begin:], [0.25, 0.5, 0.75], axis=0)
            calls = np.arange(begin, regret.shape[1]) + 1
            axis.fill_between(calls, low, high, color=color, alpha=0.1, lw=0)
            axis.plot(calls, middle, color=color, ls=dashes, label=name)
        axis.set(xlabel="calls", title=results.problem.name)
        if logarithmic:
            axis.set_yscale("log")
    axes[0, 0].set_ylabel("median regret, quartiles")
    axes[0, -1].legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.0))
    figure.savefig(path, dpi=120)
    plt.close(figure)


def listed(results: Results, names: list[str]) -> str:
    """Final median regrets of some contestants."""
    return ", ".join(f"{name} {results.final(name):.3g}" for name in names)
