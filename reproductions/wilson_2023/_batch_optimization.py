"""Bayesian optimization in batches, as in the experiments of Wilson (2023), chapter 2.

A trial begins with three random calls and goes on in rounds of q calls, chosen together by expected
improvement on the highest value seen. Values have a noise variance of 1e-3. Regret is how far the
best call so far is below the top of the function, both without noise.

Models are Matern-5/2. For draws of a process they are that process: mean 0, variance 1, length
scale sqrt(d)/4. For Hartmann's function the mean, the variance and the length scales are fitted in
every round, with the priors that `GP.fit` has by default: maximum likelihood, which the thesis
uses, has no unique answer with three values. The noise is known.

A budget is a number of evaluations of whole batches, or of the gradients of as many; greedy choice
splits it evenly over its q searches. The thesis gives each search the time of so many evaluations.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.acquisition import Improvement, MonteCarlo, base_samples, best_seen, maximize
from leadline.paths import prior_draws
from leadline.spaces import as_space

NOISE, FIRST = 1e-3, 3
FLOOR = 1e-5  # of the regret, for its logarithm

# Names and colors of the searches, as in the thesis.
SEARCHES = {
    "random": ("random search", "#2ca02c"),
    "cmaes": ("CMA-ES", "#1f77b4"),
    "adam": ("Adam, fresh draws", "#e08214"),
    "gradient": ("BFGS, fixed draws", "#7b3294"),
}


@dataclasses.dataclass(frozen=True)
class Problem:
    """A function of the unit cube to maximize, its highest value, and the model of it."""

    function: Callable[[np.ndarray], np.ndarray]
    dim: int
    top: float
    model: Any
    fitted: bool


def process_draw(d: int, trial: int) -> Problem:
    """A draw of a known process."""
    kernel = ll.kernels.Matern52(np.sqrt(d) / 4)
    truth = prior_draws(kernel, jax.random.key(trial), 1, dim=d, features=4096)
    top = float(np.max(truth(truth.argmax([(0.0, 1.0)] * d, 32))))
    return Problem(lambda x: np.asarray(truth(x))[0], d, top, ll.GP(kernel, noise=NOISE), False)


_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
_TOP = 3.322368


def hartmann(x: np.ndarray) -> np.ndarray:
    """Hartmann's function of six variables with its sign changed: its top is 3.322368."""
    squares = np.sum(_A * (x[:, None, :] - _P) ** 2, axis=2)
    return np.exp(-squares) @ _WEIGHTS


def hartmann_problem() -> Problem:
    """The function of six variables, whose model is fitted."""
    model = ll.GP(1.0 * ll.kernels.Matern52(np.full(6, 0.5)), mean=0.0, noise=ll.fixed(NOISE))
    return Problem(hartmann, 6, _TOP, model, True)


@dataclasses.dataclass(frozen=True)
class Choice:
    """How a batch is chosen.

    Attributes:
        search: inside the acquisition function, see `leadline.acquisition.maximize`.
        batch: "joint" or "greedy".
        budget: the number of evaluations for one batch.
        draws: the number of draws of Monte Carlo averages.
        rao_blackwell: whether these are of closed forms.
    """

    search: str
    batch: str
    budget: int
    draws: int = 128
    rao_blackwell: bool = False


class Trial(NamedTuple):
    """What became of one trial.

    Attributes:
        regret: of the first calls and after each round (rounds + 1,).
        worth: what the search thought each batch to be worth (rounds,).
        seconds: how long each search took (rounds,).
    """

    regret: np.ndarray
    worth: np.ndarray
    seconds: np.ndarray


def run(problem: Problem, choice: Choice, q: int, rounds: int, seed: int) -> Trial:
    """Optimize; the first calls and the noise of rounds are the same for all choices."""
    rng = np.random.default_rng(seed)
    space = as_space([(0.0, 1.0)] * problem.dim)
    keys = jax.random.split(jax.random.key(seed), rounds)
    x, y, truth, best, worth, seconds = rng.random((FIRST, problem.dim)), [], [], [], [], []
    for r in range(rounds + 1):
        truth = np.append(truth, problem.function(x[len(truth) :]))
        y = np.append(y, truth[len(y) :] + np.sqrt(NOISE) * rng.normal(size=len(x) - len(y)))
        best.append(truth.max())
        if r == rounds:
            break
        model = problem.model
        posterior = model.fit(x, y, seed=r) if problem.fitted else model.condition(x, y)
        acquisition = MonteCarlo(
            posterior,
            Improvement(np.asarray(best_seen(y).value)),
            base_samples(choice.draws, q, seed=int(rng.integers(2**31))),
            rao_blackwell=choice.rao_blackwell,
        )
        start = time.perf_counter()
        found = maximize(
            acquisition,
            space,
            keys[r],
            q=q,
            batch=choice.batch,
            search=choice.search,
            budget=choice.budget,
            avoid=x,
        )
        seconds.append(time.perf_counter() - start)
        assert found is not None
        x = np.concatenate([x, found.rows])
        worth.append(found.value)
    return Trial(problem.top - np.array(best), np.array(worth), np.array(seconds))


