"""Function draws at very many points: time is linear in their number, memory is bounded."""

from __future__ import annotations

import itertools
import math

from bench.harness.figures import Figure, duration
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "Function draws at many points"
WHAT = """16 draws from a posterior of 100 rows in 6 dimensions with 1024 features, evaluated at 1e3
to 1e6 points, each in a new process. The exponent is the slope of log time against log points;
memory is the growth of the process's peak beyond the answer itself (twice: pieces, and the
whole)."""

LEADLINE = libraries.LEADLINE.on("paths")

POINTS, DRAWS = (1_000, 10_000, 100_000, 1_000_000), 16


def run(session: Session) -> list[Figure]:
    """One process for each number of points."""
    found = {
        m: session.fresh(LEADLINE, "long_query", n=100, m=m, draws=DRAWS, features=1024, repeats=3)
        for m in POINTS
    }
    figures = []
    for small, large in itertools.pairwise(POINTS):
        times = found[small]["seconds"], found[large]["seconds"]
        slope = math.log(times[1] / times[0]) / math.log(large / small)
        figures.append(
            Figure(
                f"{small} to {large} points",
                duration(times[1]),
                f"{small} points",
                duration(times[0]),
                slope,
                "exponent",
                1.1,
                at_least=False,
            )
        )
    last = found[POINTS[-1]]
    beyond = max(0.0, last["growth"] - 2 * last["answer"]) / 1e6
    figures.append(
        Figure(
            f"memory, {POINTS[-1]} points",
            f"{last['growth'] / 1e6:.0f} MB",
            "the answer twice",
            f"{2 * last['answer'] / 1e6:.0f} MB",
            beyond,
            "MB beyond",
            100,
            at_least=False,
        )
    )
    return figures
