"""Leadline's worker for regrets: whole runs of the method "gp" with its defaults."""

from __future__ import annotations

from functools import partial

import numpy as np

import leadline as ll
from bench.harness import worker
from bench.problems.objectives import CONSTRAINED, OBJECTIVES

INITIAL = 10


def _space(objective):
    parameters = {}
    for i, (low, high) in enumerate(zip(objective.lower, objective.upper, strict=True)):
        if i in objective.choices:
            parameters[f"x{i}"] = ll.Choice(*range(int(low), int(high) + 1))
        elif i in objective.integers:
            parameters[f"x{i}"] = ll.Integer(int(low), int(high))
        else:
            parameters[f"x{i}"] = ll.Real(low, high)
    return ll.Space(**parameters)


def _point(params):
    return np.array([[float(value) for value in params.values()]])


METHODS = {"thompson": lambda: ll.methods.Thompson(initial=INITIAL)} | {
    name: partial(ll.methods.GP, name, initial=INITIAL)
    for name in ("log_ei", "pi", "ucb", "emax", "kg", "two_step", "mes", "jes")
}


def regret(name, noise, budget, seed, method="log_ei"):
    """The regret of the answer, without noise."""
    objective, rng = OBJECTIVES[name], np.random.default_rng(seed)
    found = ll.minimize(
        lambda params: float(objective.noisy(_point(params), noise, rng)[0]),
        _space(objective),
        budget=budget,
        method=METHODS[method](),
        seed=seed,
        progress=False,
    )
    return {"regret": objective.regret(objective(_point(found.x))[0])}


def constrained_regret(name, budget, seed):
    """The regret of the best call that is allowed; the range if there is none."""
    objective = CONSTRAINED[name]

    def call(params):
        value, *limits = objective(_point(params))[0]
        return float(value), [float(limit) for limit in limits]

    found = ll.minimize(
        call,
        _space(objective),
        budget=budget,
        constraints=objective.constraints,
        method=ll.methods.GP(initial=INITIAL),
        seed=seed,
        progress=False,
    )
    return {"regret": objective.range if found.x is None else objective.regret(found.value)}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib", "equinox", "numpy", "scipy"),
            "regret": regret,
            "constrained_regret": constrained_regret,
        }
    )
