"""How good the fits are: the evidence reached, and the density of held-out targets."""

from __future__ import annotations

from bench.harness.figures import Figure
from bench.harness.session import Session, check_same_data
from bench.problems import datasets
from bench.sides import libraries

TITLE = "Quality of the fit"
WHAT = """Regression sets (at most 300 training and 500 held-out rows) and noisy test functions,
standardized. Evidence: maximum likelihood with mean zero, against scikit-learn's
`GaussianProcessRegressor` with two restarts; never worse by more than 0.1 nat. Density: default
priors, mean log density per held-out row, against BoTorch's defaults; never worse by more than
0.02."""

LEADLINE = libraries.LEADLINE.on("fit")
BOTORCH = libraries.BOTORCH.on("fit")
SKLEARN = libraries.SKLEARN.on("fit")

EVIDENCE_BAR = -0.1
DENSITY_BAR = -0.02


def run(session: Session) -> list[Figure]:
    """Compare on every data set."""
    if datasets.data_folder() is None:
        print("  regression sets skipped: LEADLINE_DATA names no folder with a folder uci/")
    figures = []
    for name in datasets.quality_names():
        figures.append(
            _difference(session, SKLEARN, "log_evidence", name, "evidence", EVIDENCE_BAR)
        )
    for name in datasets.quality_names():
        figures.append(_difference(session, BOTORCH, "log_density", name, "density", DENSITY_BAR))
    return figures


def _difference(session, side, task, name, what, bar) -> Figure:
    ours, theirs = session.ask(LEADLINE, task, name=name), session.ask(side, task, name=name)
    check_same_data([ours, theirs])
    return Figure(
        f"{name}, {what}",
        f"{ours[task]:.3f}",
        side.name,
        f"{theirs[task]:.3f}",
        ours[task] - theirs[task],
        "nats better",
        bar,
    )
