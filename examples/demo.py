"""A catalyst's yield, learned from 25 runs: fit, predict with error bars, and look.

Each run of the reactor costs a day, so there are few; the readings are noisy. The process says
where the yield is high, and how sure it is about runs that nobody made.
"""

import os
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import leadline as ll

PICTURE = Path(__file__).with_name("demo.png")


def reaction_yield(temperature, hours):
    """Percent of product: too cold is slow, too hot or too long decomposes it."""
    rate = np.exp(9.0 - 4200.0 / (temperature + 273.0))
    decay = np.exp(23.0 - 10500.0 / (temperature + 273.0))
    return 100.0 * rate / (rate - decay) * (np.exp(-decay * hours) - np.exp(-rate * hours))


def main():
    rng = np.random.default_rng(3)
    runs = np.column_stack([rng.uniform(120, 220, 25), rng.uniform(0.5, 8, 25)])
    readings = reaction_yield(*runs.T) + rng.normal(0, 1.5, 25)

    kernel = 100.0 * ll.kernels.Matern52(lengthscale=[30.0, 2.0])
    post = ll.GP(kernel, mean=50.0, noise=1.0).fit(runs, readings)

    print(post.gp)
    print(f"log evidence {float(post.log_evidence):.2f}\n")
    asked = np.array([[140.0, 2.0], [160.0, 4.0], [170.0, 2.5], [180.0, 6.0], [200.0, 1.0]])
    found = post.predict(asked)
    print("  deg C   hours   predicted yield      true")
    for (temperature, hours), mean, std in zip(asked, found.mean, found.std, strict=True):
        truth = reaction_yield(temperature, hours)
        print(f"{temperature:7.0f} {hours:7.1f}   {mean:7.1f} +- {2 * std:4.1f}   {truth:7.1f}")

    t, h = np.meshgrid(np.linspace(120, 220, 80), np.linspace(0.5, 8, 80))
    grid = post.predict(np.column_stack([t.ravel(), h.ravel()]))
    best = np.argmax(grid.mean)
    print(
        f"\nHighest predicted yield {grid.mean[best]:.1f} +- {2 * grid.std[best]:.1f} % at "
        f"{t.ravel()[best]:.0f} deg C, {h.ravel()[best]:.1f} h"
    )

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, constrained_layout=True)
    panels = [
        ("Predicted yield, %", grid.mean, "viridis"),
        ("Uncertainty (std), %", grid.std, "magma"),
    ]
    for axis, (title, values, colors) in zip(axes, panels, strict=True):
        shown = axis.contourf(t, h, values.reshape(t.shape), levels=14, cmap=colors)
        figure.colorbar(shown, ax=axis)
        axis.scatter(*runs.T, c="white", edgecolor="black", s=28, label="runs made")
        axis.set(title=title, xlabel="temperature, deg C")
    axes[0].plot(t.ravel()[best], h.ravel()[best], "r*", markersize=14, label="highest predicted")
    axes[0].set_ylabel("hours")
    axes[0].legend(loc="upper left", bbox_to_anchor=(0, -0.18), ncols=2, frameon=False)
    figure.savefig(PICTURE, dpi=130)
    print(f"Picture: {os.path.relpath(PICTURE)}")


if __name__ == "__main__":
    main()
