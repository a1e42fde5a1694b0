"""Appendix A.4 of Tiao (2023): draws of a posterior from features, and what tight features buy.

A Gaussian process with a squared exponential kernel (length scales 1, 1/4 and 1/16, noise variance
1e-3) sees 128 uniform points of the unit cube in 1 to 16 dimensions. Draws at 64 other points are
made in two ways: in weight space, where features stand for the kernel everywhere, and decoupled,
where they stand for the prior only and the data are seen through the kernel itself. Given the
features both laws are normal, with

    decoupled     mean  K_* (K + s2 I)^-1 y         (exact),   covariance  R R^T + s2 Xi Xi^T,
                  R = Phi_* - Xi Phi,  Xi = K_* (K + s2 I)^-1;
    weight space  the same with Phi_* Phi^T and Phi Phi^T in place of K_* and K.

The thesis compares empirical moments of 4096 draws with the exact posterior (squared Wasserstein
distance), finds no difference between features for decoupled draws, and suggests closed forms
instead. Here are both, so that it can be settled which is right.

Run it as
`python -m reproductions.tiao_2023.features.posterior_sampling [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import scipy.linalg

from reproductions._script import claim, options
from reproductions.tiao_2023.features._families import STYLES, draw, gram, quadrature, table

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.numerics import blas_threads_for

KERNEL = ll.kernels.SquaredExponential
FAMILIES = ["RFF", "ORF", "Sobol", "Gauss-Hermite"]
WAYS = ["decoupled", "weight space"]
SCALES = {"1": 1.0, "1/4": 0.25, "1/16": 0.0625}
TRAIN, TEST, NOISE, DRAWS = 128, 64, 1e-3, 4096
JITTER = 1e-6  # added to both covariance matrices of a divergence; that of features may be singular


def root(cov: np.ndarray) -> np.ndarray:
    """A square root of a covariance matrix that may be singular."""
    values, vectors = np.linalg.eigh(cov)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def wasserstein2(m1: np.ndarray, a: np.ndarray, m2: np.ndarray, b: np.ndarray) -> float:
    """The squared 2-Wasserstein distance of N(m1, a a^T) and N(m2, b b^T).

    tr (S1^1/2 S2 S1^1/2)^1/2 is the nuclear norm of a^T b for any roots. Unlike the root of an
    eigenvalue it keeps its digits, which the tight features here need.
    """
    nuclear = np.linalg.svd(a.T @ b, compute_uv=False).sum()
    spread = np.sum(a**2) + np.sum(b**2) - 2.0 * nuclear
    return float(np.sum((m1 - m2) ** 2) + max(spread, 0.0))


def divergence(m0: np.ndarray, s0: np.ndarray, m1: np.ndarray, s1: np.ndarray) -> float:
    """KL[N(m0, s0) || N(m1, s1)] with the jitter on both."""
    l0, l1 = (np.linalg.cholesky(s + JITTER * np.eye(len(s))) for s in (s0, s1))
    half = scipy.linalg.solve_triangular(l1, l0, lower=True)
    off = scipy.linalg.solve_triangular(l1, m1 - m0, lower=True)
    logs = np.log(np.diagonal(l1)).sum() - np.log(np.diagonal(l0)).sum()
    return float(logs + 0.5 * (np.sum(half**2) + np.sum(off**2) - len(s0)))


class Problem:
    """Data from the prior, and the exact posterior at the test points."""

    def __init__(self, dim: int, scale: float, seed: int, train: int = TRAIN):
        rng = np.random.default_rng([dim, seed])
        self.scale = scale
        self.x, self.new = rng.uniform(size=(train, dim)), rng.uniform(size=(TEST, dim))
        k = gram(KERNEL, self.x, self.x, scale) + NOISE * np.eye(train)
        self.factor = scipy.linalg.cho_factor(k, lower=True)
        self.y = np.tril(self.factor[0]) @ rng.normal(size=train)
        cross = gram(KERNEL, self.new, self.x, scale)
        self.pull = scipy.linalg.cho_solve(self.factor, cross.T).T
        self.mean = self.pull @ self.y
        self.cov = gram(KERNEL, self.new, self.new, scale) - self.pull @ cross.T
        self.cov = 0.5 * (self.cov + self.cov.T)
        self.root = root(self.cov)

    def law(self, features, way: str) -> tuple[np.ndarray, np.ndarray]:
        """The mean and a root of the covariance of draws, given the features."""
        phi, phi_new = features.matrix(self.x, self.scale), features.matrix(self.new, self.scale)
        if way == "decoupled":
            pull, mean = self.pull, self.mean
        else:
            inside = phi @ phi.T + NOISE * np.eye(len(phi))
            pull = scipy.linalg.solve(inside, phi @ phi_new.T, assume_a="pos").T
            mean = pull @ self.y
        return mean, np.concatenate([phi_new - pull @ phi, np.sqrt(NOISE) * pull], axis=1)

    def measure(self, mean: np.ndarray, half: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Closed-form W2^2 and KL, and W2^2 of the empirical moments of 4096 draws."""
        cov = half @ half.T
        square = root(cov)  # the same law with fewer columns, for the draws
        draws = mean + rng.normal(size=(DRAWS, TEST)) @ square.T
        centered = (draws - draws.mean(axis=0)).T / np.sqrt(DRAWS)
        empirical = wasserstein2(draws.mean(axis=0), root(centered @ centered.T), *self.exact)
        closed = wasserstein2(mean, half, *self.exact)
        return np.array([closed, divergence(mean, cov, self.mean, self.cov), empirical])

    @property
    def exact(self) -> tuple[np.ndarray, np.ndarray]:
        """The mean of the posterior and a root of its covariance."""
        return self.mean, self.root


