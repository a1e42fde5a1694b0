"""Optuna: regrets of its `TPESampler` and of its random sampler in contests."""

from __future__ import annotations

import optuna

from bench.harness import worker
from bench.problems.contests import CONTESTS
from bench.problems.tables import table

optuna.logging.set_verbosity(optuna.logging.ERROR)


def _space(contest):
    if contest.function is not None:
        distribution = optuna.distributions.FloatDistribution(0.0, 1.0)
        return {f"x{i}": distribution for i in range(contest.dim)}
    values, space = table(contest.name), {}
    for i, (size, ordered) in enumerate(zip(values.values.shape, values.ordered, strict=True)):
        if ordered:
            space[f"x{i}"] = optuna.distributions.IntDistribution(0, size - 1)
        else:
            space[f"x{i}"] = optuna.distributions.CategoricalDistribution(list(range(size)))
    return space


def _sampler(name, contest, seed):
    if name == "random":
        return optuna.samplers.RandomSampler(seed=seed)
    return optuna.samplers.TPESampler(seed=seed, n_startup_trials=contest.initial)


def regret(name, sampler, seed):
    """The regret of the best call."""
    contest = CONTESTS[name]
    study, space = optuna.create_study(sampler=_sampler(sampler, contest, seed)), _space(contest)
    for _ in range(contest.budget):
        trial = study.ask(space)
        study.tell(trial, contest.regret([trial.params[key] for key in space]))
    return {"regret": study.best_value}


if __name__ == "__main__":
    worker.serve({"versions": worker.versions("optuna"), "regret": regret})
