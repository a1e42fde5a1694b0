"""The memory of a large posterior."""

from __future__ import annotations

from bench.harness.figures import Figure, duration
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "Memory: condition on 5000 rows and predict at 100 000"
WHAT = """Growth of the largest resident size of a process over that after a small fit, in units of
the 5000 x 5000 matrix (200 MB)."""

LEADLINE = libraries.LEADLINE.on("cost")

ROWS, QUERIES = 5000, 100_000


def run(session: Session) -> list[Figure]:
    """Measure in a new process."""
    answer = session.fresh(LEADLINE, "memory", n=ROWS, queries=QUERIES)
    if not answer["finite"]:
        raise ArithmeticError("a predicted variance is not finite")
    matrix = 8 * ROWS**2
    return [
        Figure(
            f"{ROWS} rows, {QUERIES} predictions",
            f"{answer['growth'] / 1e6:.0f} MB",
            "one matrix",
            f"{matrix / 1e6:.0f} MB",
            answer["growth"] / matrix,
            "matrices",
            4,
            at_least=False,
            note=f"in {duration(answer['seconds'])}",
        )
    ]
