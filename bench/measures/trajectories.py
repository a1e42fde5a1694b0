"""Trajectories of a learned system: function draws against exact sampling along the way."""

from __future__ import annotations

import numpy as np

from bench.harness.figures import Figure, duration
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "1000 trajectories of FitzHugh-Nagumo, 1000 steps"
WHAT = """Two sparse processes (256 transitions, 32 inducing points) learn the neuron's increments.
Pathwise: each trajectory follows one function draw (1024 features). Iterative: drift values are
drawn one after the other given all before them, which is exact, and ours as well. Its time is
measured up to 400 steps and extrapolated with the cube of the number of steps, from the largest
(the slope is shown); the law of both is compared at 25, 50, 75 and 100 steps."""

LEADLINE = libraries.LEADLINE.on("dynamics")

TRAJECTORIES, STEPS = 1000, 1000
MEASURED, FEW = (100, 200, 400), 20
COMPARED, DRAWS = 100, 1000


def run(session: Session) -> list[Figure]:
    """Time, extrapolate, and compare laws."""
    ask = session.ask
    paths = ask(LEADLINE, "simulate", sampler="pathwise", n=TRAJECTORIES, steps=STEPS, seed=0)
    iterative = [
        ask(LEADLINE, "simulate", sampler="iterative", n=FEW, steps=t, seed=0)["seconds"]
        for t in MEASURED
    ]
    exponent = float(np.polyfit(np.log(MEASURED), np.log(iterative), 1)[0])
    whole = iterative[-1] * TRAJECTORIES / FEW * (STEPS / MEASURED[-1]) ** 3
    found = {
        name: ask(LEADLINE, "moments", sampler=name, n=DRAWS, steps=COMPARED, seed=seed)
        for name, seed in (("pathwise", 1), ("iterative", 2))
    }
    ours, exact = ({k: np.array(v) for k, v in found[s].items()} for s in ("pathwise", "iterative"))
    errors = np.hypot(ours["std"], exact["std"]) / np.sqrt(DRAWS)
    apart = float(np.max(np.abs(ours["mean"] - exact["mean"]) / errors))
    ratio = ours["std"] / exact["std"]
    furthest = float(np.max(np.abs(np.log(ratio))))
    return [
        Figure(
            "time",
            duration(paths["seconds"]),
            "iterative, extrapolated",
            duration(whole),
            whole / paths["seconds"],
            "times faster",
            100,
            note=f"measured exponent {exponent:.2g}",
        ),
        Figure(
            "means apart",
            f"{DRAWS} trajectories",
            "iterative",
            f"{DRAWS} trajectories",
            apart,
            "standard errors at most",
            4,
            at_least=False,
        ),
        Figure(
            "ratio of standard deviations",
            f"{ratio.min():.3f} to {ratio.max():.3f}",
            "iterative",
            "1",
            float(np.exp(furthest)),
            "or its inverse, at most",
            1.1,
            at_least=False,
        ),
    ]