def measure_grid(dims: list[int], sizes: list[int], repeats: int) -> tuple[dict, dict]:
    """Measures (repeats, sizes, 3) by dimension, scale, family and way; and the floors of draws."""
    found, floors = {}, {}
    for dim in dims:
        sets = {}
        for family in FAMILIES[:3]:
            long = [draw(family, KERNEL, sizes[-1], dim, seed) for seed in range(repeats)]
            sets[family] = [[one.first(size) for size in sizes] for one in long]
        rules = [quadrature("Gauss-Hermite", KERNEL, size, dim) for size in sizes]
        sets["Gauss-Hermite"] = [rules] * repeats
        for s, scale in SCALES.items():
            problems = [Problem(dim, scale, seed) for seed in range(repeats)]
            rng = np.random.default_rng(dim)
            floor = [problem.measure(*problem.exact, rng)[2] for problem in problems]
            floors[dim, s] = float(np.mean(floor))
            for family in FAMILIES:
                for way in WAYS:
                    values = np.full((repeats, len(sizes), 3), np.nan)
                    for i, problem in enumerate(problems):
                        for j, features in enumerate(sets[family][i]):
                            if features is not None:
                                values[i, j] = problem.measure(*problem.law(features, way), rng)
                    found[dim, s, family, way] = values
        print(f"D = {dim} done", flush=True)
    return found, floors


def picture(way: str, found: dict, floors: dict, dims: list[int], sizes: list[int], path) -> None:
    """Squared distances by number of features: closed form, and from 4096 draws."""
    figure, axes = plt.subplots(
        len(SCALES),
        len(dims),
        figsize=(2.5 * len(dims) + 0.6, 2.2 * len(SCALES) + 1.0),
        sharex=True,
        constrained_layout=True,
        squeeze=False,
    )
    for row, s in zip(axes, SCALES, strict=True):
        for axis, dim in zip(row, dims, strict=True):
            for family in FAMILIES:
                values = found[dim, s, family, way]
                if np.isnan(values).all():
                    continue
                color = STYLES[family][0]
                closed = np.exp(np.mean(np.log(np.maximum(values[..., 0], 1e-15)), axis=0))
                drawn = np.exp(np.mean(np.log(values[..., 2]), axis=0))
                axis.loglog(sizes, closed, "o-", color=color, ms=3, lw=1.5, label=family)
                axis.loglog(sizes, drawn, ":", color=color, lw=1.3)
            axis.axhline(floors[dim, s], color="black", lw=0.8, ls="--")
            axis.set_title(f"D = {dim}, length scale {s}", fontsize=9)
            axis.grid(alpha=0.2)
        row[0].set_ylabel("squared distance")
    for axis in axes[-1]:
        axis.set_xlabel("features")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    kinds = [
        plt.Line2D([], [], color="0.3", ls="-", marker="o", ms=3, label="closed form"),
        plt.Line2D([], [], color="0.3", ls=":", label="moments of 4096 draws"),
        plt.Line2D([], [], color="black", ls="--", lw=0.8, label="4096 draws of the posterior"),
    ]
    labels += [str(k.get_label()) for k in kinds]
    figure.legend(handles + kinds, labels, loc="outside lower center", ncols=7, frameon=False)
    figure.suptitle(f"{way.capitalize()} draws: squared Wasserstein distance to the posterior")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def growing_data(sizes: list[int], features: int, repeats: int) -> list[list]:
    """How both ways fare as data grow: one dimension, length scale 1/4, RFF."""
    sets = [draw("RFF", KERNEL, features, 1, seed) for seed in range(repeats)]
    rows = []
    for train in sizes:
        problems = [Problem(1, 0.25, seed, train) for seed in range(repeats)]
        row: list = [train]
        for way in WAYS:
            laws = [p.law(f, way) for p, f in zip(problems, sets, strict=True)]
            pairs = list(zip(problems, laws, strict=True))
            row.append(float(np.mean([wasserstein2(*law, *p.exact) for p, law in pairs])))
            variance = [np.sum(law[1] ** 2) / np.sum(p.root**2) for p, law in pairs]
            row.append(float(np.mean(variance)))
        rows.append(row)
    return rows


