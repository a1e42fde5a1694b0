"""Leadline's worker for what one step costs: an evaluation, an update, memory."""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np

import leadline as ll
from bench.harness import worker
from bench.harness.memory import peak_memory
from bench.problems import datasets
from leadline.models import _exact, _rows
from leadline.numerics import blas_threads_for, from_free, to_free


def _process(dim):
    return ll.GP(1.0 * ll.kernels.SquaredExponential(lengthscale=np.ones(dim)), noise=1e-2)


@jax.jit
def _factor_and_inverse(a):
    """What an evidence and its gradient cannot do without."""
    factor = jax.scipy.linalg.cho_factor(a, lower=True)
    return jax.scipy.linalg.cho_solve(factor, jnp.eye(a.shape[0]))


@jax.jit
@jax.value_and_grad
def _evidence(free, process, rows):
    """The log evidence in the coordinates in which `fit` maximizes it."""
    return _exact.log_evidence(from_free(process, free), rows)


def ours_value_and_grad(n):
    """A call without arguments that evaluates the evidence and its gradient."""
    problem = datasets.sampled("hartmann6", n, seed=0)
    process = _process(6)
    rows = _rows.as_padded_rows(problem.x, problem.y)
    free = to_free(process)
    return lambda: _evidence(free, process, rows)


def _seconds(call, n):
    with blas_threads_for(n):
        start = time.perf_counter()
        jax.block_until_ready(call())
        return time.perf_counter() - start


def value_and_grad(n, repeats):
    """Evaluations of the objective and of its limit, in turns after a warm-up, same threads."""
    ours = ours_value_and_grad(n)
    problem = datasets.sampled("hartmann6", n, seed=0)
    x = jnp.asarray(problem.x)
    covariance = ll.kernels.SquaredExponential(0.5)(x, x) + 1e-2 * jnp.eye(n)
    seconds, limit = [], []
    for _ in range(repeats + 1):
        seconds.append(_seconds(ours, n))
        limit.append(_seconds(lambda: _factor_and_inverse(covariance), n))
    return {"seconds": seconds[1:], "limit": limit[1:]}


def update(n, repeats):
    """Updates of a posterior of `n` rows by one row, after a warm-up."""
    problem = datasets.sampled("hartmann6", n + 1, seed=0)
    posterior = _process(6).condition(problem.x[:n], problem.y[:n])
    seconds = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        jax.block_until_ready(posterior.update(problem.x[n:], problem.y[n:]).weights)
        seconds.append(time.perf_counter() - start)
    return {"seconds": seconds[1:]}


def memory(n, queries):
    """How far the peak grows from a small fit to conditioning on `n` rows and `queries`."""
    small = datasets.sampled("hartmann6", 50, seed=0)
    _process(6).fit(small.x, small.y).predict(small.xs)
    before = peak_memory()
    large = datasets.sampled("hartmann6", n, seed=0, held_out=queries)
    start = time.perf_counter()
    predicted = _process(6).condition(large.x, large.y).predict(large.xs)
    finite = bool(np.all(np.isfinite(np.asarray(predicted.var))))
    seconds = time.perf_counter() - start
    return {"growth": peak_memory() - before, "seconds": seconds, "finite": finite}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib"),
            "value_and_grad": value_and_grad,
            "update": update,
            "memory": memory,
        }
    )
