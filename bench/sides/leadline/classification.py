"""Leadline's worker for asks of methods that classify."""

from __future__ import annotations

import time

import leadline as ll
from bench.harness import worker
from bench.problems import datasets

METHODS = {
    "BORE": lambda: ll.methods.BORE(epsilon=0.0),
    "LFBO": lambda: ll.methods.LFBO(epsilon=0.0),
    "TPE": ll.methods.TPE,
    "GP": ll.methods.GP,
}


def ask(method, n, seed):
    """One ask after `n` values of Hartmann-6, the last of which are new since the ask before it."""
    problem = datasets.sampled("hartmann6", n, seed, held_out=1)
    # A hundredth of the rows is new, so that a process learns its hyper-parameters again.
    before = n - max(1, n // 100)
    question = ll.Minimize([(0.0, 1.0)] * 6, method=METHODS[method](), seed=seed)
    for x, y in zip(problem.x[:before], problem.y[:before], strict=True):
        question.tell(x, y)
    question.fail(question.ask()[0], "not of interest")
    for x, y in zip(problem.x[before:], problem.y[before:], strict=True):
        question.tell(x, y)
    start = time.perf_counter()
    question.ask()
    return {"seconds": time.perf_counter() - start, "digest": problem.digest()}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib", "optax", "numpy", "scipy"),
            "ask": ask,
        }
    )
