"""BoTorch: `SingleTaskGP` with its defaults and log-EI, 10 restarts from 512 raw samples."""

from __future__ import annotations

import time

import torch
from botorch.acquisition import LogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from gpytorch.mlls import ExactMarginalLogLikelihood

from bench.harness import worker
from bench.problems import datasets
from bench.problems.functions import FUNCTIONS, LOWEST

INITIAL = 10


def _ask(x, y):
    """The next point, for maximization of `y` over the unit cube."""
    model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    acquisition = LogExpectedImprovement(model, best_f=y.max())
    cube = torch.stack([torch.zeros(x.shape[1]), torch.ones(x.shape[1])]).double()
    point, _ = optimize_acqf(acquisition, bounds=cube, q=1, num_restarts=10, raw_samples=512)
    return point


def ask(n, seed):
    """One ask after `n` values of Hartmann-6."""
    problem = datasets.sampled("hartmann6", n, seed)
    torch.manual_seed(seed)
    x, y = torch.as_tensor(problem.x), -torch.as_tensor(problem.y)[:, None]
    start = time.perf_counter()
    _ask(x, y)
    return {"seconds": time.perf_counter() - start, "digest": problem.digest()}


def minimize(name, budget, seed):
    """A whole run from a Sobol design."""
    function, dim = FUNCTIONS[name]
    torch.manual_seed(seed)
    start = time.perf_counter()
    x = torch.quasirandom.SobolEngine(dim, scramble=True, seed=seed).draw(INITIAL).double()
    y = -torch.as_tensor(function(x.numpy()))[:, None]
    while len(x) < budget:
        point = _ask(x, y)
        x = torch.cat([x, point])
        y = torch.cat([y, -torch.as_tensor(function(point.numpy()))[:, None]])
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "regret": float(-y.max()) - LOWEST[name]}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("torch", "botorch", "gpytorch"),
            "ask": ask,
            "minimize": minimize,
        }
    )
