"""Data that grow by one row at a time, with a fit after each: an optimization loop's life."""

from __future__ import annotations

import tempfile

from bench.harness.figures import Figure, faster, median
from bench.harness.session import Session, check_same_data
from bench.sides import libraries

TITLE = "Growing data: a fit at each of 10 to 200 rows"
WHAT = """Hartmann-6, 191 fits in one process; importing is not counted. Cold: a new process and an
empty compilation cache. Filled: a new process with the cache that the cold one left. Every fit
starts from scratch on both sides; in the last case ours starts where its last fit ended. Rows are
padded to 64, 128 and 256, so that only the first fit in each of these should compile
anything."""

LEADLINE = libraries.LEADLINE.on("fit")
BOTORCH = libraries.BOTORCH.on("fit")

FIRST, LAST, REPEATS = 10, 200, 3
BUCKETS = (64, 128, 256)


def run(session: Session) -> list[Figure]:
    """Cold, filled and BoTorch in turns."""
    cold, filled, going_on, theirs = [], [], [], []
    for turn in range(REPEATS):
        with tempfile.TemporaryDirectory() as programs:
            arguments = {"programs": programs, "first": FIRST, "last": LAST}
            cold.append(session.fresh(LEADLINE, "grow", **arguments))
            theirs.append(session.fresh(BOTORCH, "grow", first=FIRST, last=LAST, turn=turn))
            filled.append(session.fresh(LEADLINE, "grow", **arguments))
            going_on.append(session.fresh(LEADLINE, "grow", go_on=True, **arguments))
    check_same_data([*cold, *filled, *going_on, *theirs])
    figures = [
        faster("cold", median(cold), BOTORCH.name, median(theirs), 4),
        faster("cache filled", median(filled), BOTORCH.name, median(theirs), 10),
        faster("cache filled, going on", median(going_on), BOTORCH.name, median(theirs), None),
    ]
    lower = 0
    for bucket in BUCKETS:
        fits = [names for n, names in cold[0]["compiled"].items() if lower < int(n) <= bucket]
        programs = sum(sum(names.values()) for names in fits)
        repeated = {name for names in fits[1:] for name in names}
        figures.append(
            Figure(
                f"fits that compile, rows {max(lower + 1, FIRST)} to {min(bucket, LAST)}",
                str(len(fits)),
                "",
                "",
                len(fits),
                "fits",
                1,
                at_least=False,
                note=f"{programs} programs" + (f"; later: {sorted(repeated)}" if repeated else ""),
            )
        )
        lower = bucket
    return figures
