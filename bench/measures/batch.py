"""Batches: how long an ask takes, and what the points are worth together."""

from __future__ import annotations

import statistics

import numpy as np

from bench.harness.figures import Figure, faster, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "Batches: several points at once"
WHAT = """Asks: Hartmann-6 at 50 uniform inputs with 1% noise, the same for both sides; a fit from
scratch and the search for q points, warm. BoTorch: `qLogExpectedImprovement`, 128 draws, 10
restarts from 512 raw samples; greedy is its `sequential=True`. Ours: `Minimize.ask(q)`, 10 searches
from 512 candidates for each point. Worth: draws of a process in 4 dimensions at 20 uniform inputs,
whose hyper-parameters both sides are given; the expected improvement of 8 points by the same
16 384 draws for both, as a part of BoTorch's, median over seeds."""

LEADLINE = libraries.LEADLINE.on("batch")
BOTORCH = libraries.BOTORCH.on("batch")

ROWS, SIZES, REPEATS, BAR = 50, (4, 8), 5, 10
DIM, KNOWN, Q, SEEDS, LEAST = 4, 20, 8, 6, 0.98
LENGTHSCALE, NOISE = 0.5, 1e-3
KINDS = {"greedy": True, "joint": False}


def run(session: Session) -> list[Figure]:
    """Times, then worth."""
    figures = []
    for q in SIZES:
        theirs, ours = {}, {}
        for kind, sequential in KINDS.items():
            asked = {"n": ROWS, "q": q}
            sides = ((LEADLINE, {"batch": kind}), (BOTORCH, {"sequential": sequential}))
            times: dict[str, list] = {"Leadline": [], "BoTorch": []}
            for side, how in sides:
                session.ask(side, "ask", seed=1000, **asked, **how)
            for seed in range(REPEATS):
                for side, how in sides:
                    times[side.name].append(session.ask(side, "ask", seed=seed, **asked, **how))
            ours[kind], theirs[kind] = median(times["Leadline"]), median(times["BoTorch"])
        for kind in KINDS:
            case = f"ask of {q}, {kind}"
            figures.append(faster(case, ours[kind], "BoTorch", theirs[kind], BAR))
        figures.append(
            faster(
                f"ask of {q}, greedy against joint", ours["greedy"], "BoTorch", theirs["joint"], BAR
            )
        )
    return figures + _worth(session)


def _worth(session: Session) -> list[Figure]:
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for seed in range(SEEDS):
        process = _process(seed)
        for kind, sequential in KINDS.items():
            how = {**process, "q": Q, "sequential": sequential, "seed": seed}
            sets = [session.ask(side, "batch", **how)["points"] for side in (LEADLINE, BOTORCH)]
            ours, theirs = session.ask(LEADLINE, "worth", **process, points=sets, seed=seed + 1)[
                "worth"
            ]
            found[kind].append(ours / theirs)
    return [
        Figure(
            f"worth of {Q} points, {kind}",
            "",
            "BoTorch",
            "",
            statistics.median(parts),
            "of theirs",
            LEAST,
            note=f"from {min(parts):.3f} to {max(parts):.3f}",
        )
        for kind, parts in found.items()
    ]


def _process(seed: int) -> dict:
    """Values of a draw of the process at uniform inputs."""
    rng = np.random.default_rng([seed, DIM])
    x = rng.uniform(size=(KNOWN, DIM))
    r = np.sqrt(5.0) * np.linalg.norm(x[:, None] - x[None], axis=-1) / LENGTHSCALE
    cov = (1 + r + r**2 / 3) * np.exp(-r) + NOISE * np.eye(KNOWN)
    y = np.linalg.cholesky(cov) @ rng.standard_normal(KNOWN)
    return {
        "rows": x.tolist(),
        "values": y.tolist(),
        "lengthscale": LENGTHSCALE,
        "noise": NOISE,
    }
