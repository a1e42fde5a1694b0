"""How cost grows with the number of rows: exponents fitted to times."""

from __future__ import annotations

import statistics

import numpy as np

from bench.harness.figures import Figure, duration
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "How cost grows with rows"
WHAT = """Exponents by least squares of log time on log rows, from 500 to 4000 rows. An evaluation
of the objective of `fit` (value and gradient) should grow no faster than the cube, an update by one
row no faster than the square."""

LEADLINE = libraries.LEADLINE.on("cost")

SIZES = {500: 15, 1000: 9, 2000: 5, 4000: 3}
# An exponent is a fit to noisy times: a tenth above the power itself.
EVALUATION_BAR, UPDATE_BAR = 3.1, 2.1


def run(session: Session) -> list[Figure]:
    """Time at every size and fit the exponent."""
    cases = {"value_and_grad": ("an evaluation", EVALUATION_BAR), "update": ("update", UPDATE_BAR)}
    figures = []
    for task, (case, bar) in cases.items():
        times = {
            n: statistics.median(session.ask(LEADLINE, task, n=n, repeats=repeats)["seconds"])
            for n, repeats in SIZES.items()
        }
        exponent = float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])
        shown = ", ".join(f"{n}: {duration(seconds)}" for n, seconds in times.items())
        figures.append(Figure(case, shown, "", "", exponent, "power", bar, at_least=False))
    return figures
