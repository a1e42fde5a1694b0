"""One evaluation of the evidence and its gradient, against what it cannot do without."""

from __future__ import annotations

import statistics

from bench.harness.figures import Figure, duration, faster
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "Evidence and gradient, one evaluation"
WHAT = """The limit is one Cholesky factorization and one inverse (`cho_solve` with the identity) of
the same size, in JAX with the same threads, in turns with ours. GPyTorch's own evaluation is shown
beside it."""

LEADLINE = libraries.LEADLINE.on("cost")
BOTORCH = libraries.BOTORCH.on("fit")

SIZES = {256: 31, 512: 31, 1024: 15, 2048: 9}
BAR = 1.7


def run(session: Session) -> list[Figure]:
    """Compare at every size."""
    figures = []
    for n, repeats in SIZES.items():
        answer = session.ask(LEADLINE, "value_and_grad", n=n, repeats=repeats)
        theirs = session.ask(BOTORCH, "value_and_grad", n=n, repeats=repeats)
        ours, limit = (statistics.median(answer[name]) for name in ("seconds", "limit"))
        figures.append(
            Figure(
                f"{n} rows",
                duration(ours),
                "the limit",
                duration(limit),
                ours / limit,
                "times the limit",
                BAR,
                at_least=False,
            )
        )
        reference = statistics.median(theirs["seconds"])
        figures.append(faster(f"{n} rows", ours, "GPyTorch", reference, None))
    return figures
