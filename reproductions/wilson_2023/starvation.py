"""Figure 3.3 of Wilson (2023): variance starvation of draws in a Fourier basis.

Data with a noise variance of 1e-5 lie in the middle half of the unit interval. A prior draw of 1000
random Fourier features of a squared exponential kernel (length scale 0.05) is updated in the same
features, and in the kernel's own basis at the data. The thesis shows curves of 100 000 draws and no
numbers. Here the laws of both kinds of draws are in closed form, and their distance from the true
posterior is the 2-Wasserstein distance over 300 inputs, divided by the root of 300: a root mean
square error of the best coupled draws.

The column `replica` holds figures of an independent replica in NumPy, of one basis. Its data are
not known, nor how far from the data "outside" begins (here one length scale), so it shows the size
of the figures, not their digits. The mean of draws in the kernel's basis is exact whatever the
data, so their distances do compare.

Run it as `python -m reproductions.wilson_2023.starvation [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import jax
import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.diagnostics import decoupled_moments, wasserstein2, weight_space_moments
from leadline.models import ExactPosterior
from leadline.paths import FourierFeatures, gaussian_update, prior_draws, weight_space_update
from reproductions._script import claim, options

LENGTHSCALE, NOISE, FEATURES = 0.05, 1e-5, 1000
KERNEL = ll.kernels.SquaredExponential(LENGTHSCALE)
XS = np.linspace(0.0, 1.0, 300)[:, None]
OUTSIDE = np.abs(XS[:, 0] - 0.5) > 0.25 + LENGTHSCALE
STARVED, DECOUPLED = "#2b7bba", "#d95f02"


class Figures(NamedTuple):
    """What is compared: distances, deviations outside the data, and the largest error in mean."""

    starved: float
    decoupled: float
    std_true: float
    std_starved: float
    std_decoupled: float
    mean_error: float


REPLICA = {
    10: Figures(0.062, 0.056, 0.978, 0.967, 0.973, 0.097),
    100: Figures(0.076, 0.036, 0.909, 0.868, 0.901, 0.128),
    1000: Figures(0.100, 0.035, 0.896, 0.839, 0.888, 0.205),
}


def targets(kind: str, x: np.ndarray) -> np.ndarray:
    """Noisy values of a draw from the prior, or of a smooth function."""
    if kind == "prior draw":
        truth = prior_draws(KERNEL, jax.random.key(1), 1, dim=1, features=4096)
        f = np.asarray(truth(x))[0]
    else:
        f = np.sin(4.0 * np.pi * x[:, 0])
    return f + np.sqrt(NOISE) * np.random.default_rng(0).normal(size=x.shape[0])


def condition(kind: str, n: int) -> ExactPosterior:
    """The posterior given `n` evenly spaced observations."""
    x = np.linspace(0.25, 0.75, n)[:, None]
    return ll.GP(KERNEL, noise=NOISE).condition(x, targets(kind, x))


def figures(post: ExactPosterior, features: FourierFeatures) -> Figures:
    """All figures of one basis, in closed form."""
    exact = post.joint(XS)
    laws = weight_space_moments(post, features, XS), decoupled_moments(post, features, XS)
    distances = [wasserstein2(w.mean, w.cov, exact.mean, exact.cov) for w in laws]
    stds = [np.mean(w.marginals.std[OUTSIDE]) for w in (exact, *laws)]
    error = np.max(np.abs(laws[0].mean - exact.mean))
    return Figures(*(d / np.sqrt(len(XS)) for d in distances), *stds, error)


def basis(points: str, seed: int) -> FourierFeatures:
    """One basis of random or evenly spread frequencies."""
    return FourierFeatures(KERNEL, FEATURES, 1, key=jax.random.key(seed), points=points)


def table(sizes: list[int], bases: int) -> dict[tuple[str, int, str], Figures]:
    """Print all figures; return those that are means over bases."""
    found = {}
    header = "data          n  basis                   W2 starved  W2 decoupled"
    print(f"{header}  std outside: true  starved  decoupled  mean error")
    for kind in ("prior draw", "smooth"):
        for n in sizes:
            post = condition(kind, n)
            rows = {}
            for points in ("random", "sobol"):
                each = [figures(post, basis(points, seed)) for seed in range(bases)]
                mean = Figures(*(float(v) for v in np.mean(each, axis=0)))
                found[kind, n, points] = mean
                if points == "random":
                    rows["random, one"] = each[0]
                rows[f"{points}, mean of {bases}"] = mean
            if kind == "smooth":
                rows["replica (random, one)"] = REPLICA[n]
            for name, row in rows.items():
                print(
                    f"{kind:10s} {n:4d}  {name:22s} {row.starved:11.3f} {row.decoupled:13.3f} "
                    f"{row.std_true:18.3f} {row.std_starved:8.3f} {row.std_decoupled:10.3f} "
                    f"{row.mean_error:11.3f}"
                )
    return found


def claims(found: dict[tuple[str, int, str], Figures], sizes: list[int], bases: int) -> None:
    """Print what the thesis says beside what is found, for data of a prior draw."""
    first, last = (found["prior draw", n, "random"] for n in (sizes[0], sizes[-1]))
    where = f"data of a prior draw, means over {bases} bases, n = {sizes[0]} and {sizes[-1]}"
    ratios = last.starved / last.decoupled, first.starved / first.decoupled
    calibration = last.std_decoupled / last.std_true

    claim(
        "updates in the Fourier basis extrapolate more and more erratically as n nears the number "
        "of features",
        f"distance from the posterior {first.starved:.3f} and {last.starved:.3f}, largest error in "
        f"mean {first.mean_error:.2f} and {last.mean_error:.2f} ({where})",
        last.starved > 1.5 * first.starved and last.mean_error > first.mean_error,
    )
    claim(
        "updates in the kernel's basis stay calibrated",
        f"distance {first.decoupled:.3f} and {last.decoupled:.3f}, deviation outside the data "
        f"{calibration:.3f} of the true one, {last.std_starved / last.std_true:.3f} in the Fourier "
        f"basis ({where})",
        last.decoupled <= first.decoupled and abs(calibration - 1.0) < 0.03,
    )
    claim(
        "the two diverge as n nears the number of features",
        f"ratio of the distances {ratios[1]:.1f} and {ratios[0]:.1f} ({where})",
        ratios[0] > 2.0 and ratios[0] > ratios[1],
    )


def picture(sizes: list[int], path: Path) -> None:
    """Single draws above, laws below, of one random basis."""
    figure, axes = plt.subplots(
        2,
        len(sizes),
        figsize=(4.4 * len(sizes), 6.0),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    features, grid = basis("random", 0), XS[:, 0]
    prior = prior_draws(KERNEL, jax.random.key(2), 1, features=features)
    for (top, bottom), n in zip(axes.T, sizes, strict=True):
        post = condition("prior draw", n)
        x, y = post.rows.x[:n], post.rows.y[:n]
        key = jax.random.key(3)
        starved = np.asarray(weight_space_update(prior, x, y, NOISE, key=key)(XS))[0]
        decoupled = np.asarray(gaussian_update(prior, x, y, NOISE, key=key)(XS))[0]
        top.plot(grid, np.asarray(prior(XS))[0], color="0.6", lw=0.9, label="prior draw")
        top.plot(grid, starved, color=STARVED, lw=1.7, label="updated in the Fourier basis")
        top.plot(grid, decoupled, color="black", ls="--", lw=1.3, label="in the kernel's basis")
        top.set_title(f"n = {n}")
        laws = {
            "Fourier basis": (weight_space_moments(post, features, XS), STARVED),
            "kernel's basis": (decoupled_moments(post, features, XS), DECOUPLED),
        }
        for name, (law, color) in laws.items():
            spread = 2.0 * law.marginals.std
            low, high = law.mean - spread, law.mean + spread
            bottom.fill_between(grid, low, high, color=color, alpha=0.3, lw=0, label=name)
            bottom.plot(grid, law.mean, color=color, lw=1.4)
        exact = post.predict(XS)
        for sign in (-2.0, 0.0, 2.0):
            label = "posterior" if sign == 0 else None
            curve = exact.mean + sign * exact.std
            bottom.plot(grid, curve, color="black", ls=":", lw=1.1, label=label)
        bottom.set_xlabel("x")
        for ax in (top, bottom):
            ax.axvspan(0.25, 0.75, color="0.93", zorder=0)
            ax.set(xlim=(0.0, 1.0), ylim=(-4.5, 4.5))
    axes[0, 0].set_ylabel("one draw")
    axes[1, 0].set_ylabel("mean and 2 standard deviations")
    for ax in axes[:, -1]:
        ax.legend(loc="upper center", frameon=False, fontsize=8, ncols=1)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main() -> None:
    """Print the table and the claims, and draw the figure."""
    given = options(__doc__, quick="n up to 100, and two bases")
    sizes, bases = ([10, 100], 2) if given.quick else ([10, 100, 1000], 20)
    claims(table(sizes, bases), sizes, bases)
    picture(sizes, given.output / "starvation.png")


if __name__ == "__main__":
    main()
