"""Fit and predict, warm: the everyday call, at growing numbers of rows."""

from __future__ import annotations

from bench.harness.figures import Figure, faster, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "Fit and predict at 1000 points, warm"
WHAT = """Hartmann-6 at uniform inputs with 1% noise; every repeat has data of its own, the same for
all sides. Defaults on all sides: BoTorch's `SingleTaskGP` with `fit_gpytorch_mll`, inputs
normalized and targets standardized; GPJax's `fit_scipy`. Squared exponential kernel with one length
scale per input, unless the case says Matérn. The note gives the mean log density of 1000 held-out
targets, to show that time is not bought with quality."""

LEADLINE = libraries.LEADLINE.on("fit")
BOTORCH = libraries.BOTORCH.on("fit")
GPJAX = libraries.GPJAX.on("fit")

# rows: repeats, bar against BoTorch, bar against GPJax (None: not measured)
SIZES = {20: (7, 15, 10), 50: (7, 15, 10), 100: (7, 10, 10), 500: (5, 3, 10), 1000: (3, 2, None)}


def run(session: Session) -> list[Figure]:
    """Compare at every size, all sides in turns."""
    figures = []
    for n, (repeats, bar, gpjax_bar) in SIZES.items():
        peers = [BOTORCH] if gpjax_bar is None else [BOTORCH, GPJAX]
        found = session.compare([LEADLINE, *peers], "fit_predict", repeats, n=n)
        ours = found[LEADLINE.name]
        for side, wanted in zip(peers, (bar, gpjax_bar), strict=False):
            theirs = found[side.name]
            figures.append(
                faster(
                    f"{n} rows",
                    median(ours),
                    side.name,
                    median(theirs),
                    wanted,
                    f"log density {median(ours, 'log_density'):.3f}, "
                    f"theirs {median(theirs, 'log_density'):.3f}",
                )
            )
        rough = session.compare([LEADLINE], "fit_predict", repeats, n=n, kernel="matern52")
        rough = rough[LEADLINE.name]
        theirs = median(found[BOTORCH.name])
        note = f"log density {median(rough, 'log_density'):.3f}; their kernel is their default"
        figures.append(
            faster(f"{n} rows, Matérn-5/2", median(rough), BOTORCH.name, theirs, None, note)
        )
    return figures
