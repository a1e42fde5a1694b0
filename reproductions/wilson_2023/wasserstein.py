"""Figure 3.5 of Wilson (2023): the accuracy of ways to draw from a posterior given n data.

A Matern-5/2 process in four dimensions is observed at n inputs with a noise variance of 1e-3. Prior
draws are exact (location-scale) or made of 4096 Fourier features, and are updated in five ways:
exactly, through n / 4 inducing points, by conjugate gradients for the draws (CG) or for the inverse
matrix (CG+), and in n / 4 Fourier features. Also shown are draws whose features alone carry prior
and data. The error is the 2-Wasserstein distance from the true posterior at 1024 inputs. The thesis
shows curves and no numbers, and does not print the domain, the length scale or the stopping rules:
here the unit cube, 0.5, and relative residuals of 1e-2 and 1e-6.

Distances are between moments in closed form, not of samples, which would add an error of their own.
The two updates by conjugate gradients have no closed form. Their draws are compared with those of
the exact update that have the same prior and noise: the root mean square difference is at least the
Wasserstein distance of the two laws, so an update's distance is the exact one's plus at most that.

The columns `replica` hold figures of an independent replica in NumPy (one seed, 128 inputs; its
inducing points are not known).

Run it as `python -m reproductions.wilson_2023.wasserstein [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib as mpl
import numpy as np
import scipy.optimize
from scipy.cluster.vq import kmeans2

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.diagnostics import decoupled_moments, wasserstein2, weight_space_moments
from leadline.models import ExactPosterior, MultivariateNormal, Titsias, TitsiasPosterior
from leadline.paths import (
    FourierFeatures,
    Waves,
    gaussian_update,
    iterative_update,
    prior_draws,
    weight_space_update,
)
from reproductions._script import claim, options

KERNEL = ll.kernels.Matern52(lengthscale=0.5)
DIM, NOISE, DRAWS, RANK, FEW = 4, 1e-3, 64, 15, 128
LOOSE, TIGHT = np.array([1e-2, 1e-6])  # arrays, so that one program serves both
REPLICA = {
    "features, exact update": {16: 0.721, 1024: 0.433},
    "exact prior, sparse": {16: 4.74, 64: 6.46, 256: 3.16, 1024: 1.70},
    "n / 4 features alone": {16: 10.6, 64: 6.82, 256: 3.36, 1024: 1.78},
}


class Setting(NamedTuple):
    """How large a run is."""

    sizes: list[int]
    tests: int
    features: int
    seeds: int
    steps: int  # of the search for inducing points


class Problem(NamedTuple):
    """Data, test inputs, and the posteriors."""

    x: np.ndarray
    y: np.ndarray
    xs: np.ndarray
    exact: ExactPosterior
    sparse: TitsiasPosterior
    truth: MultivariateNormal


def problem(n: int, seed: int, setting: Setting) -> Problem:
    """Observations of a draw from the prior, in the unit cube."""
    rng = np.random.default_rng(seed)
    x, xs = rng.uniform(size=(n, DIM)), rng.uniform(size=(setting.tests, DIM))
    covariance = np.asarray(KERNEL(x, x)) + NOISE * np.eye(n)
    y = np.linalg.cholesky(covariance) @ rng.normal(size=n)
    exact = ll.GP(KERNEL, noise=NOISE).condition(x, y)
    start, _ = kmeans2(x, rng.permutation(x)[: n // 4], minit="matrix")
    sparse = Titsias(KERNEL, searched(x, y, start, setting.steps), noise=NOISE).condition(x, y)
    return Problem(x, y, xs, exact, sparse, exact.joint(xs))


def searched(x: np.ndarray, y: np.ndarray, start: np.ndarray, steps: int) -> np.ndarray:
    """Inducing points that minimize the divergence from the posterior, from means of clusters."""
    if not steps:
        return start

    def objective(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = _bound(jnp.asarray(z.reshape(start.shape)), x, y)
        return -float(value), -np.asarray(slope).ravel()

    options = {"maxiter": steps}
    found = scipy.optimize.minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", options=options
    )
    return found.x.reshape(start.shape)


@jax.jit
@jax.value_and_grad
def _bound(z, x, y):
    return Titsias(KERNEL, z, noise=NOISE).condition(x, y).elbo


@eqx.filter_jit
def in_few_features(
    x: Any, xs: Any, y: Any, few: Waves, prior: FourierFeatures | None
) -> MultivariateNormal:
    """The law of draws from any prior (exact if None), updated in other, fewer features."""
    at, star = few(x), few(xs)
    factor = jax.scipy.linalg.cho_factor(at @ at.T + NOISE * jnp.eye(len(x)))
    xi = jax.scipy.linalg.cho_solve(factor, at @ star.T).T
    if prior is None:
        cross = xi @ KERNEL(x, xs)
        kept = KERNEL(xs, xs) - cross - cross.T + xi @ KERNEL(x, x) @ xi.T
    else:
        rest = prior(xs) - xi @ prior(x)
        kept = rest @ rest.T
    return MultivariateNormal(xi @ y, kept + NOISE * xi @ xi.T)


def fewest(features: Any, size: int) -> Waves:
    """Some of many random features, which are as random: nothing to compile for every size."""
    theta, weight = np.asarray(features.theta)[: size // 2], np.asarray(features.weight)
    return Waves(jnp.asarray(theta), jnp.full(len(theta), weight.sum() / len(theta)))


def laws(p: Problem, setting: Setting, seed: int) -> dict[str, MultivariateNormal]:
    """The laws of all draws with a closed form."""
    keys = jax.random.split(jax.random.key(seed), 3)
    make = partial(FourierFeatures, KERNEL, dim=DIM)
    waves = make(size=setting.features, key=keys[0], points="random")
    even = make(size=setting.features, key=keys[1], points="sobol")
    few = fewest(make(size=setting.features, key=keys[2], points="random"), len(p.x) // 4)
    return {
        "exact prior, sparse": p.sparse.joint(p.xs),
        "exact prior, n / 4 features": in_few_features(p.x, p.xs, p.y, few, None),
        "features, exact update": decoupled_moments(p.exact, waves, p.xs),
        "Sobol features, exact update": decoupled_moments(p.exact, even, p.xs),
        "features, sparse": decoupled_moments(p.sparse, waves, p.xs),
        "features, n / 4 features": in_few_features(p.x, p.xs, p.y, few, waves),
        "features alone": weight_space_moments(p.exact, waves, p.xs),
        "n / 4 features alone": weight_space_moments(p.exact, few, p.xs),
    }


def distance(law: MultivariateNormal, truth: MultivariateNormal, first: int | None = None) -> float:
    """W2 over the first inputs, or all."""
    s = slice(first)
    return float(wasserstein2(law.mean[s], law.cov[s, s], truth.mean[s], truth.cov[s, s]))


def iterative_distances(p: Problem, setting: Setting, seed: int) -> dict[str, float]:
    """How far draws by conjugate gradients are from those of the exact update, at most."""
    key = jax.random.key(seed)
    prior = prior_draws(KERNEL, key, DRAWS, dim=DIM, features=setting.features)
    exact = np.asarray(gaussian_update(prior, p.x, p.y, NOISE, key=key)(p.xs))
    found = {}
    for name, solve in (("CG", "draws"), ("CG+", "inverse")):
        for tol in (LOOSE, TIGHT):
            update = iterative_update(
                prior, p.x, p.y, NOISE, key=key, rank=RANK, tol=tol, solve=solve
            )
            apart = np.asarray(update.draws(p.xs)) - exact
            found[f"{name}, {tol:.0e}"] = float(np.sqrt(np.mean(np.sum(apart**2, axis=1))))
    return found


def preparation_times(p: Problem, setting: Setting) -> dict[str, float]:
    """Seconds to prepare draws by each update, after it has been compiled."""
    key = jax.random.key(0)
    prior = prior_draws(KERNEL, key, DRAWS, dim=DIM, features=setting.features)
    few = prior_draws(KERNEL, key, DRAWS, features=fewest(prior.features, len(p.x) // 4))
    model = p.sparse.gp
    iterative = partial(iterative_update, prior, p.x, p.y, NOISE, key=key, rank=RANK, tol=LOOSE)
    ways: dict[str, Callable[[], Any]] = {
        "exact": lambda: gaussian_update(prior, p.x, p.y, NOISE, key=key),
        "sparse": lambda: model.condition(p.x, p.y).paths(key, DRAWS, prior.features),
        "CG": lambda: iterative(solve="draws").draws,
        "CG+": lambda: iterative(solve="inverse").draws,
        "n / 4 features": lambda: weight_space_update(few, p.x, p.y, NOISE, key=key),
    }
    found = {}
    for name, prepare in ways.items():
        jax.block_until_ready(prepare().coefficients)
        repeats = []
        for _ in range(3):
            start = time.perf_counter()
            jax.block_until_ready(prepare())
            repeats.append(time.perf_counter() - start)
        found[name] = min(repeats)
    return found


class Results(NamedTuple):
    """Distances (seeds, sizes) by name, of all inputs and of few; times by size and name."""

    distances: dict[str, np.ndarray]
    few: dict[str, np.ndarray]
    iterative: dict[str, np.ndarray]
    times: dict[int, dict[str, float]]


def compute(setting: Setting) -> Results:
    """All distances and times."""
    columns: tuple[dict[str, list[list[float]]], ...] = ({}, {}, {})
    times = {}
    for n in setting.sizes:
        for seed in range(setting.seeds):
            p = problem(n, seed, setting)
            found = laws(p, setting, seed)
            rows = (
                {name: distance(law, p.truth) for name, law in found.items()},
                {name: distance(found[name], p.truth, FEW) for name in REPLICA},
                iterative_distances(p, setting, seed),
            )
            for column, row in zip(columns, rows, strict=True):
                for name, value in row.items():
                    column.setdefault(name, [[] for _ in range(setting.seeds)])[seed].append(value)
            if seed == 0:
                times[n] = preparation_times(p, setting)
    return Results(*({k: np.array(v) for k, v in c.items()} for c in columns), times)


def tables(results: Results, setting: Setting) -> None:
    """Print all figures: medians over seeds."""

    def table(title: str, rows: dict[str, list[str]]) -> None:
        print(f"{title:36s}" + "".join(f"{f'n = {n}':>12s}" for n in setting.sizes))
        for name, cells in rows.items():
            print(f"{name:36s}" + "".join(f"{c:>12s}" for c in cells))
        print()

    def medians(values: dict[str, np.ndarray]) -> dict[str, list[str]]:
        return {k: [f"{v:.3g}" for v in np.median(a, axis=0)] for k, a in values.items()}

    table(f"W2 at {setting.tests} inputs", medians(results.distances))
    table("CG: at most this more, residual", medians(results.iterative))
    if setting.tests > FEW:
        rows = {}
        for name, values in medians(results.few).items():
            known = (REPLICA[name].get(n) for n in setting.sizes)
            rows[name] = values
            rows[f"  replica, {name}"] = ["" if v is None else f"{v:.3g}" for v in known]
        table(f"W2 at {FEW} inputs", rows)
    names = results.times[setting.sizes[0]]
    table(
        f"ms to prepare {DRAWS} draws",
        {k: [f"{1e3 * results.times[n][k]:.3g}" for n in setting.sizes] for k in names},
    )
    print("Times are of the machine that ran this, after compilation, and differ on others.\n")


def claims(results: Results, setting: Setting) -> None:
    """Print what the thesis says beside what is found."""
    middle = {k: np.median(v, axis=0) for k, v in results.distances.items()}
    extra = {k: np.median(v, axis=0) for k, v in results.iterative.items()}
    ends = f"n = {setting.sizes[0]} and {setting.sizes[-1]}, medians of {setting.seeds} seeds"

    def pair(values: np.ndarray) -> str:
        return f"{values[0]:.2g} and {values[-1]:.2g}"

    waves, sparse = middle["features, exact update"], middle["exact prior, sparse"]
    claim(
        f"{setting.features} Fourier features instead of exact prior draws add modest errors",
        f"W2 {pair(waves)} with exact updates, where sparse updates of exact draws have "
        f"{pair(sparse)} ({ends})",
        bool(np.all(waves < sparse)),
    )
    claim(
        "the error of the features falls as data accumulate",
        f"W2 {pair(waves)}, with Sobol frequencies "
        f"{pair(middle['Sobol features, exact update'])} ({ends})",
        bool(waves[-1] < waves[0]),
    )
    ratios = np.stack(
        [
            middle[f"{k}, n / 4 features"] / middle[f"{k}, sparse"]
            for k in ("exact prior", "features")
        ]
    )
    claim(
        "with n / 4 basis functions, sparse updates are better than updates in Fourier features",
        f"the latter's W2 is {ratios.min():.2f} to {ratios.max():.2f} times the former's, over all "
        "n and both priors",
        bool(np.all(ratios > 1.0)),
    )
    tight, loose = extra[f"CG, {TIGHT:.0e}"], extra[f"CG, {LOOSE:.0e}"]
    claim(
        "updates by CG are tantamount to exact ones",
        f"they add at most {pair(loose)} (residual 1e-2) or {pair(tight)} (1e-6) to W2 "
        f"{pair(waves)} ({ends})",
        bool(np.all(tight < 0.01 * waves)),
    )
    plus = extra[f"CG+, {LOOSE:.0e}"]
    claim(
        "CG+, which computes the inverse, loses accuracy to CG",
        f"at a residual of 1e-2 it adds at most {pair(plus)} instead of {pair(loose)}, at 1e-6 "
        f"{pair(extra[f'CG+, {TIGHT:.0e}'])} instead of {pair(tight)} ({ends})",
        bool(plus[-1] > loose[-1]),
    )
    first, last = results.times[setting.sizes[0]], results.times[setting.sizes[-1]]
    claim(
        "CG is slower than exact updates for few data, and faster for many",
        f"{first['CG'] / first['exact']:.1f} and {last['CG'] / last['exact']:.1f} times as long "
        f"for n = {setting.sizes[0]} and {setting.sizes[-1]} on the machine that ran this",
        first["CG"] > first["exact"] and last["CG"] < last["exact"],
        "" if last["CG"] < last["exact"] else f"a Cholesky of {setting.sizes[-1]} rows is cheap",
    )


COLORS = {
    "exact": "black",
    "sparse": "#2b7bba",
    "few": "#1b9e4b",
    "cg": "#e08214",
    "cg+": "#c0392b",
}


def picture(results: Results, setting: Setting, path: Path) -> None:
    """Medians and quartiles: exact prior draws on the left, features on the right."""
    figure, axes = plt.subplots(1, 2, figsize=(11.5, 4.8), sharey=True, layout="constrained")
    n = np.array(setting.sizes)

    def curve(ax: Any, values: np.ndarray, label: str, color: str, marker: str, style="-") -> None:
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], axis=0)
        ax.plot(n, middle, color=color, marker=marker, ls=style, lw=1.6, ms=7, label=label)
        ax.fill_between(n, low, high, color=color, alpha=0.15, lw=0)

    d, cg = results.distances, results.iterative
    waves = d["features, exact update"]
    for ax, prior in zip(axes, ("exact prior", "features"), strict=True):
        few, inducing = d[f"{prior}, n / 4 features"], d[f"{prior}, sparse"]
        curve(ax, few, "n / 4 Fourier features", COLORS["few"], "D")
        curve(ax, inducing, "n / 4 inducing points", COLORS["sparse"], "*")
        base = waves if prior == "features" else 0.0 * waves
        curve(
            ax,
            base + cg[f"CG+, {LOOSE:.0e}"],
            "CG+ (residual 1e-2), at most",
            COLORS["cg+"],
            "v",
            "--",
        )
        curve(ax, base + cg[f"CG, {LOOSE:.0e}"], "CG (residual 1e-2), at most", COLORS["cg"], "^")
    right = axes[1]
    curve(right, waves, "exact", COLORS["exact"], "o")
    curve(right, d["Sobol features, exact update"], "exact, Sobol frequencies", "0.45", "o", ":")
    curve(right, d["features alone"], "features alone", "#7b3294", "s", "-.")
    for ax, title in zip(axes, ("are exact", f"have {setting.features} features"), strict=True):
        ax.set(xscale="log", yscale="log", xlabel="observations", xticks=n)
        ax.set(title=f"Prior draws {title}", ylim=(0.2, 40.0))  # CG is exact for n = 16
        ax.set_xticklabels(map(str, n))
        ax.minorticks_off()
        ax.grid(alpha=0.25)
    handles, labels = right.get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, ncols=4, loc="outside lower center")
    axes[0].set_ylabel(f"W2 from the posterior, {setting.tests} inputs")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Print the tables and the claims, and draw the figure."""
    given = options(__doc__, quick="n up to 32, 128 inputs, two seeds")
    quick = Setting([16, 32], tests=128, features=1024, seeds=2, steps=0)
    full = Setting([16, 64, 256, 1024], tests=1024, features=4096, seeds=3, steps=40)
    setting = quick if given.quick else full
    results = compute(setting)
    tables(results, setting)
    claims(results, setting)
    picture(results, setting, given.output / "wasserstein.png")


if __name__ == "__main__":
    main()
