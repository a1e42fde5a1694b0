"""Figure 3.6 of Wilson (2023): the regret of Thompson sampling with three kinds of draws.

The functions to optimize are draws of a known process on the unit cube of d dimensions: Matern-5/2
with length scale sqrt(d / 100). A round has d queries, each the highest point of a draw of its own,
and observations have a noise variance of 1e-3. Regret is how far the best point queried so far is
below the top of the function, without noise; curves are medians and quartiles over trials.

- location-scale: the highest of a joint draw at 2048 rows, those where independent draws are
  highest among 8192 random ones;
- unified: draws of l + n random Fourier features, which carry the data too (n in steps of padding,
  so rather more than the thesis gives them);
- decoupled: draws of l random Fourier features, updated in the kernel's own basis at the n data.

The latter two are searched with gradients from 32 starts. The thesis minimizes; we maximize.

What differs: 8 trials instead of 32, of 24 rounds; the thesis says neither how many rounds it has
nor how many features, and here 64 is a number that data outgrow and 1024 is one that they do not.
Queries of one round share their random rows. Starts are where the draw itself is highest among 2048
of them, not near one another. Regret is measured from the highest point that a search of the true
function or any method found. Random search stands for the baselines, which the text of the thesis
does not name. Eight trials are few: methods are compared by paired differences of their regrets and
the standard errors of those.

Run it as `python -m reproductions.wilson_2023.thompson [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.acquisition import location_scale_choice, promising, unified_draws
from leadline.numerics import bucket, minimize_together, spread_best
from leadline.paths import FourierFeatures, FunctionDraws, prior_draws
from reproductions._script import claim, options

NOISE = 1e-3
POOL, JOINT, CANDIDATES, STARTS = 8192, 2048, 2048, 32
FEW, MANY = 64, 1024
# The name of each method, its kind of draws, and the features of the prior.
METHODS = {
    "random": ("random", 0),
    "location-scale": ("location-scale", 0),
    f"unified, {FEW}": ("unified", FEW),
    f"unified, {MANY}": ("unified", MANY),
    f"decoupled, {FEW}": ("decoupled", FEW),
    f"decoupled, {MANY}": ("decoupled", MANY),
}
STYLES = {
    "random": ("0.6", "-"),
    "location-scale": ("#1b9e77", "-"),
    f"unified, {FEW}": ("#2b7bba", "--"),
    f"unified, {MANY}": ("#2b7bba", "-"),
    f"decoupled, {FEW}": ("#d95f02", "--"),
    f"decoupled, {MANY}": ("#d95f02", "-"),
}


def queries(kind: str, size: int, x: np.ndarray, y: np.ndarray, gp: Any, key: Any) -> np.ndarray:
    """The d queries of one round, given the rows `x (n, d)` and noisy values `y (n,)`."""
    n, d = x.shape
    basis, draw, rows = jax.random.split(key, 3)
    uniform = np.asarray(jax.random.uniform(rows, (POOL, d)))
    if kind == "random":
        return uniform[:d]
    posterior = gp.condition(x, y)
    if kind == "location-scale":
        candidates = promising(posterior, uniform, basis, JOINT)
        return candidates[location_scale_choice(posterior, candidates, draw, d)]
    if kind == "unified":
        features = FourierFeatures(gp.kernel, size + bucket(n), d, key=basis, points="random")
        draws = unified_draws(posterior, draw, d, features)
    else:
        features = FourierFeatures(gp.kernel, size, d, key=basis, points="random")
        draws = posterior.paths(draw, d, features)
    return np.asarray(tops(draws, uniform[:CANDIDATES]))


@eqx.filter_jit
def tops(draws: FunctionDraws, candidates: np.ndarray) -> jax.Array:
    """Where each draw is highest: the best of local searches from good candidates, (n, d)."""
    starts = spread_best(candidates, -draws.values(candidates), STARTS)
    n, s, d = starts.shape

    def below(u, draws):
        return -draws.paired_values(u.reshape(n, s, d)).reshape(n * s)

    box = jnp.zeros((1, d)), jnp.ones((1, d))
    found = minimize_together(
        below, draws, starts.reshape(n * s, d), *box, tolerance=1e-6, max_evaluations=60
    )
    best = jnp.argmin(found.value.reshape(n, s), axis=1)
    return found.u.reshape(n, s, d)[jnp.arange(n), best]


def reached(name: str, truth: FunctionDraws, gp: Any, rounds: int, seed: int) -> np.ndarray:
    """The highest true value queried up to each round (rounds + 1,); the first one is random."""
    kind, size = METHODS[name]
    d, keys = truth.dim, jax.random.split(jax.random.key(10_000 + seed), rounds)
    rng = np.random.default_rng(seed)
    x, y, best = np.empty((0, d)), np.empty(0), []
    for r in range(rounds + 1):
        new = rng.random((d, d)) if r == 0 else queries(kind, size, x, y, gp, keys[r - 1])
        values = np.asarray(truth(new))[0]
        x = np.concatenate([x, new])
        y = np.concatenate([y, values + np.sqrt(NOISE) * rng.normal(size=d)])
        best.append(max(values.max(), best[-1]) if best else values.max())
    return np.array(best)


def regrets(d: int, rounds: int, trials: int) -> dict[str, np.ndarray]:
    """The regret of each method: trials x rounds."""
    kernel = ll.kernels.Matern52(np.sqrt(d / 100.0))
    gp = ll.GP(kernel, noise=NOISE)
    found: dict[str, list[np.ndarray]] = {name: [] for name in METHODS}
    for trial in range(trials):
        truth = prior_draws(kernel, jax.random.key(trial), 1, dim=d, features=4096)
        for name in METHODS:
            found[name].append(reached(name, truth, gp, rounds, trial))
        top = float(np.max(truth(truth.argmax([(0.0, 1.0)] * d, STARTS))))
        top = max(top, *(curves[-1][-1] for curves in found.values()))
        for curves in found.values():
            curves[-1] = top - curves[-1]
    return {name: np.array(curves) for name, curves in found.items()}


def draw_figure(path: Path, results: dict[int, dict[str, np.ndarray]]) -> None:
    """A panel for each dimension: medians, and the quartiles around them."""
    figure, axes = plt.subplots(1, len(results), figsize=(5 * len(results), 4), squeeze=False)
    for panel, (d, curves) in zip(axes[0], results.items(), strict=True):
        for name, regret in curves.items():
            color, line = STYLES[name]
            evaluations = d * (1 + np.arange(regret.shape[1]))
            low, middle, high = np.quantile(np.maximum(regret, 1e-5), [0.25, 0.5, 0.75], axis=0)
            panel.fill_between(evaluations, low, high, color=color, alpha=0.15, lw=0)
            panel.plot(evaluations, middle, color=color, ls=line, label=name)
        panel.set(yscale="log", xlabel="evaluations", title=f"d = {d}, {d} queries in a round")
    axes[0, 0].set_ylabel("regret")
    axes[0, 0].legend(fontsize=8, loc="lower left")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def table(d: int, curves: dict[str, np.ndarray], seconds: float) -> None:
    """Regrets after a quarter, half and all of the rounds: median, and quartiles at the end."""
    rounds = next(iter(curves.values())).shape[1] - 1
    steps = [0, rounds // 4, rounds // 2, rounds]
    print(
        f"\nd = {d}: median regret after {', '.join(str(d * (1 + s)) for s in steps)} evaluations"
    )
    for name, regret in curves.items():
        middle = "".join(f"{np.median(regret[:, s]):9.3f}" for s in steps)
        low, high = np.quantile(regret[:, -1], [0.25, 0.75])
        print(f"  {name:16s}{middle}   quartiles {low:.3f} to {high:.3f}")
    print(f"  {seconds:.0f} s", flush=True)


def claims(results: dict[int, dict[str, np.ndarray]]) -> None:
    """The findings of the thesis, in terms of average regret over the last quarter of rounds."""
    dims = list(results)
    low, high = dims[0], dims[-1]
    best, few, many = f"decoupled, {MANY}", f"unified, {FEW}", f"unified, {MANY}"

    def late(d: int, name: str) -> np.ndarray:
        regret = results[d][name]
        return regret[:, (3 * regret.shape[1]) // 4 :].mean(axis=1)

    def shown(name: str) -> str:
        return ", ".join(f"{late(d, name).mean():.3f}" for d in dims)

    def worse(d: int, name: str, other: str) -> float:
        """How much worse a method is than another one, in standard errors."""
        lost = late(d, name) - late(d, other)
        return float(lost.mean() / (lost.std(ddof=1) / np.sqrt(len(lost))))

    def compared(name: str, other: str) -> str:
        return ", ".join(f"{worse(d, name, other):+.1f}" for d in dims)

    where = f"for d = {', '.join(map(str, dims))}"
    wanes = worse(low, "location-scale", best) < 2.0 < worse(high, "location-scale", best)
    print()
    claim(
        "location-scale draws do well in few dimensions and struggle as they grow",
        f"mean regret over the last quarter of rounds {shown('location-scale')} {where}; above "
        f"that of decoupled draws by {compared('location-scale', best)} standard errors",
        wanes,
    )
    starves = worse(high, few, f"decoupled, {FEW}") > 2.0
    helped = worse(high, few, many) > 0.0
    claim(
        "draws in Fourier features alone need many more features than data",
        f"with {FEW} + n features {shown(few)}, above decoupled draws with {FEW} by "
        f"{compared(few, f'decoupled, {FEW}')} standard errors; with {MANY} + n {shown(many)}, "
        f"above decoupled draws with {MANY} by {compared(many, best)}",
        "yes" if starves and helped else "partly" if starves else "no",
    )
    rivals = ["random", "location-scale", few, many]
    matches = all(worse(d, best, name) < 2.0 for d in dims for name in rivals)
    claim(
        "decoupled draws consistently match or outperform the others",
        f"{shown(best)} with {MANY} features and {shown(f'decoupled, {FEW}')} with {FEW}; with "
        f"{MANY} below "
        + ", ".join(f"{name} by {compared(name, best)}" for name in rivals)
        + " standard errors",
        matches,
    )


def main() -> None:
    """Run all trials, compare, and draw."""
    given = options(__doc__, quick="few and short trials, in seconds")
    dims, rounds, trials = ((2,), 4, 2) if given.quick else ((2, 4, 8), 24, 8)
    results = {}
    for d in dims:
        start = time.perf_counter()
        results[d] = regrets(d, rounds, trials)
        table(d, results[d], time.perf_counter() - start)
    claims(results)
    draw_figure(given.output / "thompson.png", results)


if __name__ == "__main__":
    main()
