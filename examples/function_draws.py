"""The picture of the page on function draws: a prior draw, its update, and the posterior draw."""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import jax
import matplotlib.pyplot as plt
import numpy as np

import leadline as ll


def main(target):
    x = np.array([[0.08], [0.22], [0.4], [0.55], [0.62], [0.9]])
    y = np.sin(12 * x[:, 0]) + x[:, 0]
    kernel = 1.5 * ll.kernels.Matern52(lengthscale=0.2)
    key, xs = jax.random.key(4), np.linspace(0, 1, 300)[:, None]

    prior = ll.paths.prior_draws(kernel, key, 3, dim=1, noise=1e-4)
    posterior = prior.update(x, y)
    before, after = np.asarray(prior(xs)), np.asarray(posterior(xs))
    belief = ll.GP(kernel, noise=1e-4).condition(x, y).predict(xs)

    figure, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, constrained_layout=True)
    titles = ("a draw from the prior", "+  what the data add to it", "=  a draw from the posterior")
    for axis, title, values in zip(axes, titles, (before, after - before, after), strict=True):
        axis.plot(xs[:, 0], values.T, linewidth=1.2)
        axis.set(title=title, xlabel="x")
        axis.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axes[0].fill_between(xs[:, 0], -1.96 * 1.5**0.5, 1.96 * 1.5**0.5, color="0.9", zorder=-1)
    axes[2].fill_between(
        xs[:, 0], belief.quantile(0.025), belief.quantile(0.975), color="0.9", zorder=-1
    )
    for axis in axes[:2]:
        axis.plot(x[:, 0], np.full(len(x), -4.0), "k|", markersize=5)
    axes[2].plot(x[:, 0], y, "ko", markersize=5)
    axes[0].set_ylim(-4.2, 4.2)
    figure.savefig(target, dpi=120)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
