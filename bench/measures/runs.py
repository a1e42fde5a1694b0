"""Whole runs of 60 calls in new processes, and what a run of 100 asks compiles."""

from __future__ import annotations

import statistics
import tempfile

from bench.harness.figures import Figure, duration, faster, median
from bench.harness.session import Session
from bench.sides import libraries

TITLE = "A run of 60 calls in a new process"
WHAT = """10 calls of a Sobol design, then 50 asks with a fit and a search each; the functions cost
nothing. From the start of the process to its answer. Empty: nothing compiled before. Filled: with
the compilation cache of an earlier process. The note gives the regrets of these runs (one seed): to
show that time is not bought with quality, not to compare methods."""

LEADLINE = libraries.LEADLINE.on("minimize")
BOTORCH = libraries.BOTORCH.on("minimize")
OPTUNA = libraries.OPTUNA.on("minimize")

BUDGET, REPEATS = 60, 3
# Bars with an empty and with a filled cache, against BoTorch and against Optuna.
FUNCTIONS = {
    "hartmann6": ((3, 6), (1.5, 3)),
    "ackley5": ((3, 6), (1.5, 3)),
    "branin": ((3, 4), (1.5, 3)),
    "rosenbrock4": ((3, 6), (1.5, 3)),
}
# Seconds that a call takes in the last case.
SLOW = 0.5
# So many asks reach the second of these numbers of rows, and have programs made for the third.
ASKS, BUCKETS = 100, (64, 128, 256)


def run(session: Session) -> list[Figure]:
    """Runs of all sides in turns, then the compilations."""
    figures = []
    for name, bars in FUNCTIONS.items():
        arguments = {"name": name, "budget": BUDGET, "seed": 0}
        cold, filled, botorch, optuna = [], [], [], []
        for turn in range(REPEATS):
            with tempfile.TemporaryDirectory() as programs:
                cold.append(session.fresh(LEADLINE, "minimize", programs, **arguments))
                filled.append(session.fresh(LEADLINE, "minimize", programs, **arguments))
            theirs = {"turn": turn, **arguments}
            botorch.append(session.fresh(BOTORCH, "minimize", **theirs))
            optuna.append(session.fresh(OPTUNA, "minimize", **theirs))
        sides = ((BOTORCH.name, botorch), (OPTUNA.name, optuna))
        for (peer, answers), (cold_bar, filled_bar) in zip(sides, bars, strict=True):
            note = f"regret {median(cold, 'regret'):.2g}, theirs {median(answers, 'regret'):.2g}"
            for case, ours, bar in (("empty", cold, cold_bar), ("filled", filled, filled_bar)):
                times = [median(side, "process_seconds") for side in (ours, answers)]
                figures.append(faster(f"{name}, cache {case}", times[0], peer, times[1], bar, note))
    return [*figures, _slow_calls(session), _compilations(session)]


def _slow_calls(session: Session) -> Figure:
    """What a run takes beyond its calls, if they leave time to compile."""
    beyond: dict[str, list[float]] = {"empty": [], "filled": []}
    arguments = {"name": "hartmann6", "budget": BUDGET, "seed": 0, "call_seconds": SLOW}
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as programs:
            for case in beyond:
                answer = session.fresh(LEADLINE, "minimize", programs, **arguments)
                beyond[case].append(answer["process_seconds"] - BUDGET * SLOW)
    empty, filled = (statistics.median(found) for found in beyond.values())
    return Figure(
        f"hartmann6, calls of {SLOW} s: beyond the calls, cache empty",
        duration(empty),
        "cache filled",
        duration(filled),
        empty / filled,
        "times as long",
        1.3,
        at_least=False,
    )


def _compilations(session: Session) -> Figure:
    """How often the run compiled one program: once for each size that its data are padded to.

    When is not the same from run to run, since programs for more rows are made ahead.
    """
    with tempfile.TemporaryDirectory() as programs:
        answer = session.fresh(LEADLINE, "compiled", programs, asks=ASKS)
    names = [name for found in answer["compiled"].values() for name in found]
    most = max(names.count(name) for name in names)
    repeated = sorted({name for name in names if names.count(name) > len(BUCKETS)})
    sizes = ", ".join(map(str, BUCKETS))
    return Figure(
        f"compilations of one program, {ASKS} asks, for up to {sizes} rows",
        str(most),
        "",
        "",
        most,
        "times at most",
        len(BUCKETS),
        at_least=False,
        note=f"{len(names)} programs" + (f"; more often: {repeated}" * bool(repeated)),
    )
