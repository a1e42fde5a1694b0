"""Trajectories of a FitzHugh-Nagumo neuron from sparse models of it (Wilson 2023, figure 3.8).

Two sparse Gaussian processes learn the increments of the neuron's state from 256 noisy transitions.
Trajectories are unrolled from rest under a current that rises and falls: pathwise, one function
draw for each, in time linear in the number of steps; and iteratively, every drift value drawn given
all before it, in cubic time. The iterative sampler is run on short trajectories, and its time for
long ones follows from the fit a T + b T^3.

    python -m reproductions.wilson_2023.fitzhugh_nagumo [--quick] [--output DIR]

The thesis does not say which current it injects; here it is 0.5 (1 - cos(2 pi t / 100 ms)).
Distances between clouds of states are exact Wasserstein-2 distances of subsamples, where the thesis
uses Sinkhorn's approximation.
"""

from __future__ import annotations

import time

import jax
import matplotlib
import numpy as np
import scipy.cluster.vq
import scipy.optimize
import scipy.spatial.distance

from leadline.dynamics import FitzHughNagumo, simulate, simulate_iteratively
from leadline.kernels import Matern52
from leadline.models import Titsias
from leadline.paths import stack_outputs
from reproductions._script import claim, options

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NEURON = FitzHughNagumo()
# The models are of increments: a step's noise is the diffusion of tau milliseconds.
STEP_NOISE = NEURON.tau * NEURON.diffusion


def fit_models(n: int, m: int):
    """One sparse model for each state column, with inducing points at cluster centers."""
    s, y = jax.device_get(NEURON.transitions(jax.random.key(0), n))
    z = scipy.cluster.vq.kmeans2(s, m, minit="++", rng=np.random.default_rng(0))[0]
    return [Titsias(1.0 * Matern52([1.0] * 3), z).fit(s, column) for column in y.T]


def timed(run):
    """The result of a second call, and its seconds: programs are compiled in the first one."""
    jax.block_until_ready(run())
    start = time.perf_counter()
    found = jax.block_until_ready(run())
    return np.asarray(found), time.perf_counter() - start


def pathwise(models, x0, controls, n, key):
    """Draw functions, and follow each from the start to the end."""
    drift, noise = jax.random.split(key)
    keys = jax.random.split(drift, len(models))
    draws = [post.paths(k, n, features=1024) for post, k in zip(models, keys, strict=True)]
    return simulate(stack_outputs(draws), x0, controls, 1.0, STEP_NOISE, noise)


def wasserstein(a: np.ndarray, b: np.ndarray, rows: int) -> float:
    """Wasserstein-2 distance of the first rows of two clouds, by the best assignment."""
    cost = scipy.spatial.distance.cdist(a[:rows], b[:rows], "sqeuclidean")
    return float(np.sqrt(cost[scipy.optimize.linear_sum_assignment(cost)].mean()))


def distances(a: np.ndarray, b: np.ndarray, times: np.ndarray, rows: int) -> np.ndarray:
    """The distance at each of some times."""
    return np.array([wasserstein(a[:, t], b[:, t], rows) for t in times])


def cubic_law(steps: np.ndarray, seconds: np.ndarray, at: int) -> float:
    """Seconds at `at` steps, from a least-squares fit of a T + b T^3 to relative errors."""
    design = np.stack([steps, steps.astype(float) ** 3], axis=1) / seconds[:, None]
    (a, b), _ = scipy.optimize.nnls(design, np.ones(len(steps)))
    return float(a * at + b * at**3)


