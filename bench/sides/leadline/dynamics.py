"""Leadline's worker for trajectories of a learned FitzHugh-Nagumo system."""

from __future__ import annotations

import time
from functools import cache

import jax
import numpy as np

import leadline as ll
from bench.harness import worker
from leadline.models import Titsias

ROWS, INDUCING = 256, 32


@cache
def _system():
    """The system and a sparse posterior of each increment, as in Wilson (2023), section 3.6.3."""
    system = ll.dynamics.FitzHughNagumo()
    x, y = map(np.asarray, system.transitions(jax.random.key(0), ROWS))
    z = x[np.random.default_rng(0).permutation(ROWS)[:INDUCING]]
    kernel = 1.0 * ll.kernels.Matern52(lengthscale=np.ptp(x, axis=0) / 2)
    noise = ll.fixed(system.tau * system.diffusion)
    fitted = [Titsias(kernel, z, noise=noise).fit(x, y[:, j]) for j in range(2)]
    return system, fitted


def _controls(steps):
    """A sinusoidal current between 0 and 1."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(steps) / 250)[:, None]


def _settings(steps):
    system, fitted = _system()
    return system, fitted, system.equilibrium(0.0), _controls(steps)


def _pathwise(n, steps, seed):
    system, fitted, start, controls = _settings(steps)
    keys = jax.random.split(jax.random.key(seed), 3)
    draws = ll.paths.stack_outputs(
        [post.paths(key, n) for post, key in zip(fitted, keys, strict=False)]
    )
    noise = system.tau * system.diffusion
    return ll.dynamics.simulate(draws, start, controls, 1.0, noise, keys[2])


def _iterative(n, steps, seed):
    system, fitted, start, controls = _settings(steps)
    noise = system.tau * system.diffusion
    key = jax.random.key(seed)
    return ll.dynamics.simulate_iteratively(fitted, start, controls, 1.0, noise, key, n)


SAMPLERS = {"pathwise": _pathwise, "iterative": _iterative}


def simulate(sampler, n, steps, seed):
    """Seconds for `n` trajectories, after a warm-up."""
    SAMPLERS[sampler](n, steps, 1000)
    start = time.perf_counter()
    found = np.asarray(SAMPLERS[sampler](n, steps, seed))
    return {"seconds": time.perf_counter() - start, "finite": bool(np.isfinite(found).all())}


def moments(sampler, n, steps, seed):
    """Means and standard deviations of the state at a few steps."""
    found = np.asarray(SAMPLERS[sampler](n, steps, seed))[:, steps // 4 :: steps // 4]
    return {"mean": found.mean(0).tolist(), "std": found.std(0).tolist()}


if __name__ == "__main__":
    worker.serve(
        {
            "versions": worker.versions("leadline", "jax", "jaxlib"),
            "simulate": simulate,
            "moments": moments,
        }
    )
