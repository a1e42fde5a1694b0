"""Where a classifier or densities overtake a Gaussian process: in calls, and in dimensions."""

from __future__ import annotations

import statistics

from bench.harness.figures import Figure, duration, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "GP, BORE, LFBO or TPE: asks as calls grow, and regrets as dimensions do"
WHAT = """Times: one ask after so many values of Hartmann-6, warm. Regrets: medians of 5 seeds, of
20 + 80 calls of Rosenbrock's function on [-5, 10]^d, as a part of that of the Gaussian process; and
medians of 3 seeds of as many calls as fit into half a minute, if a call takes no time."""

CLASSIFICATION = libraries.LEADLINE.on("classification")
CONTESTS = libraries.LEADLINE.on("contests")

ROWS = {"GP": (100, 1000), "BORE": (100, 1000, 10_000), "TPE": (100, 1000, 10_000)}
REPEATS = 3
METHODS = ("GP", "BORE", "LFBO", "TPE")
DIMENSIONS, SEEDS = (2, 8, 24), 5
SECONDS, HURRIED_DIMENSIONS, HURRIED_SEEDS = 30, (8, 24), 3


def run(session: Session) -> list[Figure]:
    """Times, then regrets."""
    figures = []
    for method, rows in ROWS.items():
        for n in rows:
            found = session.compare([CLASSIFICATION], "ask", REPEATS, method=method, n=n)
            seconds = median(found[CLASSIFICATION.name])
            figures.append(
                Figure(f"{method}, {n} calls", duration(seconds), "", "", 1e3 * seconds, "ms")
            )
    for dim in DIMENSIONS:
        found = {
            method: _answers(session, "rosenbrock_regret", SEEDS, dim=dim, method=method)
            for method in METHODS
        }
        figures += _beside_the_process(f"{dim} dimensions", found)
    for dim in HURRIED_DIMENSIONS:
        found = {
            method: _answers(
                session, "hurried_regret", HURRIED_SEEDS, dim=dim, method=method, seconds=SECONDS
            )
            for method in METHODS
        }
        figures += _beside_the_process(f"{dim} dimensions, {SECONDS} s", found)
    return figures


def _answers(session: Session, task: str, seeds: int, **arguments) -> list[dict]:
    return [session.ask(CONTESTS, task, seed=seed, **arguments) for seed in range(seeds)]


def _beside_the_process(where: str, found: dict[str, list[dict]]) -> list[Figure]:
    regrets = {m: statistics.median(a["regret"] for a in answers) for m, answers in found.items()}
    counted = {
        m: f", {statistics.median(a['calls'] for a in answers):.0f} calls"
        for m, answers in found.items()
        if "calls" in answers[0]
    }
    return [
        Figure(
            f"{method}, {where}",
            f"{regrets[method]:.3g}{counted.get(method, '')}",
            "our GP",
            f"{regrets['GP']:.3g}{counted.get('GP', '')}",
            regrets[method] / regrets["GP"],
            "of its regret",
        )
        for method in METHODS[1:]
    ]
