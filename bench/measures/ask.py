"""One ask, warm: fit and maximize log-EI, at growing numbers of rows."""

from __future__ import annotations

from bench.harness.figures import Figure, faster, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "One ask, warm: fit and maximize log-EI in 6 dimensions"
WHAT = """Hartmann-6 at uniform inputs with 1% noise; every repeat has data of its own, the same for
all sides. Fits are from scratch; in the cases "in a campaign" ours start from the hyper-parameters
of an earlier ask, as they do in every campaign, and learn them again. BoTorch: `SingleTaskGP`,
log-EI, 10 restarts from 512 raw samples. Optuna: `GPSampler`. Ours: `Minimize.ask`, 10 searches
from 512 candidates."""

LEADLINE = libraries.LEADLINE.on("minimize")
BOTORCH = libraries.BOTORCH.on("minimize")
OPTUNA = libraries.OPTUNA.on("minimize")

# rows: repeats, bar against BoTorch, bar against Optuna
SIZES = {20: (7, 10, 5), 50: (7, 10, 5), 100: (7, 10, 5), 200: (5, 10, 3)}


def run(session: Session) -> list[Figure]:
    """Compare at every size, all sides in turns."""
    figures = []
    for n, (repeats, *bars) in SIZES.items():
        peers = [BOTORCH, OPTUNA]
        found = session.compare([LEADLINE, *peers], "ask", repeats, n=n)
        ours = median(found[LEADLINE.name])
        again = session.compare([LEADLINE], "ask_again", repeats, n=n)
        going_on = median(again[LEADLINE.name])
        for side, bar in zip(peers, bars, strict=True):
            theirs = median(found[side.name])
            figures.append(faster(f"{n} rows", ours, side.name, theirs, bar))
            figures.append(faster(f"{n} rows, in a campaign", going_on, side.name, theirs, None))
    return figures
