"""Figure 2.1 (right) of Wilson (2023): the time of acquisition values, given data and batch sizes.

What is timed is the expected improvement of 2^10 random batches, each an average over 128 draws,
under a process of six dimensions. The factor of the data's covariance is at hand, so a value takes
of the order of q n^2 + q^3 + 128 q^2 operations.

What differs: 2^10 values instead of 2^14, since only ratios are of interest. Data are padded to 64,
128 and 256 rows and multiples of 256, so time grows in steps, and the numbers of data here are
those at the end of a step.

Run it as `python -m reproductions.wilson_2023.acquisition_cost [--quick] [--output FOLDER]`.
"""

from __future__ import annotations

import time
from pathlib import Path

import equinox as eqx
import jax
import matplotlib.pyplot as plt
import numpy as np

import leadline as ll
from leadline.acquisition import Improvement, MonteCarlo, base_samples
from reproductions._script import claim, options
from reproductions.wilson_2023._batch_optimization import NOISE

DIM, DRAWS, PIECE = 6, 128, 128
REPEATS = 5


@eqx.filter_jit
def values(acquisition: MonteCarlo, sets: jax.Array) -> jax.Array:
    """The values of sets (pieces, b, q, d), a piece at a time."""
    return jax.lax.map(acquisition.values, sets)


def seconds(n: int, q: int, count: int) -> float:
    """The shortest of some times to evaluate `count` batches of `q` beside `n` data."""
    rng = np.random.default_rng(n + q)
    x = rng.random((n, DIM))
    gp = ll.GP(ll.kernels.Matern52(np.sqrt(DIM) / 4), noise=NOISE)
    posterior = gp.condition(x, np.sin(x @ np.arange(1.0, DIM + 1)))
    acquisition = MonteCarlo(
        posterior, Improvement(1.0), base_samples(DRAWS, q), rao_blackwell=False
    )
    sets = jax.device_put(rng.random((count // PIECE, PIECE, q, DIM)))
    jax.block_until_ready(values(acquisition, sets))
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        jax.block_until_ready(values(acquisition, sets))
        times.append(time.perf_counter() - start)
    return min(times)


def draw_figure(path: Path, sizes: list[int], batches: list[int], times: np.ndarray) -> None:
    """A curve for each batch size, relative to the fastest case."""
    figure, axis = plt.subplots(figsize=(5.5, 4.2))
    colors = plt.get_cmap("viridis")(np.linspace(0.0, 0.85, len(batches)))
    for q, color, column in zip(batches, colors, times.T, strict=True):
        axis.plot(sizes, column / times.min(), "o-", color=color, label=f"q = {q}")
    axis.set(xscale="log", yscale="log", xlabel="data", ylabel="time of all values, relative")
    axis.set_xticks(sizes, [str(n) for n in sizes])
    axis.minorticks_off()
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Time all sizes, print ratios, and draw."""
    given = options(__doc__)
    sizes = [64, 256] if given.quick else [64, 128, 256, 512, 1024]
    batches = [1, 4] if given.quick else [1, 2, 4, 8, 16]
    count = 2**8 if given.quick else 2**10
    times = np.array([[seconds(n, q, count) for q in batches] for n in sizes])
    ratios = times / times[0, 0]
    print(f"time of {count} values relative to n = {sizes[0]} and q = {batches[0]}")
    print("     n  " + "".join(f"   q = {q:2d}" for q in batches))
    for n, row in zip(sizes, ratios, strict=True):
        print(f"{n:6d}  " + "".join(f"{ratio:9.1f}" for ratio in row))
    print()
    claim(
        "the time of acquisition values rises with the data",
        f"from {sizes[0]} to {sizes[-1]} rows by factors "
        + ", ".join(
            f"{r:.1f} (q = {q})" for q, r in zip(batches, times[-1] / times[0], strict=True)
        )
        + f"; the last doubling by {times[-1, -1] / times[-2, -1]:.1f} with "
        f"q = {batches[-1]}",
        "yes" if np.all(times[-1] > times[0]) else "no",
    )
    claim(
        "the time of acquisition values rises with the size of the batch",
        f"from q = {batches[0]} to {batches[-1]} by factors "
        + ", ".join(
            f"{r:.1f} (n = {n})" for n, r in zip(sizes, times[:, -1] / times[:, 0], strict=True)
        ),
        "yes" if np.all(times[:, -1] > times[:, 0]) else "no",
    )
    # 1024 calls in batches of 16 after three first ones leave 13 for the last batch.
    n, full = sizes[-1], batches[-1]
    rest = (n - 3) % full or full - 1
    ratio = seconds(n, rest, count) / times[-1, -1]
    claim(
        "the last step is faster, since the batch is what the budget leaves",
        f"{n} calls in batches of {full} leave a last batch of {rest}, whose values take "
        f"{ratio:.2f} of the time",
        "yes" if ratio < 1 else "no",
    )
    draw_figure(given.output / "acquisition_cost.png", sizes, batches, times)


if __name__ == "__main__":
    main()
