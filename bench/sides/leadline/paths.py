"""Leadline's worker for function draws: drawing, evaluating, differentiating, long queries."""

from __future__ import annotations

import time

import equinox as eqx
import jax
import numpy as np

import leadline as ll
from bench.harness import worker
from bench.harness.memory import peak_memory
from bench.problems import datasets


def _posterior(problem, noise):
    kernel = 1.0 * ll.kernels.Matern52(np.full(problem.x.shape[1], datasets.LENGTHSCALE))
    return ll.GP(kernel, noise=noise).condition(problem.x, problem.y)


@eqx.filter_jit
def _value_and_gradient(paths, x):
    """The draws, and the gradient of their sum, as a user would write it."""
    values, pull_back = jax.vjp(lambda x: paths(x), x)
    return values, pull_back(np.ones(values.shape))[0]


def draw(n, m, draws, features, noise, gradient, seed, times):
    """Draw functions and evaluate them; with `gradient`, also differentiate their sum."""
    problem = datasets.sampled("hartmann6", n, seed, held_out=m)
    posterior = _posterior(problem, noise)
    seconds = []
    for repeat in range(times):
        start = time.perf_counter()
        paths = posterior.paths(jax.random.key(repeat), draws, features=features)
        if gradient:
            values, _ = jax.block_until_ready(_value_and_gradient(paths, problem.xs))
        else:
            values = jax.block_until_ready(paths(problem.xs))
        seconds.append(time.perf_counter() - start)
    return {
        "seconds": min(seconds),
        "digest": problem.digest(),
        "shape": list(values.shape),
        "mean": float(values.mean()),
    }


def long_query(n, m, draws, features, repeats):
    """Evaluate draws at `m` points: the time, and how far the peak of memory grows."""
    problem = datasets.sampled("hartmann6", n, seed=0, held_out=1000)
    paths = _posterior(problem, 1e-3).paths(jax.random.key(0), draws, features=features)
    jax.block_until_ready(paths(np.repeat(problem.xs, 3, axis=0)))
    xs = np.random.default_rng(0).uniform(size=(m, problem.x.shape[1]))
    before, seconds = peak_memory(), []
    for _ in range(repeats):
        start = time.perf_counter()
        values = jax.block_until_ready(paths(xs))
        seconds.append(time.perf_counter() - start)
        size = values.nbytes
        del values
    return {"seconds": min(seconds), "growth": peak_memory() - before, "answer": size}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib"),
            "draw": draw,
            "long_query": long_query,
        }
    )
