"""Asks of methods that classify: against the same algorithm by other means, and as rows grow."""

from __future__ import annotations

from bench.harness.figures import Figure, duration, faster, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "Asks by classification, warm: BORE and LFBO in 6 dimensions"
WHAT = """Hartmann-6 at uniform inputs with 1% noise; an earlier ask knew all but a hundredth of the
rows, so networks go on from there. scikit-learn and SciPy: an ensemble of four `MLPClassifier`
trained for as many steps, and the best of 256 draws around the best tenth, as ours; and one network
climbed by `L-BFGS-B` from three starts, as Tiao (2023) has it. All take turns."""

LEADLINE = libraries.LEADLINE.on("classification")
SKLEARN = libraries.SKLEARN.on("classification")

ROWS, MANY, VERY_MANY = 200, 1000, 10_000
OURS = (
    ("BORE", ROWS),
    ("GP", MANY),
    ("BORE", MANY),
    ("BORE", VERY_MANY),
    ("LFBO", MANY),
    ("LFBO", VERY_MANY),
)
SEARCHES = ("around the best", "by gradients")
REPEATS = 15
BAR, GP_BAR, GROWTH = 10, 5, 1.5


def run(session: Session) -> list[Figure]:
    """Compare with scikit-learn, with our process, and with more rows."""
    requests = {
        f"{method} {n}": (LEADLINE, "ask", {"method": method, "n": n}) for method, n in OURS
    }
    requests |= {search: (SKLEARN, "ask", {"search": search, "n": ROWS}) for search in SEARCHES}
    times = {name: median(found) for name, found in session.turns(requests, REPEATS).items()}
    few = times[f"BORE {ROWS}"]
    figures = [
        faster(f"BORE, {ROWS} rows, {search}", few, SKLEARN.name, times[search], BAR)
        for search in SEARCHES
    ]
    process = times[f"GP {MANY}"]
    figures.append(faster(f"BORE, {ROWS} rows", few, f"our GP, {MANY} rows", process, GP_BAR))
    for method in ("BORE", "LFBO"):
        many, very_many = times[f"{method} {MANY}"], times[f"{method} {VERY_MANY}"]
        figures.append(
            Figure(
                f"{method}, {VERY_MANY} rows",
                duration(very_many),
                f"{MANY} rows",
                duration(many),
                very_many / many,
                "times the time",
                GROWTH,
                at_least=False,
            )
        )
    return figures