def draw_figure(path, controls, truth, drawn, iterated, times, lines, cost, x0):
    """Drift and current, trajectories, distances, cost."""
    figure, axes = plt.subplots(1, 4, figsize=(17, 4))
    v, w = np.meshgrid(np.linspace(-2.5, 2.5, 21), np.linspace(-1.0, 2.0, 17))
    flow = np.asarray(
        NEURON.drift(np.stack([v.ravel(), w.ravel()], axis=1), np.full((v.size, 1), 0.5))
    )
    axes[0].streamplot(v, w, *(f.reshape(v.shape) for f in flow.T), color="0.7", density=0.8)
    axes[0].plot(*drawn[0].T, color="C0", lw=1, label="one pathwise trajectory")
    axes[0].plot(*x0, "k.", label="rest")
    axes[0].set(xlabel="membrane potential v", ylabel="recovery w", title="drift at a = 0.5")
    axes[0].legend(loc="upper right", fontsize=8)
    ms = NEURON.tau * np.arange(controls.shape[0] + 1)
    for cloud, color, name in ((truth, "0.4", "neuron"), (drawn, "C0", "pathwise")):
        low, middle, high = np.quantile(cloud[:, :, 0], [0.1, 0.5, 0.9], axis=0)
        axes[1].fill_between(ms, low, high, color=color, alpha=0.3, lw=0)
        axes[1].plot(ms, middle, color=color, label=name)
    short = iterated.shape[1]
    axes[1].plot(ms[:short], np.median(iterated[:, :, 0], axis=0), "C3--", label="iterative")
    axes[1].plot(ms[:-1], controls[:, 0] - 4.0, "k", lw=0.8, label="current - 4")
    axes[1].set(xlabel="ms", ylabel="v", title="median and 10-90 % of trajectories")
    axes[1].legend(loc="center right", fontsize=8)
    for name, (at, values), style in lines:
        axes[2].semilogy(NEURON.tau * at, values, style, label=name)
    axes[2].set(xlabel="ms", title="Wasserstein-2 distance of states")
    axes[2].legend(fontsize=8)
    steps, seconds, path_steps, path_seconds, reach, reached = cost
    axes[3].loglog(steps, seconds, "C3o-", label="iterative")
    axes[3].loglog([steps[-1], reach], [seconds[-1], reached], "C3:", label="its fit a T + b T^3")
    axes[3].loglog(path_steps, path_seconds, "C0o-", label="pathwise")
    axes[3].set(xlabel="steps T", title=f"seconds for {drawn.shape[0]} trajectories")
    axes[3].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Fit, simulate both ways, compare, and draw."""
    given = options(__doc__, quick="short trajectories, in seconds")
    n, steps, rows = (200, 200, 100) if given.quick else (1000, 1000, 250)
    lengths = np.array([10, 20, 40] if given.quick else [25, 50, 100, 200])

    start = time.perf_counter()
    models = fit_models(256, 32)
    fit_seconds = time.perf_counter() - start
    x0 = NEURON.equilibrium(0.0)
    ms = NEURON.tau * np.arange(steps)
    controls = 0.5 * (1.0 - np.cos(2.0 * np.pi * ms / 100.0))[:, None]

    path_lengths = np.array([steps // 10, steps])
    path_seconds = []
    for length in path_lengths:
        drawn, seconds = timed(
            lambda t=length: pathwise(models, x0, controls[:t], n, jax.random.key(1))
        )
        path_seconds.append(seconds)
    iterative_seconds = []
    for length in lengths:
        iterated, seconds = timed(
            lambda t=length: simulate_iteratively(
                models, x0, controls[:t], 1.0, STEP_NOISE, jax.random.key(2), n
            )
        )
        iterative_seconds.append(seconds)
    reached = cubic_law(lengths, np.array(iterative_seconds), steps)

    truth, again = (np.asarray(NEURON.simulate(x0, controls, jax.random.key(k), n)) for k in (3, 4))
    times = np.linspace(1, steps, 41).round().astype(int)
    early = np.linspace(1, lengths[-1], 21).round().astype(int)
    lines = [
        ("neuron - neuron (noise floor)", (times, distances(truth, again, times, rows)), "0.5"),
        ("pathwise - neuron", (times, distances(drawn, truth, times, rows)), "C0"),
        ("iterative - neuron", (early, distances(iterated, truth, early, rows)), "C3--"),
        ("pathwise - iterative", (early, distances(drawn, iterated, early, rows)), "C2"),
    ]
    fresh = np.asarray(pathwise(models, x0, controls[: lengths[-1]], n, jax.random.key(5)))
    floor = distances(drawn, fresh, early, rows)
    lines.append(("pathwise - pathwise (noise floor)", (early, floor), "C2:"))

    print(f"{n} trajectories from models of 256 transitions (fitted in {fit_seconds:.1f} s)")
    print(f"{'sampler':<12}{'steps':>7}{'seconds':>10}")
    for length, seconds in zip(path_lengths, path_seconds, strict=True):
        print(f"{'pathwise':<12}{length:>7}{seconds:>10.3f}")
    for length, seconds in zip(lengths, iterative_seconds, strict=True):
        print(f"{'iterative':<12}{length:>7}{seconds:>10.3f}")
    print(f"{'iterative':<12}{steps:>7}{reached:>10.1f}  (extrapolated)")
    print(f"\n{'Wasserstein-2 distance of states':<36}{'mean':>8}{'largest':>9}")
    for name, (_, values), _ in lines:
        print(f"{name:<36}{values.mean():>8.4f}{values.max():>9.4f}")

    between, ratio = lines[3][1][1].mean() / floor.mean(), reached / path_seconds[-1]
    same = ratio > 20.0 and between < 1.5
    print()
    claim(
        "the same distribution of trajectories, in 20 s pathwise and 10 h (1800 times as long) "
        "iteratively, 1000 trajectories of 1000 steps",
        f"{path_seconds[-1]:.1f} s and {reached:.0f} s (extrapolated, {ratio:.0f} times as long) "
        f"for {n} of {steps} steps; pathwise and iterative states are {between:.2f} noise floors "
        f"apart up to step {lengths[-1]}, and equally far from the neuron, which is the error of "
        "the models",
        same,
        "linear against cubic time; our iterative step is all matrix-vector products, so that its "
        "factor is smaller",
    )
    path = given.output / "fitzhugh_nagumo.png"
    cost = lengths, iterative_seconds, path_lengths, path_seconds, steps, reached
    draw_figure(path, controls, truth, drawn, iterated, times, lines, cost, x0)


if __name__ == "__main__":
    main()
