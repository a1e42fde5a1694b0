"""Fits that get stuck: how far below the best known hyper-parameters a fit ends."""

from __future__ import annotations

import dataclasses

import numpy as np

from bench.harness.figures import Figure, duration, median
from bench.harness.session import Session
from bench.problems.landscapes import ROWS, landscapes
from bench.sides import libraries

TITLE = "Fits that get stuck"
WHAT = """Rough and smooth test functions and draws of processes, 2 to 8 inputs, 30, 100 and 200
rows, every other data set with noise of a tenth of its spread. The best is the largest log evidence
plus log prior of 30 full searches on all rows, or of one that starts where the fit ended. Default
priors for Matérn-5/2 and squared exponential kernels; the partly additive kernel is fitted as
`Minimize` fits it. A fit is stuck if it ends more than half a nat below the best. Going on: the
fit starts from the hyper-parameters of the first half of the rows."""

LEADLINE = libraries.LEADLINE.on("stuck")

KERNELS = ("matern52", "rbf", "partly additive")
STUCK = 0.5
SHARE_BAR, WORST_BAR = 3.0, 2.0


def run(session: Session) -> list[Figure]:
    """Every data set with every kernel."""
    answers = {
        (kernel, landscape): session.ask(
            LEADLINE, "shortfall", kernel=kernel, **dataclasses.asdict(landscape)
        )
        for landscape in landscapes(seed=0)
        for kernel in KERNELS
    }
    figures = []
    for how in ("from_scratch", "going_on"):
        words = how.replace("_", " ")
        figures += _figures(f"all kernels, {words}", answers, how, SHARE_BAR, WORST_BAR)
        for kernel in KERNELS:
            of_kernel = {key: found for key, found in answers.items() if key[0] == kernel}
            figures += _figures(f"{kernel}, {words}", of_kernel, how, None, None)
    for kernel in KERNELS:
        for rows in ROWS:
            found = [
                a for (k, landscape), a in answers.items() if (k, landscape.rows) == (kernel, rows)
            ]
            seconds = median(found)
            figures.append(
                Figure(
                    f"{kernel}, a warm fit of {rows} rows",
                    duration(seconds),
                    "",
                    "",
                    1e3 * seconds,
                    "ms",
                )
            )
    return figures


def _figures(case, answers, how, share_bar, worst_bar) -> list[Figure]:
    """The share of fits that are stuck, and the largest shortfall."""
    shortfalls = {key: answer[how] for key, answer in answers.items()}
    stuck = int(np.sum(np.array(list(shortfalls.values())) > STUCK))
    share = 100.0 * stuck / len(shortfalls)
    (kernel, landscape), worst = max(shortfalls.items(), key=lambda item: item[1])
    where = f"{landscape.name}, {landscape.rows} rows, noise {landscape.noise:g}, {kernel}"
    return [
        Figure(
            f"{case}: stuck",
            f"{stuck} of {len(shortfalls)}",
            "",
            "",
            share,
            "% of the fits",
            share_bar,
            at_least=False,
        ),
        Figure(
            f"{case}: the worst",
            f"{worst:.2f} nats",
            "",
            "",
            worst,
            "nats below the best",
            worst_bar,
            at_least=False,
            note=where,
        ),
    ]