@dataclasses.dataclass(frozen=True)
class Results:
    """The trials of several choices on one kind of problem, all with batches of `q`."""

    title: str
    q: int
    trials: dict[str, list[Trial]]

    def regret(self, name: str) -> np.ndarray:
        """The regret of a choice (trials, rounds + 1)."""
        return np.array([trial.regret for trial in self.trials[name]])

    def late(self, name: str) -> np.ndarray:
        """The mean of log10 regret over the second half of rounds (trials,)."""
        logs = np.log10(np.maximum(self.regret(name), FLOOR))
        return logs[:, logs.shape[1] // 2 :].mean(axis=1)

    def gap(self, name: str, other: str) -> Gap:
        """How much lower the late regret of one choice is than that of another."""
        return Gap.of(self.late(other) - self.late(name))


class Gap(NamedTuple):
    """A difference of log10 regret, positive if the first choice is better; its standard error."""

    mean: float
    error: float

    @staticmethod
    def of(difference: np.ndarray) -> Gap:
        """The average over trials."""
        error = difference.std(ddof=1) / np.sqrt(len(difference))
        return Gap(float(difference.mean()), float(error))

    @property
    def better(self) -> bool:
        """Whether the first choice is better by more than two standard errors."""
        return self.mean > 2 * self.error

    @property
    def worse(self) -> bool:
        """Whether it is worse by more than two."""
        return self.mean < -2 * self.error

    def __str__(self) -> str:
        return f"{self.mean:+.2f} +- {self.error:.2f}"


def compare(
    title: str,
    problems: Iterable[Problem],
    choices: dict[str, Choice],
    q: int,
    rounds: int,
) -> Results:
    """One trial of each choice on each problem; prints a table of what came out."""
    start = time.perf_counter()
    trials: dict[str, list[Trial]] = {name: [] for name in choices}
    for seed, problem in enumerate(problems):
        for name, choice in choices.items():
            trials[name].append(run(problem, choice, q, rounds, seed))
    results = Results(title, q, trials)
    steps = [0, rounds // 4, rounds // 2, rounds]
    calls = ", ".join(str(FIRST + q * step) for step in steps)
    took = {name: np.median([trial.seconds for trial in trials[name]]) for name in choices}
    first = next(iter(choices))
    print(
        f"\n{title}: log10 of the regret after {calls} calls, median of {len(trials[first])} trials"
    )
    for name in choices:
        logs = np.log10(np.maximum(results.regret(name), FLOOR))
        middle = "".join(f"{np.median(logs[:, s]):8.2f}" for s in steps)
        low, high = np.quantile(logs[:, -1], [0.25, 0.75])
        print(
            f"  {name:26s}{middle}   quartiles {low:5.2f} to {high:5.2f}"
            f"   time {took[name] / took[first]:5.1f}"
        )
    print(f"  {time.perf_counter() - start:.0f} s", flush=True)
    return results


def draw_figure(path: Path, panels: list[Results], styles: dict[str, tuple[str, str]]) -> None:
    """A panel for each kind of problem: medians of the regret, and the quartiles around them."""
    figure, axes = plt.subplots(1, len(panels), figsize=(5 * len(panels), 4.2), squeeze=False)
    for axis, results in zip(axes[0], panels, strict=True):
        for name in results.trials:
            color, line = styles[name]
            logs = np.log10(np.maximum(results.regret(name), FLOOR))
            low, middle, high = np.quantile(logs, [0.25, 0.5, 0.75], axis=0)
            calls = FIRST + results.q * np.arange(logs.shape[1])
            axis.fill_between(calls, low, high, color=color, alpha=0.13, lw=0)
            axis.plot(calls, middle, color=color, ls=line, label=name)
        axis.set(xlabel="calls", title=results.title)
    axes[0, 0].set_ylabel("log10 of the regret")
    axes[0, 0].legend(fontsize=8, loc="lower left")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def verdict(gaps: list[Gap], equal: str = "partly") -> str:
    """Whether a first choice is better in all gaps or some; `equal` if no gap is large."""
    better, worse = sum(g.better for g in gaps), sum(g.worse for g in gaps)
    if not better and not worse:
        return f"{equal}, no difference is beyond two standard errors"
    word = "yes" if not worse else "partly" if better else "no"
    return f"{word}, better in {better} of {len(gaps)} by two standard errors, worse in {worse}"
