"""BoTorch: regrets of `SingleTaskGP` with log-EI, also with noise and with constraints.

Inputs are scaled to the unit cube. With whole numbers and choices the model is `MixedSingleTaskGP`,
searched by alternating discrete and continuous steps, 4 restarts from 128 raw samples: with 10 from
512, as elsewhere, a run takes ten minutes. With noise the value to improve on is the
best posterior mean at the calls so far, and the recommended call is the one where it is best. With
constraints every output has a model of its own.
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
from botorch.models import MixedSingleTaskGP, ModelListGP, SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from botorch.optim.optimize_mixed import optimize_acqf_mixed_alternating
from gpytorch.mlls import ExactMarginalLogLikelihood, SumMarginalLogLikelihood

from bench import worker
from bench.objectives import CONSTRAINED, OBJECTIVES

INITIAL = 10


def _scaled(objective, x):
    """Inputs in the unit cube; choices stay as they are."""
    lower, upper = np.array(objective.lower), np.array(objective.upper)
    unit = (x - lower) / (upper - lower)
    unit[:, list(objective.choices)] = x[:, list(objective.choices)]
    return torch.as_tensor(unit)


def _unscaled(objective, unit):
    lower, upper = np.array(objective.lower), np.array(objective.upper)
    x = lower + (upper - lower) * unit.numpy()
    x[:, list(objective.integers)] = np.round(x[:, list(objective.integers)])
    x[:, list(objective.choices)] = np.round(unit.numpy()[:, list(objective.choices)])
    return x


def _design(objective, seed):
    engine = torch.quasirandom.SobolEngine(objective.dim, scramble=True, seed=seed)
    unit = engine.draw(INITIAL).double().numpy()
    lower, upper = np.array(objective.lower), np.array(objective.upper)
    x = lower + (upper - lower) * unit
    for i in (*objective.integers, *objective.choices):
        x[:, i] = lower[i] + np.floor(unit[:, i] * (upper[i] - lower[i] + 1))
    return x


def _fitted(objective, x, y):
    """A model of one output, larger or smaller alike."""
    if objective.choices:
        model = MixedSingleTaskGP(
            x, y, cat_dims=list(objective.choices), outcome_transform=Standardize(1)
        )
    else:
        model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _best_point(objective, acquisition):
    lower, upper = np.array(objective.lower), np.array(objective.upper)
    bounds = torch.stack([torch.zeros(objective.dim), torch.ones(objective.dim)]).double()
    if not objective.choices:
        point, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)
        return point.detach()
    for i in objective.choices:
        bounds[1, i] = upper[i]
    discrete = {
        i: np.linspace(0, 1, int(upper[i] - lower[i]) + 1).tolist() for i in objective.integers
    }
    cats = {i: list(range(int(upper[i]) + 1)) for i in objective.choices}
    point, _ = optimize_acqf_mixed_alternating(
        acquisition, bounds, discrete_dims=discrete, cat_dims=cats, num_restarts=4, raw_samples=128
    )
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
        model = _fitted(objective, x, y)
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
