"""Asks of methods that classify: against the same algorithm by other means, and as rows grow."""

from __future__ import annotations

from bench.figures import Figure, duration, faster, median
from bench.session import LEADLINE_CLASSIFICATION, SKLEARN_BORE, Session

TITLE = "Asks by classification, warm: BORE and LFBO in 6 dimensions"
WHAT = """Hartmann-6 at uniform inputs with 1% noise; an earlier ask knew all but a hundredth of the
rows, so networks go on from there. scikit-learn and SciPy: an ensemble of four `MLPClassifier`
trained for as many steps, and the best of 256 draws around the best tenth, as ours; and one network
climbed by `L-BFGS-B` from three starts, as Tiao (2023) has it."""

ROWS, MANY, VERY_MANY = 200, 1000, 10_000
REPEATS = 7
BAR, GP_BAR, GROWTH = 10, 5, 1.5


def run(session: Session) -> list[Figure]:
    """Compare with scikit-learn, with our process, and with more rows."""

    def ours(method: str, n: int) -> float:
        found = session.compare([LEADLINE_CLASSIFICATION], "ask", REPEATS, method=method, n=n)
        return median(found[LEADLINE_CLASSIFICATION.name])

    figures = []
    few = ours("BORE", ROWS)
    for search in ("around the best", "by gradients"):
        found = session.compare([SKLEARN_BORE], "ask", REPEATS, search=search, n=ROWS)
        theirs = median(found[SKLEARN_BORE.name])
        figures.append(faster(f"BORE, {ROWS} rows, {search}", few, SKLEARN_BORE.name, theirs, BAR))
    figures.append(
        faster(f"BORE, {ROWS} rows", few, f"our GP, {MANY} rows", ours("GP", MANY), GP_BAR)
    )
    for method in ("BORE", "LFBO"):
        many, very_many = ours(method, MANY), ours(method, VERY_MANY)
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
