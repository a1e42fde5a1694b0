"""BoTorch: draws by `draw_matheron_paths` from a `SingleTaskGP` with given hyper-parameters."""

from __future__ import annotations

import time

import torch
from botorch.models import SingleTaskGP
from botorch.sampling.pathwise import draw_kernel_feature_paths, draw_matheron_paths
from gpytorch.kernels import MaternKernel, ScaleKernel

from bench.harness import worker
from bench.problems import datasets


def _model(problem, noise):
    x, y = torch.as_tensor(problem.x), torch.as_tensor(problem.y)[:, None]
    kernel = ScaleKernel(MaternKernel(2.5, ard_num_dims=x.shape[1]))
    model = SingleTaskGP(x, y, covar_module=kernel, outcome_transform=None)
    kernel.outputscale = 1.0
    kernel.base_kernel.lengthscale = torch.full((x.shape[1],), datasets.LENGTHSCALE)
    model.likelihood.noise = noise
    model.mean_module.constant.data.zero_()
    return model.eval()


def _prior(features):
    """BoTorch's own prior sampler, with this number of features."""
    return lambda model, sample_shape: draw_kernel_feature_paths(
        model, sample_shape, num_features=features
    )


def draw(n, m, draws, features, noise, gradient, seed, times):
    """Draw functions and evaluate them; with `gradient`, also differentiate their sum."""
    problem = datasets.sampled("hartmann6", n, seed, held_out=m)
    model = _model(problem, noise)
    xs = torch.as_tensor(problem.xs)
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        with torch.set_grad_enabled(gradient):
            # A fresh copy has no gradient to add to.
            inputs = xs.clone().requires_grad_(gradient)
            paths = draw_matheron_paths(
                model, sample_shape=torch.Size([draws]), prior_sampler=_prior(features)
            )
            values = paths(inputs)
            if gradient:
                values.sum().backward()
        seconds.append(time.perf_counter() - start)
    shape = list(values.shape)
    mean = float(values.detach().mean())
    return {"seconds": min(seconds), "digest": problem.digest(), "shape": shape, "mean": mean}


if __name__ == "__main__":
    worker.serve({"versions": worker.versions("torch", "botorch", "gpytorch"), "draw": draw})
