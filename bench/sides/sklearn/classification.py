"""BORE as one would write it with scikit-learn and SciPy: the same algorithms as ours."""

from __future__ import annotations

import math
import time
import warnings

import numpy as np
from scipy.optimize import minimize
from scipy.stats import truncnorm
from sklearn.neural_network import MLPClassifier

from bench.harness import worker
from bench.problems import datasets

STEPS, BATCH = 100, 64
GAMMA, MEMBERS, CANDIDATES, BEST = 0.15, 4, 256, 0.1
RESTARTS = 3
warnings.filterwarnings("ignore")


def _network(n, seed):
    """A network that is trained for as many steps as ours."""
    epochs = max(1, STEPS // math.ceil(n / BATCH))
    return MLPClassifier(
        (32, 32),
        batch_size=min(BATCH, n),
        learning_rate_init=1e-2,
        max_iter=epochs,
        n_iter_no_change=epochs + 1,
        warm_start=True,
        random_state=seed,
    )


def _labels(y):
    good = max(1, math.ceil(GAMMA * len(y)))
    z = np.zeros(len(y), int)
    z[np.argsort(y)[:good]] = 1
    return z


def _around_the_best(networks, x, y, seed):
    """An ensemble, and the best of draws around the best tenth."""
    rng = np.random.default_rng(seed)
    z = _labels(y)
    for network in networks:
        network.fit(2 * x - 1, z, sample_weight=rng.exponential(size=len(y)))
    best = x[np.argsort(y)[: math.ceil(BEST * len(y))]]
    order = np.argsort(best, axis=0)
    ends = np.concatenate([np.zeros((1, 6)), np.sort(best, axis=0), np.ones((1, 6))])
    gaps = np.diff(ends, axis=0)
    widths = np.empty_like(best)
    np.put_along_axis(widths, order, np.maximum(gaps[:-1], gaps[1:]), axis=0)
    which = rng.integers(len(best), size=CANDIDATES)
    mu, sigma = best[which], np.clip(widths[which], 0.01, 1.0)
    rows = truncnorm.rvs(-mu / sigma, (1 - mu) / sigma, mu, sigma, random_state=rng)
    probability = np.mean([each.predict_proba(2 * rows - 1)[:, 1] for each in networks], axis=0)
    return rows[np.argmax(probability)]


def _by_gradients(networks, x, y, seed):
    """One network, whose probability is climbed from random starts (Tiao 2023, algorithm 2)."""
    network = networks[0].fit(2 * x - 1, _labels(y))
    rng = np.random.default_rng(seed)
    ends = [
        minimize(
            lambda u: -network.predict_proba(2 * u[None] - 1)[0, 1],
            rng.uniform(size=6),
            bounds=[(0.0, 1.0)] * 6,
            method="L-BFGS-B",
        )
        for _ in range(RESTARTS)
    ]
    return min(ends, key=lambda end: end.fun).x


SEARCHES = {"around the best": (MEMBERS, _around_the_best), "by gradients": (1, _by_gradients)}


def ask(search, n, seed):
    """One ask after `n` values of Hartmann-6, with networks that were trained on all but a few."""
    problem = datasets.sampled("hartmann6", n, seed, held_out=1)
    members, choose = SEARCHES[search]
    before = n - max(1, n // 100)
    networks = [_network(n, seed + i) for i in range(members)]
    choose(networks, problem.x[:before], problem.y[:before], seed)
    start = time.perf_counter()
    choose(networks, problem.x, problem.y, seed)
    return {"seconds": time.perf_counter() - start, "digest": problem.digest()}


if __name__ == "__main__":
    worker.serve({"versions": worker.versions("scikit-learn", "scipy", "numpy"), "ask": ask})
