"""Optuna's `GPSampler` with its defaults, in memory."""

from __future__ import annotations

import time

import numpy as np
import optuna

from bench.harness import worker
from bench.problems import datasets
from bench.problems.functions import FUNCTIONS, LOWEST

INITIAL = 10
optuna.logging.set_verbosity(optuna.logging.ERROR)


def _study(dim, seed):
    sampler = optuna.samplers.GPSampler(seed=seed, n_startup_trials=INITIAL)
    space = {f"x{i}": optuna.distributions.FloatDistribution(0.0, 1.0) for i in range(dim)}
    return optuna.create_study(sampler=sampler), space


def ask(n, seed):
    """One ask after `n` values of Hartmann-6."""
    problem = datasets.sampled("hartmann6", n, seed)
    study, space = _study(6, seed)
    for x, y in zip(problem.x, problem.y, strict=True):
        values = dict(zip(space, x.tolist(), strict=True))
        study.add_trial(
            optuna.trial.create_trial(params=values, distributions=space, value=float(y))
        )
    start = time.perf_counter()
    study.ask(space)
    return {"seconds": time.perf_counter() - start, "digest": problem.digest()}


def minimize(name, budget, seed):
    """A whole run."""
    function, dim = FUNCTIONS[name]
    start = time.perf_counter()
    study, space = _study(dim, seed)
    for _ in range(budget):
        trial = study.ask(space)
        x = np.array([[trial.params[k] for k in space]])
        study.tell(trial, float(function(x)[0]))
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "regret": study.best_value - LOWEST[name]}


if __name__ == "__main__":
    worker.serve({"versions": worker.versions("optuna"), "ask": ask, "minimize": minimize})
