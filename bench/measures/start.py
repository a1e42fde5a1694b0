"""A fresh process: import, fit 50 rows, predict."""

from __future__ import annotations

import tempfile

from bench.harness.figures import Figure, faster, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "Cold start: import, fit 50 rows, predict, in a new process"
WHAT = """From the start of the process to its answer. Empty: nothing compiled before. Filled: the
compilation cache of an earlier process is there, as it is from a user's second run on."""

LEADLINE = libraries.LEADLINE.on("fit")
BOTORCH = libraries.BOTORCH.on("fit")
GPJAX = libraries.GPJAX.on("fit")

ROWS, REPEATS = 50, 5


def run(session: Session) -> list[Figure]:
    """Empty, filled and peers in turns."""
    empty, filled, botorch, gpjax = [], [], [], []
    for turn in range(REPEATS):
        with tempfile.TemporaryDirectory() as programs:
            arguments = {"n": ROWS, "seed": 0}
            empty.append(session.fresh(LEADLINE, "fit_predict", programs, **arguments))
            botorch.append(session.fresh(BOTORCH, "fit_predict", turn=turn, **arguments))
            filled.append(session.fresh(LEADLINE, "fit_predict", programs, **arguments))
            gpjax.append(session.fresh(GPJAX, "fit_predict", turn=turn, **arguments))
    ours, warm, theirs, third = (
        median(answers, "process_seconds") for answers in (empty, filled, botorch, gpjax)
    )
    return [
        faster("cache empty", ours, BOTORCH.name, theirs, 1),
        faster("cache filled", warm, BOTORCH.name, theirs, 2),
        faster("cache empty", ours, GPJAX.name, third, None),
    ]
