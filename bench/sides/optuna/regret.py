"""Optuna: regrets of its `GPSampler` and its `TPESampler` with their defaults."""

from __future__ import annotations

import numpy as np
import optuna

from bench.harness import worker
from bench.problems.objectives import OBJECTIVES

INITIAL = 10
SAMPLERS = {"gp": optuna.samplers.GPSampler, "tpe": optuna.samplers.TPESampler}
optuna.logging.set_verbosity(optuna.logging.ERROR)


def _space(objective):
    space = {}
    for i, (low, high) in enumerate(zip(objective.lower, objective.upper, strict=True)):
        if i in objective.choices:
            options = list(range(int(low), int(high) + 1))
            space[f"x{i}"] = optuna.distributions.CategoricalDistribution(options)
        elif i in objective.integers:
            space[f"x{i}"] = optuna.distributions.IntDistribution(int(low), int(high))
        else:
            space[f"x{i}"] = optuna.distributions.FloatDistribution(low, high)
    return space


def regret(name, sampler, budget, seed):
    """The regret of the best of `budget` calls."""
    objective = OBJECTIVES[name]
    study = optuna.create_study(sampler=SAMPLERS[sampler](seed=seed, n_startup_trials=INITIAL))
    space = _space(objective)
    for _ in range(budget):
        trial = study.ask(space)
        x = np.array([[float(trial.params[key]) for key in space]])
        study.tell(trial, float(objective(x)[0]))
    return {"regret": objective.regret(study.best_value)}


if __name__ == "__main__":
    worker.serve({"versions": worker.versions("optuna"), "regret": regret})
