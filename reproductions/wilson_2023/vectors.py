"""Figures 3.1 and 3.2 of Wilson (2023): Matheron's update rule for vectors and for functions.

The first figure conditions draws of a bivariate normal law with correlation 0.75 on its second
entry; the second conditions draws of a Gaussian process in one dimension on a few values without
noise. Their claim is that updated draws of the prior have the law of the posterior. Here the
moments of the draws are compared with those in closed form, in standard errors.

Run it as `python -m reproductions.wilson_2023.vectors [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import jax
import matplotlib as mpl
import numpy as np
import scipy.stats

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.paths import exact_update, matheron, prior_draws
from reproductions._script import claim, options

CORRELATION, CONDITION = 0.75, 1.2
KERNEL = ll.kernels.Matern52(lengthscale=0.15)
X = np.array([0.12, 0.3, 0.42, 0.68, 0.83])[:, None]
Y = np.array([0.9, -0.6, -0.9, 0.8, 1.3])
FEATURES = 2048
CHUNK = 5000
PRIOR, UPDATE, POSTERIOR = "#e08214", "#7b3294", "#2166ac"


def bivariate(n: int, axes: np.ndarray) -> None:
    """Update draws of (a, b) to those of a given b, and draw both."""
    rng = np.random.default_rng(0)
    b = rng.normal(size=n)
    a = CORRELATION * b + np.sqrt(1.0 - CORRELATION**2) * rng.normal(size=n)
    cross, marginal = np.array([[CORRELATION]]), np.array([[1.0]])
    given = np.asarray(matheron(a[:, None], b[:, None], cross, marginal, np.array([CONDITION])))
    given = given[:, 0]
    law = scipy.stats.norm(CORRELATION * CONDITION, np.sqrt(1.0 - CORRELATION**2))
    mean_error = abs(given.mean() - law.mean()) / (law.std() / np.sqrt(n))
    var_error = abs(given.var() - law.var()) / (law.var() * np.sqrt(2.0 / n))
    p = scipy.stats.kstest(given, law.cdf).pvalue

    left, right = axes
    shown = slice(0, 600)
    left.scatter(b[shown], a[shown], s=7, color=PRIOR, alpha=0.5, lw=0, label="draws of (a, b)")
    left.axvline(CONDITION, color="black", lw=1, ls="--")
    at = np.full(600, CONDITION)
    left.scatter(at, given[shown], s=16, color=POSTERIOR, alpha=0.5, lw=0, label="updated")
    one = int(np.argmin(np.abs(b + 1.3) + np.abs(a + 0.2)))
    left.annotate(
        "",
        xy=(CONDITION, given[one]),
        xytext=(b[one], a[one]),
        arrowprops={"arrowstyle": "->", "color": UPDATE, "lw": 1.8},
    )
    left.set(xlabel="b", ylabel="a", title=f"Draws, and their update to b = {CONDITION}")
    left.legend(loc="upper left", markerscale=2, frameon=False)
    grid = np.linspace(-3.2, 4.0, 300)
    right.hist(given, bins=80, density=True, color=POSTERIOR, alpha=0.45, label="updated draws")
    right.plot(grid, law.pdf(grid), color="black", ls="--", lw=1.5, label="a given b, exactly")
    right.plot(grid, scipy.stats.norm.pdf(grid), color=PRIOR, lw=1.2, label="a, before")
    right.set(xlabel="a", yticks=[], xlim=(-3.2, 4.0), title="The law of a")
    right.legend(loc="upper left", frameon=False)
    claim(
        "updated draws of a bivariate normal law (correlation 0.75) have the conditional law",
        f"{n} draws: mean off by {mean_error:.1f} and variance by {var_error:.1f} standard errors, "
        f"Kolmogorov-Smirnov p = {p:.2f}",
        mean_error < 4 and var_error < 4 and p > 1e-3,
    )


def process(n: int, axes: np.ndarray) -> None:
    """Update draws of a process to pass through data; one of them in steps, all in moments."""
    xs = np.linspace(0.0, 1.0, 201)[:, None]
    post = ll.GP(KERNEL, noise=0.0).condition(X, Y)
    exact = post.predict(xs)
    total, squares, worst = np.zeros(201), np.zeros(201), 0.0
    for key in jax.random.split(jax.random.key(0), n // CHUNK):
        # Each chunk has frequencies of its own, so that their error averages out too.
        paths = post.paths(key, CHUNK, FEATURES)
        values = np.asarray(paths(xs))
        total += values.sum(axis=0)
        squares += ((values - exact.mean) ** 2).sum(axis=0)
        worst = max(worst, float(np.abs(np.asarray(paths(X)) - Y).max()))
    mean, std = total / n, np.sqrt(squares / n)
    inner = exact.std > 1e-3
    mean_error = np.max(np.abs(mean - exact.mean)[inner] / (exact.std[inner] / np.sqrt(n)))
    std_error = np.max(np.abs(std - exact.std))

    key = jax.random.key(5)
    prior = prior_draws(KERNEL, key, 1, dim=1, features=FEATURES)
    first = np.asarray(prior(xs))[0]
    at_data = np.asarray(prior(X))[0]
    given = np.asarray(exact_update(prior, X, Y)(xs))[0]
    residual, update, sum_ = axes
    grid = xs[:, 0]
    residual.plot(grid, first, color=PRIOR, lw=1.6, label="prior draw")
    residual.vlines(X[:, 0], at_data, Y, color="black", ls="--", lw=1.1, label="residual")
    residual.set_title("A prior draw and its residual")
    update.plot(grid, given - first, color=UPDATE, lw=1.6, label="update")
    update.vlines(X[:, 0], 0.0, Y - at_data, color="black", ls="--", lw=1.1)
    update.set_title("The update")
    spread = 2.0 * std
    sum_.fill_between(
        grid, mean - spread, mean + spread, color=POSTERIOR, alpha=0.2, lw=0, label="draws, 2 sd"
    )
    for sign in (-2.0, 2.0):
        edge = exact.mean + sign * exact.std
        label = "posterior, 2 sd" if sign > 0 else None
        sum_.plot(grid, edge, color="black", ls="--", lw=1.0, label=label)
    sum_.plot(grid, given, color=POSTERIOR, lw=1.6, label="prior + update")
    sum_.set_title(f"Their sum, and {n:,} such draws")
    for ax in axes:
        if ax is not update:
            ax.scatter(X[:, 0], Y, color="black", s=22, zorder=3)
        ax.set(xlabel="x", xlim=(0.0, 1.0), ylim=(-3.1, 3.6))
        ax.legend(loc="upper left", ncols=2, frameon=False, fontsize=8)
    claim(
        "conditioned draws of a process have the moments of the posterior",
        f"{n} draws at 201 inputs: mean off by at most {mean_error:.1f} standard errors, "
        f"standard deviation by at most {std_error:.4f} (1 before data)",
        mean_error < 4.5 and std_error < 0.02,
    )
    claim(
        "every conditioned draw passes through the data",
        f"largest residual of {n} draws {worst:.1e}",
        worst < 1e-6,
    )


def main() -> None:
    """Print the claims and draw both figures."""
    given = options(__doc__, quick="a fifth of the draws")
    n = 20_000 if given.quick else 100_000
    figure = plt.figure(figsize=(12.0, 7.2), layout="constrained")
    top, bottom = figure.subfigures(2, 1, hspace=0.04)
    bivariate(n, top.subplots(1, 2))
    process(n, bottom.subplots(1, 3))
    figure.savefig(given.output / "vectors.png", dpi=130)


if __name__ == "__main__":
    main()
