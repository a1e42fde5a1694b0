"""Function draws: drawing, evaluating and differentiating them."""

from __future__ import annotations

from bench.harness.figures import Figure, faster, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "Function draws, warm"
WHAT = """Draw functions from a posterior on Hartmann-6 data (Matern-5/2 with given
hyper-parameters) with 1024 features, and evaluate them; "and gradient" adds the gradient of their
sum at every point. BoTorch: `draw_matheron_paths`."""

LEADLINE = libraries.LEADLINE.on("paths")
BOTORCH = libraries.BOTORCH.on("paths")

NOISE, FEATURES, REPEATS = 1e-3, 1024, 3
# Rows, points, draws, the bar, repeats inside a turn.
LARGE, SMALL = (500, 10_000, 256, 8, 1), (50, 100, 16, 10, 50)


def run(session: Session) -> list[Figure]:
    """Both sizes, values alone and with gradients."""
    figures = []
    for n, m, draws, bar, times in (LARGE, SMALL):
        for gradient in (False, True):
            found = session.compare(
                [LEADLINE, BOTORCH],
                "draw",
                REPEATS,
                n=n,
                m=m,
                draws=draws,
                features=FEATURES,
                noise=NOISE,
                gradient=gradient,
                times=times,
            )
            ours, theirs = median(found["Leadline"]), median(found["BoTorch"])
            case = f"{draws} draws, {n} rows, {m} points" + (", and gradient" if gradient else "")
            note = f"{draws / ours:.3g} draws per second, theirs {draws / theirs:.3g}"
            figures.append(faster(case, ours, "BoTorch", theirs, bar, note=note))
    return figures
