"""The picture of the README: eight soundings of a function, and what is believed in between."""

import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import jax
import matplotlib.pyplot as plt
import numpy as np

import leadline as ll


def main(target):
    x = np.array([[0.05], [0.2], [0.35], [0.4], [0.6], [0.75], [0.8], [0.95]])
    y = np.sin(12 * x[:, 0]) + x[:, 0]
    post = ll.GP(1.0 * ll.kernels.Matern52(lengthscale=0.2), noise=1e-4).fit(x, y)
    xs = np.linspace(0, 1, 200)[:, None]
    p = post.predict(xs)
    draws = np.asarray(post.sample(jax.random.key(0), xs, 5))

    figure, axis = plt.subplots(figsize=(7, 3), constrained_layout=True)
    axis.fill_between(
        xs[:, 0], p.quantile(0.025), p.quantile(0.975), alpha=0.25, label="95 % of what is believed"
    )
    axis.plot(xs[:, 0], draws.T, color="tab:blue", linewidth=0.6, alpha=0.6)
    axis.plot(xs[:, 0], p.mean, color="tab:blue", label="mean")
    axis.plot(xs[:, 0], np.sin(12 * xs[:, 0]) + xs[:, 0], "k--", linewidth=1, label="the function")
    axis.plot(x[:, 0], y, "ko", label="eight calls of it")
    axis.legend(fontsize=8, ncols=2, loc="lower left", frameon=False)
    axis.set(xlabel="x", ylim=(-2.6, 2.9))
    figure.savefig(target, dpi=120)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_suffix(".png"))
