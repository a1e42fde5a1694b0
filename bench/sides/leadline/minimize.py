"""Leadline's worker for minimizing: one ask, a whole run, and what a run compiles."""

from __future__ import annotations

import math
import time

import numpy as np

import leadline as ll
from bench.harness import worker
from bench.harness.compilations import Compilations
from bench.problems import datasets
from bench.problems.functions import FUNCTIONS, LOWEST

INITIAL = 10


def _question(problem, rows, seed):
    question = ll.Minimize([(0.0, 1.0)] * 6, seed=seed)
    for x, y in zip(problem.x[:rows], problem.y[:rows], strict=True):
        question.tell(x, y)
    return question


def _timed_ask(question):
    before = question.state()
    start = time.perf_counter()
    (trial,) = question.ask()
    seconds = time.perf_counter() - start
    # The ask must have learned hyper-parameters again, and used them.
    assert {"expected_improvement", "improvement_sought"} & trial.notes.keys()
    assert question.state() is not before
    return seconds


def ask(n, seed):
    """One ask after `n` values of Hartmann-6: a fit from scratch, and the search."""
    problem = datasets.sampled("hartmann6", n, seed)
    seconds = _timed_ask(_question(problem, n, seed))
    return {"seconds": seconds, "digest": problem.digest()}


def ask_again(n, seed):
    """The same, where an earlier ask knew so few rows less that this one learns again."""
    problem = datasets.sampled("hartmann6", n, seed)
    before = n - math.ceil(n / 100)
    question = _question(problem, before, seed)
    question.fail(question.ask()[0], "not of interest")
    for x, y in zip(problem.x[before:], problem.y[before:], strict=True):
        question.tell(x, y)
    return {"seconds": _timed_ask(question), "digest": problem.digest()}


def ask_of_many(n, candidates, columns, seed):
    """The second ask after `n` values: of so many candidates, or in a box if there are none."""
    rng = np.random.default_rng(seed)
    space = ll.Pool(rng.random((candidates, columns))) if candidates else [(0.0, 1.0)] * columns
    question = ll.Minimize(space, seed=seed)
    for x in question.space.decode(question.space.spread(rng.random((n, columns)))):
        question.tell(x, float(np.sum((x - 0.3) ** 2) + np.sin(5.0 * x[0]) * x[1]))
    question.fail(question.ask()[0], "not of interest")
    question.tell(question.ask()[0], 1.0)
    return {"seconds": _timed_ask(question)}


def minimize(name, budget, seed, call_seconds=0.0):
    """A whole run."""
    function, dim = FUNCTIONS[name]

    def call(x):
        time.sleep(call_seconds)
        return float(function(x[None])[0])

    start = time.perf_counter()
    found = ll.minimize(
        call,
        [(0.0, 1.0)] * dim,
        budget=budget,
        method=ll.methods.GP(initial=INITIAL),
        seed=seed,
        progress=False,
    )
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "regret": found.value - LOWEST[name]}


def first_ask(dim, seed):
    """The first ask of the method in a box, after so many calls as the design has."""
    rng = np.random.default_rng(seed)
    start = time.perf_counter()
    question = ll.Minimize([(0.0, 1.0)] * dim, seed=seed)
    for x in rng.random((question.least_budget(), dim)):
        question.tell(x, float(np.sum((x - 0.3) ** 2)))
    question.ask()
    return {"seconds": time.perf_counter() - start}


def compiled(asks):
    """The programs that a run of so many asks compiles: at which ask, and which."""
    function, dim = FUNCTIONS["hartmann6"]
    question = ll.Minimize([(0.0, 1.0)] * dim, seed=0)
    by_ask = {}
    for number in range(asks):
        with Compilations() as compilations:
            (trial,) = question.ask()
            question.tell(trial, float(function(trial.x[None])[0]))
        by_ask[number] = list(compilations.names.elements())
    return {"compiled": by_ask}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib", "equinox", "numpy", "scipy"),
            "ask": ask,
            "ask_again": ask_again,
            "ask_of_many": ask_of_many,
            "minimize": minimize,
            "first_ask": first_ask,
            "compiled": compiled,
        }
    )
