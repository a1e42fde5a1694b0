"""BoTorch: regrets of `SingleTaskGP` with log-EI, also with noise and with constraints.

Inputs are scaled to the unit cube. With noise the value to improve on is the best posterior mean at
the calls so far, and the recommended call is the one where it is best. With constraints every
output has a model of its own. Whole numbers and choices are left out: the search over mixed spaces
(`optimize_acqf_mixed_alternating`) takes ten minutes for a run here.
"""

from __future__ import annotations

import numpy as np
import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.acquisition.analytic import (
    LogConstrainedExpectedImprovement,
    LogProbabilityOfFeasibility,
)
from botorch.fit import fit_gpytorch_mll
from botorch.models import ModelListGP, SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood, SumMarginalLogLikelihood

from bench.harness import worker
from bench.problems.objectives import CONSTRAINED, OBJECTIVES

INITIAL = 10


def _scaled(objective, x):
    """Inputs in the unit cube."""
    lower, upper = np.array(objective.lower), np.array(objective.upper)
    return torch.as_tensor((x - lower) / (upper - lower))


def _unscaled(objective, unit):
    lower, upper = np.array(objective.lower), np.array(objective.upper)
    return lower + (upper - lower) * unit.numpy()


def _design(objective, seed):
    engine = torch.quasirandom.SobolEngine(objective.dim, scramble=True, seed=seed)
    return _unscaled(objective, engine.draw(INITIAL).double())


def _fitted(x, y):
    model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _best_point(objective, acquisition):
    bounds = torch.stack([torch.zeros(objective.dim), torch.ones(objective.dim)]).double()
    point, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)
    return point.detach()


def _means(model, x):
    with torch.no_grad():
        return model.posterior(x).mean[:, 0]


def regret(name, noise, budget, seed):
    """The regret after `budget` calls: of the best call, or of the recommended one with noise."""
    objective, rng = OBJECTIVES[name], np.random.default_rng(seed)
    torch.manual_seed(seed)
    points = _design(objective, seed)
    values = objective.noisy(points, noise, rng)
    while True:
        x, y = _scaled(objective, points), -torch.as_tensor(values)[:, None]
        if len(points) == budget and not noise:
            best = int(np.argmin(values))
            break
        model = _fitted(x, y)
        means = _means(model, x)
        if len(points) == budget:
            best = int(means.argmax())
            break
        acquisition = LogExpectedImprovement(model, best_f=means.max() if noise else y.max())
        point = _unscaled(objective, _best_point(objective, acquisition))
        points = np.concatenate([points, point])
        values = np.append(values, objective.noisy(point, noise, rng))
    return {"regret": objective.regret(objective(points[best : best + 1])[0])}


def constrained_regret(name, budget, seed):
    """The regret of the best call that is allowed; the range if there is none."""
    objective = CONSTRAINED[name]
    torch.manual_seed(seed)
    points = _design(objective, seed)
    outcomes = objective(points)
    limits = {i: (None, 0.0) for i in range(1, objective.constraints + 1)}
    while len(points) < budget:
        x, y = _scaled(objective, points), torch.as_tensor(outcomes).clone()
        y[:, 0] *= -1
        models = [
            SingleTaskGP(x, y[:, [i]], outcome_transform=Standardize(1)) for i in range(y.shape[1])
        ]
        model = ModelListGP(*models)
        fit_gpytorch_mll(SumMarginalLogLikelihood(model.likelihood, model))
        allowed = (outcomes[:, 1:] <= 0).all(axis=1)
        if allowed.any():
            best = float(y[torch.as_tensor(allowed), 0].max())
            acquisition = LogConstrainedExpectedImprovement(model, best, 0, limits)
        else:
            acquisition = LogProbabilityOfFeasibility(model, limits)
        point = _unscaled(objective, _best_point(objective, acquisition))
        points = np.concatenate([points, point])
        outcomes = np.concatenate([outcomes, objective(point)])
    allowed = (outcomes[:, 1:] <= 0).all(axis=1)
    if not allowed.any():
        return {"regret": objective.range}
    return {"regret": objective.regret(outcomes[allowed, 0].min())}


if __name__ == "__main__":
    torch.set_num_threads(1)
    worker.serve(
        {
            "versions": worker.versions("torch", "botorch", "gpytorch"),
            "regret": regret,
            "constrained_regret": constrained_regret,
        }
    )
