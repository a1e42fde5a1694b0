"""Contests of methods that classify, on boxes and on tables."""

from __future__ import annotations

import statistics

from bench.harness.figures import Figure
from bench.harness.session import Session
from bench.problems.contests import CONTESTS
from bench.sides import libraries

TITLE = "Contests: BORE, LFBO and TPE against Optuna's TPE and random search"
WHAT = """Median regret of 20 seeds: Branin (10 + 50 calls), Hartmann-6 (20 + 80), a table like
NASBench-201 with 15 625 points and one like HPOBench's with 4608 (networks on scikit-learn's
diabetes data), 10 + 90 calls each, and Rosenbrock's function in 12 dimensions (20 + 80). Ours and
Optuna's have their defaults. BORE and LFBO have to be below Optuna's TPE on four of five and below
random search on all, our TPE has to be within 1.5 times Optuna's."""

LEADLINE = libraries.LEADLINE.on("contests")
OPTUNA = libraries.OPTUNA.on("contests")

SEEDS, WITHIN, ENOUGH = 20, 1.5, 4
OURS = ("BORE", "LFBO", "TPE")


def run(session: Session) -> list[Figure]:
    """Regrets of all on every problem."""
    session.ask(LEADLINE, "tables")
    figures, regrets = [], {}
    for name in CONTESTS:
        found = {
            sampler: _median(session, OPTUNA, name, sampler=sampler)
            for sampler in ("tpe", "random")
        }
        for method in OURS:
            found[method] = _median(session, LEADLINE, name, method=method)
            figures.append(_figure(f"{name}, {method}", found[method], found))
        regrets[name] = found
    for method in ("BORE", "LFBO"):
        below = sum(found[method] < found["tpe"] for found in regrets.values())
        figures.append(_count(f"{method} below Optuna's TPE", below, ENOUGH))
        below = sum(found[method] < found["random"] for found in regrets.values())
        figures.append(_count(f"{method} below random search", below, len(CONTESTS)))
    within = sum(found["TPE"] <= WITHIN * found["tpe"] for found in regrets.values())
    figures.append(_count(f"our TPE within {WITHIN} times Optuna's", within, len(CONTESTS)))
    return figures


def _median(session: Session, side, name: str, **how) -> float:
    answers = [session.ask(side, "regret", name=name, seed=seed, **how) for seed in range(SEEDS)]
    return statistics.median(answer["regret"] for answer in answers)


def _figure(case: str, ours: float, found: dict[str, float]) -> Figure:
    ratio = ours / found["tpe"] if found["tpe"] else float(ours > 0)
    theirs, note = f"{found['tpe']:.3g}", f"random {found['random']:.3g}"
    return Figure(case, f"{ours:.3g}", "Optuna TPE", theirs, ratio, "of theirs", note=note)


def _count(case: str, count: int, least: int) -> Figure:
    return Figure(case, f"{count} of {len(CONTESTS)}", "", "", count, "problems", least)