def main() -> None:
    """Measure the grid, print tables and claims, and draw."""
    chosen = options(__doc__)
    dims = [1, 4] if chosen.quick else [1, 2, 4, 8, 16]
    sizes = [16, 256] if chosen.quick else [16, 64, 256, 1024]
    repeats = 2 if chosen.quick else 5
    found, floors = measure_grid(dims, sizes, repeats)

    def of(cell, family, way="decoupled", which=0):
        dim, s, size = cell
        return float(np.median(found[dim, s, family, way][:, sizes.index(size), which]))

    size = 256
    rows = []
    for dim in dims:
        for s in SCALES:
            for way in WAYS:
                closed, kl, drawn = (
                    [of((dim, s, size), family, way, which) for family in FAMILIES]
                    for which in range(3)
                )
                rows.append([dim, s, way, *closed, *drawn, floors[dim, s], *kl])
    short = ["RFF", "ORF", "Sobol", "GH"]
    print(f"\n{size} features, medians of {repeats}: squared Wasserstein distance in closed form,")
    print(
        "the same from 4096 draws (and from 4096 draws of the posterior itself), and KL divergence"
    )
    print(f"with a jitter of {JITTER:g}")
    header = ["D", "scale", "way", *short, *(f"{f}, 4096" for f in short), "exact, 4096"]
    table([*header, *(f"{f}, KL" for f in short)], rows)

    cells = [(dim, s, n) for dim in dims for s in SCALES for n in sizes]
    few = [cell for cell in cells if cell[0] < 5 and not np.isnan(of(cell, "Gauss-Hermite"))]
    hermite = {
        way: np.array([of(c, "RFF", way) / max(of(c, "Gauss-Hermite", way), 1e-14) for c in few])
        for way in WAYS
    }
    random = np.array([[of(c, family) for family in FAMILIES[:3]] for c in cells])
    spread = random.max(axis=1) / random.min(axis=1)
    gain = hermite["weight space"]
    claim(
        "weight-space draws gain much from tight features (Gauss-Hermite, D < 5)",
        f"W2^2 of RFF over that of Gauss-Hermite: median {np.median(gain):.2g}, over 10 in "
        f"{np.mean(gain > 10):.0%} of {len(few)} cells, under 1 in {np.mean(gain < 1):.0%}",
        bool(np.median(gain) > 10),
        "where the rule reaches as far as the inputs",
    )
    gain = hermite["decoupled"]
    claim(
        "decoupled draws: all features are indistinguishable (W2^2)",
        f"RFF, ORF and Sobol are, in closed form: largest over smallest has median "
        f"{np.median(spread):.2f} in {len(cells)} cells; Gauss-Hermite is not: RFF over it has "
        f"median {np.median(gain):.2g}, over 10 in {np.mean(gain > 10):.0%} of {len(few)} cells "
        "with D < 5",
        bool(np.median(gain) < 2),
        "tight features help decoupled draws too, where they are tight",
    )
    # Could 4096 draws have shown it?
    apart = [c for c, g in zip(few, gain, strict=True) if g > 2]
    seen = [of(c, "RFF", which=2) > 2 * of(c, "Gauss-Hermite", which=2) for c in apart]
    floor = [floors[dim, s] for dim, s, _ in few]
    claim(
        "the noise of 4096 draws hides what differences there are",
        f"W2^2 of RFF is over twice that of Gauss-Hermite in {len(apart)} of {len(few)} cells in "
        f"closed form, and moments of 4096 draws show it in {np.sum(seen)} of them",
        bool(np.mean(seen) < 0.5),
        f"draws of the posterior itself have {min(floor):.0e} to {max(floor):.0e}, about "
        "(1 + 64/4) tr(cov) / 4096: little where data are dense",
    )
    shares = np.array([of(c, "RFF") / of(c, "RFF", "weight space") for c in cells])
    claim(
        "decoupled draws are closer to the posterior than weight-space draws",
        f"with RFF in {np.mean(shares < 1):.0%} of {len(cells)} cells; median ratio of W2^2 "
        f"{np.median(shares):.1e}",
        bool(np.mean(shares < 1) > 0.99),
    )
    counts, each = ([4, 16, 64], 3) if chosen.quick else ([4, 16, 64, 256, 1024], 10)
    grown = growing_data(counts, 64, each)
    print(
        "Growing data: one dimension, length scale 1/4, 64 random features; W2^2 and the share of"
    )
    print("the posterior's total variance that the draws have")
    header = ["rows", "decoupled", "variance", "weight space", "variance"]
    table(header, grown)
    ratio = grown[-1][3] / grown[0][3], grown[-1][1] / grown[0][1]
    claim(
        "decoupled draws are robust to the number of data, weight-space draws starve",
        f"from {grown[0][0]} to {grown[-1][0]} rows W2^2 changes by a factor of {ratio[1]:.1g} "
        f"(decoupled) and {ratio[0]:.1g} (weight space); variance share at the end "
        f"{grown[-1][2]:.2f} and {grown[-1][4]:.2f}",
        ratio[1] < 1 and grown[-1][1] < 0.1 * grown[-1][3],
    )
    for way in WAYS:
        name = f"posterior_sampling_{way.replace(' ', '_')}.png"
        picture(way, found, floors, dims, sizes, chosen.output / name)


if __name__ == "__main__":
    with blas_threads_for(1):
        main()
