"""Appendix A.4 of Tiao (2023): how well features stand for a kernel, by dimension and length scale.

The relative Frobenius error of the covariance matrix against the number of features, for squared
exponential and Matern-5/2 kernels with length scales 1, 1/4 and 1/16. The thesis does not say how
inputs were scaled, which decides everything; here each column is moved to [0, 1]. Of its data sets,
motorcycle and Boston do not come with scikit-learn: uniform inputs stand for the first.

Run it as `python -m reproductions.tiao_2023.features.prior_error [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
from sklearn import datasets

from reproductions._script import claim, options
from reproductions.tiao_2023.features._families import (
    QUADRATURE,
    RANDOM,
    STYLES,
    draw,
    gram,
    quadrature,
    table,
)

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.numerics import blas_threads_for

KERNELS = {"SE": ll.kernels.SquaredExponential, "Matern-5/2": ll.kernels.Matern52}
SCALES = {"1": 1.0, "1/4": 0.25, "1/16": 0.0625}
ROWS = 150
SHOWN = 256  # features in the printed table


def inputs(quick: bool) -> dict[str, np.ndarray]:
    """Columns scaled to [0, 1]; at most 150 rows of each data set."""
    rng = np.random.default_rng(0)
    found = {"uniform": np.linspace(0, 1, ROWS)[:, None], "iris": datasets.load_iris().data}
    if not quick:
        found["diabetes"] = datasets.load_diabetes().data
        found["wine"] = datasets.load_wine().data
        found["breast cancer"] = datasets.load_breast_cancer().data
    for name, x in found.items():
        x = x[rng.permutation(len(x))[:ROWS]]
        found[name] = (x - x.min(axis=0)) / (x.max(axis=0) - x.min(axis=0))
    return found


def error(features, x: np.ndarray, scale: float, exact: np.ndarray) -> float:
    """The relative Frobenius error."""
    phi = features.matrix(x, scale)
    return float(np.linalg.norm(phi @ phi.T - exact) / np.linalg.norm(exact))


def errors_of(name: str, x: np.ndarray, sizes: list[int], repeats: int) -> dict:
    """(kernel, length scale, family) -> errors (repeats, sizes), or (1, sizes) if deterministic."""
    dim, found = x.shape[1], {}
    for kernel, make in KERNELS.items():
        exact = {s: gram(make, x, x, scale) for s, scale in SCALES.items()}
        for family in RANDOM:
            if family == "Sobol, weighted" and kernel == "SE":
                continue
            sets = [draw(family, make, sizes[-1], dim, seed) for seed in range(repeats)]
            cuts = [[one.first(size) for size in sizes] for one in sets]
            for s, scale in SCALES.items():
                found[kernel, s, family] = np.array(
                    [[error(features, x, scale, exact[s]) for features in row] for row in cuts]
                )
        for family in QUADRATURE:
            rules = [quadrature(family, make, size, dim) for size in sizes]
            for s, scale in SCALES.items():
                each = [np.nan if r is None else error(r, x, scale, exact[s]) for r in rules]
                found[kernel, s, family] = np.array([each])
    print(f"{name}: {x.shape[0]} rows, {dim} columns", flush=True)
    return found


def picture(kernel: str, results: dict, dims: dict, sizes: list[int], path) -> None:
    """One panel for each data set and length scale."""
    figure, axes = plt.subplots(
        len(results),
        len(SCALES),
        figsize=(10.5, 2.3 * len(results) + 0.7),
        sharex=True,
        sharey="row",
        constrained_layout=True,
    )
    for row, (name, found) in zip(axes, results.items(), strict=True):
        for axis, s in zip(row, SCALES, strict=True):
            for family, (color, dash) in STYLES.items():
                values = found.get((kernel, s, family))
                if values is None:
                    continue
                mean = np.maximum(values.mean(axis=0), 1e-16)
                axis.loglog(sizes, mean, color=color, ls=dash, lw=1.5, label=family)
                if len(values) > 1:
                    half = 1.96 * values.std(axis=0, ddof=1) / np.sqrt(len(values))
                    low = np.maximum(mean - half, 0.05 * mean)
                    axis.fill_between(sizes, low, mean + half, color=color, alpha=0.15, lw=0)
            axis.set_title(f"{name} (D = {dims[name]}), length scale {s}", fontsize=9)
            axis.grid(alpha=0.2)
        means = [v.mean(axis=0) for key, v in found.items() if key[0] == kernel]
        row[0].set_ylim(max(0.4 * np.nanmin(means), 1e-16), 20.0)
        row[0].set_ylabel("relative error")
    for axis in axes[-1]:
        axis.set_xlabel("features")
    # The panel with the longest legend speaks for all.
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle(f"{kernel} kernel: relative Frobenius error of the covariance matrix")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Measure, print the table and the claims, and draw."""
    chosen = options(__doc__)
    sizes = [16, 64, 256] if chosen.quick else [2**k for k in range(4, 13)]
    data = inputs(chosen.quick)
    repeats = 3 if chosen.quick else 25
    results = {name: errors_of(name, x, sizes, repeats) for name, x in data.items()}
    dims = {name: x.shape[1] for name, x in data.items()}

    at = sizes.index(SHOWN)
    print(f"\nRelative error with {SHOWN} features, mean of {repeats} draws")
    rows = []
    for kernel in KERNELS:
        for name, found in results.items():
            for s in SCALES:
                means = (found.get((kernel, s, family)) for family in STYLES)
                cells = [np.nan if m is None else float(m.mean(axis=0)[at]) for m in means]
                rows.append([kernel, name, dims[name], s, *cells])
    table(["kernel", "data", "D", "scale", *STYLES], rows)

    def mean(kernel, name, s, family, size=SHOWN):
        return float(results[name][kernel, s, family].mean(axis=0)[sizes.index(size)])

    best_of = ["RFF", "RFF, phases", "Sobol", "ORF"]
    gain = {
        s: mean("SE", "uniform", s, "Sobol") / mean("SE", "uniform", s, "Gauss-Hermite")
        for s in SCALES
    }
    claim(
        "SE, D = 1: Gaussian quadrature needs orders of magnitude fewer features",
        f"with {SHOWN} features its error is smaller than Sobol's by "
        + ", ".join(f"{g:.0e} (length scale {s})" for s, g in gain.items()),
        min(gain.values()) > 100,
    )
    iris = {
        s: [
            size
            for size in sizes
            if mean("SE", "iris", s, "Gauss-Hermite", size)
            < min(mean("SE", "iris", s, f, size) for f in best_of)
        ]
        for s in SCALES
    }
    claim(
        "SE, D = 4: Gauss-Hermite is best for length scales above 1/16",
        "; ".join(
            f"length scale {s}: "
            + (f"best with {', '.join(map(str, n))} features" if n else "never best")
            for s, n in iris.items()
        ),
        set(sizes[2:]) <= set(iris["1"]) and set(sizes[2:]) <= set(iris["1/4"]),
        "range / length scale decides as much as D does",
    )
    worse = {
        name: [
            mean("SE", name, s, "Gauss-Legendre") / max(mean("SE", name, s, f) for f in best_of)
            for s in SCALES
        ]
        for name in results
        if dims[name] >= 4 and not np.isnan(mean("SE", name, "1", "Gauss-Legendre"))
    }
    claim(
        "SE: Gauss-Legendre is worse than everything else from D = 4 on",
        "; ".join(
            f"{name}: {min(r):.1f} to {max(r):.0f} times the worst random family"
            for name, r in worse.items()
        ),
        all(min(r) > 1 for r in worse.values()),
        f"with {SHOWN} features",
    )
    if not chosen.quick:
        size = 4096
        order = {
            s: sorted((mean("SE", "diabetes", s, f, size), f) for f in [*best_of, "Gauss-Hermite"])
            for s in SCALES
        }
        claim(
            "SE, D = 10: Gauss-Hermite is the worst",
            "; ".join(
                f"length scale {s}: {e[-1][1]} is, {e[-1][0]:.2g}; {e[0][1]} has {e[0][0]:.2g}"
                for s, e in order.items()
            ),
            all(e[-1][1] == "Gauss-Hermite" for e in order.values()),
            f"with {size} features, 2 nodes along each axis",
        )
        legendre = {
            s: mean("SE", "diabetes", s, "Gauss-Legendre", size)
            / mean("SE", "diabetes", s, "RFF", size)
            for s in SCALES
        }
        claim(
            "SE: for D > 5 Gauss-Legendre is worse by a factor of 100 or more",
            "diabetes: "
            + ", ".join(f"{r:.0f} times RFF (length scale {s})" for s, r in legendre.items()),
            min(legendre.values()) > 100,
        )
        claim(
            "quadrature is not feasible beyond D = 13",
            "2 nodes along each of 13 columns are 8192 features, of 30 columns 1e9",
            bool(np.isnan(mean("SE", "wine", "1", "Gauss-Hermite", size))),
        )
    ratios = []
    for name in results:
        for s in SCALES:
            each = {family: mean("SE", name, s, family) for family in best_of}
            ratios.append(each["Sobol"] / min(each.values()))
    claim(
        "SE: Sobol frequencies are the best of the random families",
        f"in {sum(r == 1 for r in ratios)} of {len(ratios)} cases with {SHOWN} features, elsewhere "
        f"at most {max(ratios):.2f} times the best",
        max(ratios) < 1.1,
        "where D is large and the length scale small all families are level",
    )
    phases = [
        mean("SE", name, s, "RFF, phases") / mean("SE", name, s, "RFF")
        for name in results
        for s in SCALES
    ]
    claim(
        "SE: random phases have more error than pairs of cosines and sines",
        f"{min(phases):.2f} to {max(phases):.2f} times as much",
        min(phases) > 1,
        "" if min(phases) > 1 else "at length scales far below the range they are level",
    )
    high = [name for name in results if dims[name] >= 4]
    weighted = {
        name: [
            mean("Matern-5/2", name, s, "Sobol, weighted") / mean("Matern-5/2", name, s, "RFF")
            for s in SCALES
        ]
        for name in high
    }
    claim(
        "Matern: Sobol frequencies with importance weights are bad and variable in many dimensions",
        "; ".join(
            f"{name}: {min(r):.1f} to {max(r):.1f} times RFF" for name, r in weighted.items()
        ),
        all(max(r) > 1 for name, r in weighted.items() if dims[name] > 5),
    )
    quantiles = {
        name: [
            mean("Matern-5/2", name, s, "Sobol") / mean("Matern-5/2", name, s, "RFF")
            for s in SCALES
        ]
        for name in results
    }
    claim(
        "(ours) Matern: t quantiles of one more Sobol coordinate mend that",
        "; ".join(
            f"{name}: {min(r):.2f} to {max(r):.2f} times RFF" for name, r in quantiles.items()
        ),
        all(max(r) < 1.05 for r in quantiles.values()),
    )
    for kernel, stem in (("SE", "prior_error_se"), ("Matern-5/2", "prior_error_matern")):
        picture(kernel, results, dims, sizes, chosen.output / f"{stem}.png")


if __name__ == "__main__":
    with blas_threads_for(1):
        main()
