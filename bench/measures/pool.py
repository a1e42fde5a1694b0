"""One ask of a pool, warm, beside one in a box."""

from __future__ import annotations

from bench.harness.figures import Figure, duration, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "One ask of a pool, warm, beside one in a box of as many columns"
WHAT = """A smooth function of 8 columns after 100 calls. Every candidate is looked at: its gain is
computed, or a ceiling of it shows that another one is better. In a box the same gain is climbed
from 10 of 512 candidates."""

LEADLINE = libraries.LEADLINE.on("minimize")
ROWS, COLUMNS, REPEATS = 100, 8, 7
# candidates: bar
SIZES = {1000: None, 10_000: None, 100_000: 3.0}


def run(session: Session) -> list[Figure]:
    """A box and pools of growing sizes, in turns."""
    requests = {
        str(candidates): (
            LEADLINE,
            "ask_of_many",
            dict(n=ROWS, candidates=candidates, columns=COLUMNS),
        )
        for candidates in (0, *SIZES)
    }
    found = session.turns(requests, REPEATS)
    box = median(found["0"])
    figures = []
    for candidates, bar in SIZES.items():
        ours = median(found[str(candidates)])
        figures.append(
            Figure(
                f"{candidates} candidates",
                duration(ours),
                "a box",
                duration(box),
                ours / box,
                "times as long",
                bar,
                at_least=False,
            )
        )
    return figures
