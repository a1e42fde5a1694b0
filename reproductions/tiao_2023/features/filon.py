"""Figures A.5 and A.6 of Tiao (2023): kernel values by quadrature of the spectrum, near and far.

The squared exponential kernel with length scale 1/5, from 256 frequencies (257 where a rule takes
odd numbers): Gauss-Hermite, Gauss-Legendre, Simpson's and Filon's rules. All but Filon's are sums
of waves, which repeat themselves sooner or later; the question is where.

Run it as `python -m reproductions.tiao_2023.features.filon [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import jax
import matplotlib as mpl
import numpy as np

from reproductions._script import claim, options
from reproductions.tiao_2023.features._families import STYLES, quadrature, table

mpl.use("Agg")

import matplotlib.pyplot as plt

import leadline as ll
from leadline.paths import filon_kernel

SCALE, NODES = 0.2, 256
KERNEL = ll.kernels.SquaredExponential
WAVES = ["Gauss-Hermite", "Gauss-Legendre", "Simpson"]
STYLE = {**STYLES, "Legendre, no scale": ("#9467bd", ":"), "Filon": ("black", "-")}


def by_rule(lags: np.ndarray) -> dict[str, np.ndarray]:
    """The kernel at the lags by each rule."""
    found = {}
    for name in WAVES:
        # A rule with n nodes keeps one of each pair.
        features = quadrature(name, KERNEL, NODES + 2 * (name == "Simpson"), 1)
        found[name] = np.cos(np.outer(lags / SCALE, features.theta[:, 0])) @ features.weight
    u, w = np.polynomial.legendre.leggauss(NODES)
    theta = np.tan(0.5 * np.pi * u)
    density = SCALE / np.sqrt(2 * np.pi) * np.exp(-0.5 * (SCALE * theta) ** 2)
    weight = w * density * 0.5 * np.pi * (1 + theta**2)
    found["Legendre, no scale"] = np.cos(np.outer(lags, theta)) @ weight
    filon = jax.jit(filon_kernel, static_argnums=2)
    # It runs over positive frequencies: 129 nodes there are 257 of both signs.
    found["Filon"] = np.asarray(filon(KERNEL(SCALE), lags, NODES // 2 + 1))
    return found


def main() -> None:
    """Compare the rules on [-3, 3] and up to a lag of 1000."""
    chosen = options(__doc__)
    near = np.linspace(-3, 3, 1001)
    far = np.linspace(0, 1000, 5_001 if chosen.quick else 50_001)
    exact = {"near": np.exp(-0.5 * (near / SCALE) ** 2), "far": np.exp(-0.5 * (far / SCALE) ** 2)}
    errors = {
        "near": {k: np.abs(v - exact["near"]) for k, v in by_rule(near).items()},
        "far": {k: np.abs(v - exact["far"]) for k, v in by_rule(far).items()},
    }
    rows, breaks = [], {}
    for name in errors["far"]:
        wrong = far[errors["far"][name] > 1e-2]
        breaks[name] = wrong[0] if len(wrong) else np.inf
        beyond = errors["far"][name][far > 100].max()
        rows.append([name, errors["near"][name].max(), f"{breaks[name]:.1f}", beyond])
    print(f"Squared exponential, length scale {SCALE}, {NODES} nodes (257 for Simpson and Filon)")
    table(["rule", "largest error on [-3, 3]", "error > 0.01 from lag", "largest beyond 100"], rows)

    ends = [name for name in breaks if name != "Filon"]
    worst = {name: e.max() for name, e in errors["near"].items()}
    claim(
        "on [-3, 3] all rules but Gauss-Hermite are indistinguishable from the kernel",
        ", ".join(f"{name} {e:.0e}" for name, e in worst.items()),
        max(worst.values()) < 1e-6 < worst["Gauss-Hermite"],
        "all of them are, Gauss-Hermite included: 256 nodes carry it to a lag of "
        f"{breaks['Gauss-Hermite']:.0f}",
    )
    claim(
        "Filon's rule pays only at lags beyond 100",
        "; ".join(f"{name} is off by 0.01 from lag {breaks[name]:.0f} on" for name in ends),
        min(breaks[name] for name in WAVES) > 100,
        "no finite sum of waves goes on for ever, and these end much sooner; but the kernel there "
        "is 0 to all digits, so nobody needs a rule for it",
    )
    claim(
        "Filon's rule is right at any lag",
        f"largest error {errors['far']['Filon'].max():.0e} up to a lag of 1000, and "
        f"{errors['far']['Filon'][far > 100].max():.0e} beyond 100",
        errors["far"]["Filon"].max() < 1e-3,
    )

    figure, axes = plt.subplots(1, 2, figsize=(11, 4), constrained_layout=True)
    for name in errors["far"]:
        color, dash = STYLE[name]
        axes[0].semilogy(
            near, errors["near"][name] + 1e-17, color=color, ls=dash, lw=1.3, label=name
        )
        # The largest error up to each lag, so that a curve is not a solid block.
        reached = np.maximum.accumulate(errors["far"][name])
        axes[1].loglog(far[1:], reached[1:] + 1e-17, color=color, ls=dash, lw=1.6, label=name)
    axes[0].set(xlabel="lag", ylabel="absolute error", title="Near", ylim=(1e-17, 3))
    axes[1].set(xlabel="lag", title="Largest error up to a lag", ylim=(1e-17, 3))
    axes[1].axvline(3, color="0.7", lw=0.8)
    axes[1].legend(frameon=False, fontsize=8.5, loc="lower right")
    for axis in axes:
        axis.grid(alpha=0.2)
    figure.suptitle(f"Squared exponential kernel, length scale 1/5, from {NODES} frequencies")
    figure.savefig(chosen.output / "filon.png", dpi=140)


if __name__ == "__main__":
    main()
