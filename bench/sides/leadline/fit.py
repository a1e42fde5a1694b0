"""Leadline's worker for what users do: fit, predict, and fit again as data grow."""

from __future__ import annotations

import time

import numpy as np

import leadline as ll
from bench.harness import worker
from bench.harness.compilations import Compilations
from bench.problems import datasets

KERNELS = {"rbf": ll.kernels.SquaredExponential, "matern52": ll.kernels.Matern52}


def _process(dim, kernel="rbf", mean=0.0):
    return ll.GP(1.0 * KERNELS[kernel](lengthscale=np.ones(dim)), mean=mean, noise=1e-2)


def _log_density(posterior, problem):
    """The mean log density of the held-out targets, each on its own."""
    return float(np.mean(posterior.predict(problem.xs, noise=True).log_prob(problem.ys)))


def fit_predict(n, seed, kernel="rbf"):
    """Fit `n` rows of Hartmann-6 and predict at 1000 points."""
    problem = datasets.sampled("hartmann6", n, seed)
    start = time.perf_counter()
    posterior = _process(6, kernel).fit(problem.x, problem.y)
    predicted = posterior.predict(problem.xs)
    _ = np.asarray(predicted.mean), np.asarray(predicted.var)
    seconds = time.perf_counter() - start
    density = _log_density(posterior, problem)
    return {"seconds": seconds, "log_density": density, "digest": problem.digest()}


def log_evidence(name):
    """The log evidence that maximum likelihood reaches, with mean zero."""
    problem = datasets.quality_problem(name)
    process = _process(problem.x.shape[1], mean=ll.fixed(0.0))
    posterior = process.fit(problem.x, problem.y, priors=None)
    return {"log_evidence": float(posterior.log_evidence), "digest": problem.digest()}


def log_density(name):
    """The held-out log density per row after a fit with default priors."""
    problem = datasets.quality_problem(name)
    posterior = _process(problem.x.shape[1]).fit(problem.x, problem.y)
    return {"log_density": _log_density(posterior, problem), "digest": problem.digest()}


def grow(first, last, go_on=False):
    """Fit at every number of rows from `first` to `last`; says which fits compiled what.

    With `go_on` each fit starts where the last one ended.
    """
    problem = datasets.sampled("hartmann6", last, seed=0)
    compiled = {}
    start = time.perf_counter()
    process = _process(6)
    for n in range(first, last + 1):
        with Compilations() as compilations:
            posterior = process.fit(problem.x[:n], problem.y[:n])
            process = posterior.gp if go_on else _process(6)
        if compilations.names:
            compiled[n] = dict(compilations.names)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "compiled": compiled, "digest": problem.digest()}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib", "equinox", "numpy", "scipy"),
            "fit_predict": fit_predict,
            "log_evidence": log_evidence,
            "log_density": log_density,
            "grow": grow,
        }
    )
