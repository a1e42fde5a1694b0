"""The first ask in many dimensions, with nothing compiled before."""

from __future__ import annotations

import tempfile

from bench.harness.figures import Figure, duration, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "The first ask in many dimensions, nothing compiled before"
WHAT = """A new process and an empty cache; importing is not counted. After the calls of the design
(values of a bowl at random points) the method is asked once: it fits a model and searches for the
next point. Compared with 6 dimensions, in turns."""

LEADLINE = libraries.LEADLINE.on("minimize")

DIMENSIONS = {6: None, 60: 2, 200: 2, 1000: None, 3000: None}
REPEATS = 3


def run(session: Session) -> list[Figure]:
    """All dimensions in turns."""
    found: dict[int, list[dict]] = {dim: [] for dim in DIMENSIONS}
    for turn in range(REPEATS):
        for dim in DIMENSIONS if turn == 0 else [d for d in DIMENSIONS if d < 1000]:
            with tempfile.TemporaryDirectory() as programs:
                answer = session.fresh(LEADLINE, "first_ask", programs, dim=dim, seed=0)
            found[dim].append(answer)
    times = {dim: median(answers) for dim, answers in found.items()}
    return [
        Figure(
            f"{dim} dimensions",
            duration(times[dim]),
            "6 dimensions",
            duration(times[6]),
            times[dim] / times[6],
            "times as long",
            bar,
            at_least=False,
        )
        for dim, bar in DIMENSIONS.items()
        if dim != 6
    ]
