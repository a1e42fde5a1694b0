"""Leadline's worker for contests: regrets of the methods that classify."""

from __future__ import annotations

import math
import time

import leadline as ll
from bench.harness import worker
from bench.problems.contests import CONTESTS
from bench.problems.functions import rosenbrock
from bench.problems.tables import table, train_networks

METHODS = {
    "BORE": ll.methods.BORE,
    "LFBO": ll.methods.LFBO,
    "TPE": ll.methods.TPE,
    "GP": ll.methods.GP,
}


def _space(contest):
    if contest.function is not None:
        return ll.Space([(0.0, 1.0)] * contest.dim)
    values, parameters = table(contest.name), {}
    for i, (size, ordered) in enumerate(zip(values.values.shape, values.ordered, strict=True)):
        parameters[f"x{i}"] = ll.Integer(0, size - 1) if ordered else ll.Choice(*range(size))
    return ll.Space(**parameters)


def regret(name, method, seed, **settings):
    """The regret of the best call."""
    contest = CONTESTS[name]
    found = ll.minimize(
        lambda point: contest.regret(point.values() if isinstance(point, dict) else point),
        _space(contest),
        budget=contest.budget,
        method=METHODS[method](initial=contest.initial, **settings),
        seed=seed,
        progress=False,
    )
    return {"regret": found.value}


def rosenbrock_regret(dim, method, seed):
    """The regret of 100 calls of Rosenbrock's function in so many dimensions."""
    found = ll.minimize(
        lambda x: float(rosenbrock(x[None])[0]),
        [(0.0, 1.0)] * dim,
        budget=100,
        method=METHODS[method](initial=20),
        seed=seed,
        progress=False,
    )
    return {"regret": found.value}


def hurried_regret(dim, method, seconds, seed):
    """The regret of as many calls of Rosenbrock's function as fit into a time, and how many."""
    question = ll.Minimize([(0.0, 1.0)] * dim, method=METHODS[method](initial=20), seed=seed)
    best, calls, end = math.inf, 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        (trial,) = question.ask()
        value = float(rosenbrock(trial.x[None])[0])
        question.tell(trial, value)
        best, calls = min(best, value), calls + 1
    return {"regret": best, "calls": calls}


def tables():
    """Make the tables that have to be made."""
    train_networks()
    return {}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib", "optax", "numpy", "scipy"),
            "regret": regret,
            "rosenbrock_regret": rosenbrock_regret,
            "hurried_regret": hurried_regret,
            "tables": tables,
        }
    )
