"""Regrets of the acquisition functions that a method can be given by name."""

from __future__ import annotations

from bench.harness.figures import Figure, median
from bench.harness.session import Session
from bench.measures.regret import BUDGET
from bench.problems.objectives import OBJECTIVES
from bench.sides import libraries

TITLE = "Acquisition functions side by side"
WHAT = """Medians over 5 seeds of the regret after 60 calls, of which 10 are a design, by what
chooses the calls; compared with log-EI. With noise of 10% of the range it is the true value at the
answer."""

LEADLINE = libraries.LEADLINE.on("regret")

METHODS = ("pi", "ucb", "emax", "kg", "two_step", "mes", "jes", "thompson")
CASES = (("branin", 0.0), ("hartmann6", 0.0), ("ackley5", 0.0), ("hartmann6", 0.1))
SEEDS = 5


def run(session: Session) -> list[Figure]:
    """Every one on every function."""
    figures = []
    for name, noise in CASES:
        case = f"{name}, noise {noise:.0%}" if noise else name
        reference = _median(session, name, noise, "log_ei")
        for method in METHODS:
            ours = _median(session, name, noise, method)
            floor = 1e-4 * OBJECTIVES[name].range
            ratio = max(ours, floor) / max(reference, floor)
            shown = (f"{ours:.2g}", "log_ei", f"{reference:.2g}")
            figures.append(Figure(f"{case}: {method}", *shown, ratio, "of its regret"))
    return figures


def _median(session: Session, name: str, noise: float, method: str) -> float:
    how = {"name": name, "noise": noise, "budget": BUDGET, "method": method}
    return median([session.ask(LEADLINE, "regret", seed=s, **how) for s in range(SEEDS)], "regret")
