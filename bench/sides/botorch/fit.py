"""BoTorch: `SingleTaskGP` with its defaults, inputs normalized and targets standardized.

Its default kernel is a squared exponential with one length scale per input and unit variance, with
priors on length scales and noise. Importing BoTorch makes GPyTorch exact (no conjugate gradients).
"""

from __future__ import annotations

import time

import torch
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from gpytorch.mlls import ExactMarginalLogLikelihood

from bench.harness import worker
from bench.problems import datasets


def _fitted(x, y):
    x, y = torch.as_tensor(x), torch.as_tensor(y)[:, None]
    model = SingleTaskGP(
        x, y, input_transform=Normalize(x.shape[1]), outcome_transform=Standardize(1)
    )
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model


def _log_density(model, problem):
    """The mean log density of the held-out targets, each on its own."""
    with torch.no_grad():
        predicted = model.posterior(torch.as_tensor(problem.xs), observation_noise=True)
        normal = torch.distributions.Normal(predicted.mean[:, 0], predicted.variance[:, 0].sqrt())
        return float(normal.log_prob(torch.as_tensor(problem.ys)).mean())


def fit_predict(n, seed, kernel="rbf"):
    """Fit `n` rows of Hartmann-6 and predict at 1000 points."""
    if kernel != "rbf":
        raise ValueError(f"BoTorch's default kernel is rbf, not {kernel}")
    problem = datasets.sampled("hartmann6", n, seed)
    start = time.perf_counter()
    model = _fitted(problem.x, problem.y)
    with torch.no_grad():
        predicted = model.posterior(torch.as_tensor(problem.xs))
        _ = predicted.mean.numpy(), predicted.variance.numpy()
    seconds = time.perf_counter() - start
    density = _log_density(model, problem)
    return {"seconds": seconds, "log_density": density, "digest": problem.digest()}


def value_and_grad(n, repeats):
    """Evaluate the marginal likelihood and its gradient, `repeats` times after a warm-up."""
    problem = datasets.sampled("hartmann6", n, seed=0)
    x, y = torch.as_tensor(problem.x), torch.as_tensor(problem.y)[:, None]
    model = SingleTaskGP(
        x, y, input_transform=Normalize(x.shape[1]), outcome_transform=Standardize(1)
    )
    mll = ExactMarginalLogLikelihood(model.likelihood, model)
    mll.train()
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        mll.zero_grad()
        # In training mode the model normalizes its inputs itself.
        loss = -mll(model(*model.train_inputs), model.train_targets)
        loss.backward()
        seconds.append(time.perf_counter() - start)
    return {"seconds": seconds[1:]}


def log_density(name):
    """The held-out log density per row after a fit with default priors."""
    problem = datasets.quality_problem(name)
    density = _log_density(_fitted(problem.x, problem.y), problem)
    return {"log_density": density, "digest": problem.digest()}


def grow(first, last):
    """Fit at every number of rows from `first` to `last`."""
    problem = datasets.sampled("hartmann6", last, seed=0)
    start = time.perf_counter()
    for n in range(first, last + 1):
        _fitted(problem.x[:n], problem.y[:n])
    return {"seconds": time.perf_counter() - start, "digest": problem.digest()}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("torch", "botorch", "gpytorch"),
            "fit_predict": fit_predict,
            "value_and_grad": value_and_grad,
            "log_density": log_density,
            "grow": grow,
        }
    )
