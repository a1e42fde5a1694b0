"""Where a classifier or densities overtake a Gaussian process: in calls, and in dimensions."""

from __future__ import annotations

import statistics

from bench.figures import Figure, duration, median
from bench.session import LEADLINE_CLASSIFICATION, LEADLINE_CONTESTS, Session

TITLE = "GP, BORE, LFBO or TPE: asks as calls grow, and regrets as dimensions do"
WHAT = """Times: one ask after so many values of Hartmann-6, warm. Regrets: medians of 5 seeds, of
20 + 80 calls of Rosenbrock's function on [-5, 10]^d, as a part of that of the Gaussian process."""

ROWS = {"GP": (100, 1000), "BORE": (100, 1000, 10_000), "TPE": (100, 1000, 10_000)}
REPEATS = 3
DIMENSIONS, SEEDS = (2, 8, 24), 5


def run(session: Session) -> list[Figure]:
    """Times, then regrets."""
    figures = []
    for method, rows in ROWS.items():
        for n in rows:
            found = session.compare([LEADLINE_CLASSIFICATION], "ask", REPEATS, method=method, n=n)
            seconds = median(found[LEADLINE_CLASSIFICATION.name])
            figures.append(
                Figure(f"{method}, {n} calls", duration(seconds), "", "", 1e3 * seconds, "ms")
            )
    for dim in DIMENSIONS:
        regrets = {
            method: _regret(session, dim, method) for method in ("GP", "BORE", "LFBO", "TPE")
        }
        for method in ("BORE", "LFBO", "TPE"):
            figures.append(
                Figure(
                    f"{method}, {dim} dimensions",
                    f"{regrets[method]:.3g}",
                    "our GP",
                    f"{regrets['GP']:.3g}",
                    regrets[method] / regrets["GP"],
                    "of its regret",
                )
            )
    return figures


def _regret(session: Session, dim: int, method: str) -> float:
    answers = (
        session.ask(LEADLINE_CONTESTS, "rosenbrock_regret", dim=dim, method=method, seed=seed)
        for seed in range(SEEDS)
    )
    return statistics.median(answer["regret"] for answer in answers)
