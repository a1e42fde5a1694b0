"""Regrets of whole runs: without noise, with noise, and with constraints."""

from __future__ import annotations

from bench.harness.figures import Figure, median
from bench.harness.session import Session
from bench.problems.objectives import CONSTRAINED, FLOOR, OBJECTIVES, Objective
from bench.sides import libraries

TITLE = "Regret after 60 calls, of which 10 are a design"
WHAT = """Medians over seeds: 20 of ours, 5 of each peer. Regrets below 1e-4 of a function's range
count as that. Without noise: the best call. With noise (1% and 10% of the range): the true value at
the call that each side recommends. With constraints: the best call that is allowed. BoTorch:
`SingleTaskGP` and log-EI (with noise the value to improve on, and the recommended call, are by the
posterior mean at the calls; with constraints the constrained form); Optuna: `GPSampler` and
`TPESampler`; all with their defaults. `training` is a made-up loss of two real, two whole and one
categorical setting; BoTorch is left out there, where its search takes ten minutes a run."""

LEADLINE = libraries.LEADLINE.on("regret")
BOTORCH = libraries.BOTORCH.on("regret")
OPTUNA = libraries.OPTUNA.on("regret")

BUDGET, OURS, THEIRS = 60, 20, 5
NOISES = (0.01, 0.1)
# How many of the functions must be at or below the peer's median.
NEEDED, NEEDED_WITH_NOISE = 6, 5
Medians = dict[str, float]


def run(session: Session) -> list[Figure]:
    """All three parts."""
    figures = _without_noise(session)
    for noise in NOISES:
        figures += _with_noise(session, noise)
    return figures + _with_constraints(session)


def _median(session: Session, side, task: str, seeds: int, **arguments) -> float:
    found = [session.ask(side, task, budget=BUDGET, seed=s, **arguments) for s in range(seeds)]
    return median(found, "regret")


def _counted(objective: Objective, regret: float) -> float:
    return max(regret, FLOOR * objective.range)


def _figure(case, objective: Objective, ours, peer, theirs, bar, note="") -> Figure:
    ratio = _counted(objective, ours) / _counted(objective, theirs)
    shown = (f"{ours:.2g}", peer, f"{theirs:.2g}")
    return Figure(case, *shown, ratio, "of their regret", bar, at_least=False, note=note)


def _without_noise(session: Session) -> list[Figure]:
    figures, good = [], 0
    for name, objective in OBJECTIVES.items():
        ours = _median(session, LEADLINE, "regret", OURS, name=name, noise=0.0)
        peers = {}
        if not objective.choices:
            peers["BoTorch"] = _median(session, BOTORCH, "regret", THEIRS, name=name, noise=0.0)
        peers["Optuna GP"], tpe = (
            _median(session, OPTUNA, "regret", THEIRS, name=name, sampler=sampler)
            for sampler in ("gp", "tpe")
        )
        peer = min(peers, key=lambda side: peers[side])
        others = ", ".join(f"{side} {regret:.2g}" for side, regret in peers.items())
        figures.append(_figure(name, objective, ours, peer, peers[peer], 2.0, others))
        floored = ours <= FLOOR * objective.range
        note = "ours is at the smallest regret that counts" if floored else ""
        # No regret can be a third of one that is below three times the smallest that counts.
        reachable = tpe >= 3 * FLOOR * objective.range
        bar = 1 / 3 if reachable else None
        figures.append(_figure(name, objective, ours, "Optuna TPE", tpe, bar, note))
        good += figures[-2].value <= 1.0
    return [*figures, _count("at or below the better of both GPs", good, len(OBJECTIVES), NEEDED)]


def _with_noise(session: Session, noise: float) -> list[Figure]:
    figures, good = [], 0
    for name, objective in OBJECTIVES.items():
        if objective.choices:
            continue
        ours = _median(session, LEADLINE, "regret", OURS, name=name, noise=noise)
        theirs = _median(session, BOTORCH, "regret", THEIRS, name=name, noise=noise)
        case = f"{name}, noise {noise:.0%}"
        figures.append(_figure(case, objective, ours, "BoTorch", theirs, None))
        good += figures[-1].value <= 1.0
    case = f"at or below BoTorch's, noise {noise:.0%}"
    return [*figures, _count(case, good, len(figures), NEEDED_WITH_NOISE)]


def _with_constraints(session: Session) -> list[Figure]:
    figures = []
    for name, objective in CONSTRAINED.items():
        ours = _median(session, LEADLINE, "constrained_regret", OURS, name=name)
        theirs = _median(session, BOTORCH, "constrained_regret", THEIRS, name=name)
        figures.append(_figure(f"{name}, constrained", objective, ours, "BoTorch", theirs, 1.0))
    return figures


def _count(case: str, good: int, of: int, needed: int) -> Figure:
    return Figure(case, f"{good} of {of}", "", "", good, "functions", needed)
