"""Leadline's worker for batches: asks of several points, and what batches are worth."""

from __future__ import annotations

import time

import jax
import numpy as np

import leadline as ll
from bench.harness import worker
from bench.problems import datasets
from leadline.acquisition import (
    Improvement,
    LogExpectedImprovement,
    LogMonteCarlo,
    MonteCarlo,
    base_samples,
    maximize,
)
from leadline.spaces import as_space

DRAWS, VALUATION_DRAWS = 128, 2**14


def ask(n, q, batch, seed):
    """One ask of `q` points after `n` values of Hartmann-6: a fit from scratch, and the search."""
    problem = datasets.sampled("hartmann6", n, seed)
    question = ll.Minimize([(0.0, 1.0)] * 6, method=ll.methods.GP(batch=batch), seed=seed)
    for x, y in zip(problem.x, problem.y, strict=True):
        question.tell(x, y)
    start = time.perf_counter()
    question.ask(q)
    return {"seconds": time.perf_counter() - start, "digest": problem.digest()}


def _posterior(rows, values, lengthscale, noise):
    kernel = 1.0 * ll.kernels.Matern52(np.full(len(rows[0]), lengthscale))
    return ll.GP(kernel, noise=noise).condition(np.array(rows), np.array(values))


def batch(rows, values, lengthscale, noise, q, sequential, seed):
    """The batch for a process that is given, not fitted."""
    posterior = _posterior(rows, values, lengthscale, noise)
    space, best, key = as_space([(0.0, 1.0)] * len(rows[0])), np.max(values), jax.random.key(seed)
    order = np.argsort(-np.array(values))[:4]
    near = {"close_to": np.array(rows)[order], "avoid": np.array(rows)}
    found = maximize(LogExpectedImprovement(posterior, best), space, key, q=q, **near)
    if not sequential:
        together = LogMonteCarlo(posterior, Improvement(best), base_samples(DRAWS, q))
        found = maximize(together, space, key, q=q, batch="joint", start=found.rows, **near)
    return {"points": found.rows.tolist()}


def worth(rows, values, lengthscale, noise, points, seed):
    """The expected improvement of batches, all by the same draws."""
    posterior = _posterior(rows, values, lengthscale, noise)
    sets = np.array(points)
    base = base_samples(VALUATION_DRAWS, sets.shape[1], seed)
    utility = Improvement(np.max(values))
    valued = MonteCarlo(posterior, utility, base, rao_blackwell=False)
    return {"worth": np.asarray(valued.values(sets)).tolist()}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib", "equinox", "numpy", "scipy"),
            "ask": ask,
            "batch": batch,
            "worth": worth,
        }
    )
