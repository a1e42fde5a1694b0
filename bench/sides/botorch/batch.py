"""BoTorch: batches by `qLogExpectedImprovement`, 10 restarts from 512 raw samples."""

from __future__ import annotations

import time

import numpy as np
import torch
from botorch.acquisition import qLogExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from gpytorch.kernels import MaternKernel, ScaleKernel
from gpytorch.likelihoods import GaussianLikelihood
from gpytorch.means import ZeroMean
from gpytorch.mlls import ExactMarginalLogLikelihood

from bench.harness import worker
from bench.problems import datasets

DRAWS = 128


def _batch(model, best, dim, q, sequential, seed):
    sampler = SobolQMCNormalSampler(torch.Size([DRAWS]), seed=seed)
    acquisition = qLogExpectedImprovement(model, best_f=best, sampler=sampler)
    cube = torch.stack([torch.zeros(dim), torch.ones(dim)]).double()
    points, _ = optimize_acqf(
        acquisition, cube, q=q, num_restarts=10, raw_samples=512, sequential=sequential
    )
    return points


def ask(n, q, sequential, seed):
    """One ask of `q` points after `n` values of Hartmann-6: a fit, and the search."""
    problem = datasets.sampled("hartmann6", n, seed)
    torch.manual_seed(seed)
    x, y = torch.as_tensor(problem.x), -torch.as_tensor(problem.y)[:, None]
    start = time.perf_counter()
    model = SingleTaskGP(x, y, outcome_transform=Standardize(1))
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    _batch(model, y.max(), 6, q, sequential, seed)
    return {"seconds": time.perf_counter() - start, "digest": problem.digest()}


def batch(rows, values, lengthscale, noise, q, sequential, seed):
    """The batch for a process that is given, not fitted."""
    torch.manual_seed(seed)
    x, y = torch.tensor(rows).double(), torch.tensor(values).double()[:, None]
    kernel = ScaleKernel(MaternKernel(nu=2.5))
    model = SingleTaskGP(
        x,
        y,
        likelihood=GaussianLikelihood(),
        covar_module=kernel,
        mean_module=ZeroMean(),
        outcome_transform=None,
    )
    model.likelihood.noise = noise
    kernel.outputscale = 1.0
    kernel.base_kernel.lengthscale = lengthscale
    model.eval()
    points = _batch(model, float(np.max(values)), x.shape[1], q, sequential, seed)
    return {"points": points.tolist()}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("torch", "botorch", "gpytorch"),
            "ask": ask,
            "batch": batch,
        }
    )
