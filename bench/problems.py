"""The data of the benchmarks: the same arrays in every environment.

A problem has training rows `x (n, d)`, `y (n,)` and held-out rows `xs (m, d)`, `ys (m,)`. Test
functions are sampled uniformly in their box with noise of 1% of their range. Regression sets are
read from the folder that `LEADLINE_DATA` names, else from `../shared/data`; without them only the
test functions remain. Only NumPy is imported here, which every environment has.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
NOISE = 0.01
LENGTHSCALE = 0.5  # of processes that are given, not learned


@dataclasses.dataclass(frozen=True)
class Problem:
    """Training and held-out rows."""

    x: np.ndarray
    y: np.ndarray
    xs: np.ndarray
    ys: np.ndarray

    def digest(self) -> str:
        """A fingerprint, by which sides show that they saw the same data."""
        state = hashlib.sha256()
        for array in (self.x, self.y, self.xs, self.ys):
            state.update(np.ascontiguousarray(array).tobytes())
        return state.hexdigest()[:16]

    def standardized(self) -> Problem:
        """Columns of mean 0 and deviation 1 over the training rows."""
        shift, scale = self.x.mean(0), self.x.std(0)
        scale = np.where(scale > 0, scale, 1.0)
        center, spread = self.y.mean(), self.y.std()
        return Problem(
            (self.x - shift) / scale,
            (self.y - center) / spread,
            (self.xs - shift) / scale,
            (self.ys - center) / spread,
        )


def _hartmann(x: np.ndarray, inverse_widths: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Hartmann's function in 3 or 6 inputs of the unit cube (Dixon and Szego, 1978)."""
    heights = np.array([1.0, 1.2, 3.0, 3.2])
    distance = np.sum(inverse_widths * (x[:, None, :] - 1e-4 * centers) ** 2, axis=-1)
    return -np.exp(-distance) @ heights


def hartmann3(x: np.ndarray) -> np.ndarray:
    """Hartmann's function of 3 inputs."""
    widths = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
    centers = np.array(
        [[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381, 5743, 8828]]
    )
    return _hartmann(x, widths, centers)


def hartmann6(x: np.ndarray) -> np.ndarray:
    """Hartmann's function of 6 inputs."""
    widths = np.array(
        [
            [10, 3, 17, 3.5, 1.7, 8],
            [0.05, 10, 17, 0.1, 8, 14],
            [3, 3.5, 1.7, 10, 17, 8],
            [17, 8, 0.05, 10, 0.1, 14],
        ]
    )
    centers = np.array(
        [
            [1312, 1696, 5569, 124, 8283, 5886],
            [2329, 4135, 8307, 3736, 1004, 9991],
            [2348, 1451, 3522, 2883, 3047, 6650],
            [4047, 8828, 8732, 5743, 1091, 381],
        ]
    )
    return _hartmann(x, widths, centers)


def branin(x: np.ndarray) -> np.ndarray:
    """Branin's function, its box [-5, 10] x [0, 15] mapped to the unit square."""
    a, b = 15 * x[:, 0] - 5, 15 * x[:, 1]
    bowl = b - 5.1 / (4 * np.pi**2) * a**2 + 5 / np.pi * a - 6
    return bowl**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(a) + 10


def ackley(x: np.ndarray) -> np.ndarray:
    """Ackley's function, its box [-32.768, 32.768]^d mapped to the unit cube."""
    z = 32.768 * (2 * x - 1)
    bowl = -20 * np.exp(-0.2 * np.sqrt(np.mean(z**2, axis=1)))
    return bowl - np.exp(np.mean(np.cos(2 * np.pi * z), axis=1)) + 20 + np.e


def rosenbrock(x: np.ndarray) -> np.ndarray:
    """Rosenbrock's function, its box [-5, 10]^d mapped to the unit cube."""
    z = 15 * x - 5
    return np.sum(100 * (z[:, 1:] - z[:, :-1] ** 2) ** 2 + (1 - z[:, :-1]) ** 2, axis=1)


def friedman(x: np.ndarray) -> np.ndarray:
    """Friedman's first function: 10 inputs, of which 5 matter (Friedman, 1991)."""
    waves = 10 * np.sin(np.pi * x[:, 0] * x[:, 1])
    return waves + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]


FUNCTIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int]] = {
    "hartmann6": (hartmann6, 6),
    "hartmann3": (hartmann3, 3),
    "branin": (branin, 2),
    "friedman": (friedman, 10),
    "ackley5": (ackley, 5),
    "rosenbrock4": (rosenbrock, 4),
}
QUALITY_ROWS = {"hartmann6": 200, "hartmann3": 100, "branin": 60, "friedman": 150}
LOWEST = {"hartmann6": -3.32237, "branin": 0.397887, "ackley5": 0.0, "rosenbrock4": 0.0}
REGRESSION_SETS = ("yacht", "autompg", "housing", "energy", "concrete", "airfoil", "wine")


def sampled(name: str, n: int, seed: int, held_out: int = 1000) -> Problem:
    """Noisy values of a test function at uniform inputs."""
    function, dim = FUNCTIONS[name]
    # Rows and noise have streams of their own, so that data that grow keep their first rows.
    rows, errors, test = np.random.default_rng([seed, dim]).spawn(3)
    span = np.ptp(function(np.random.default_rng(dim).uniform(size=(10_000, dim))))
    x = rows.uniform(size=(n, dim))
    y = function(x) + NOISE * span * errors.standard_normal(n)
    xs = test.uniform(size=(held_out, dim))
    ys = function(xs) + NOISE * span * test.standard_normal(held_out)
    return Problem(x, y, xs, ys)


def data_folder() -> Path | None:
    """Where the regression sets are, if they are here."""
    folder = Path(os.environ.get("LEADLINE_DATA", ROOT.parent / "shared" / "data")) / "uci"
    return folder if folder.is_dir() else None


def regression_set(name: str, seed: int = 0) -> Problem:
    """At most 300 training and 500 held-out rows of a regression set, half of it each at most."""
    folder = data_folder()
    if folder is None:
        raise FileNotFoundError("LEADLINE_DATA names no folder with a folder uci/")
    table = np.loadtxt(folder / f"{name}.csv.gz", delimiter=",")
    table = table[np.random.default_rng(seed).permutation(len(table))]
    n = min(300, len(table) // 2)
    train, test = table[:n], table[n : n + 500]
    return Problem(train[:, :-1], train[:, -1], test[:, :-1], test[:, -1])


def quality_names() -> list[str]:
    """The data sets on which quality of fit is compared."""
    return [*(REGRESSION_SETS if data_folder() else ()), *QUALITY_ROWS]


def quality_problem(name: str) -> Problem:
    """A data set of moderate size, standardized."""
    if name in REGRESSION_SETS:
        return regression_set(name).standardized()
    return sampled(name, QUALITY_ROWS[name], seed=0, held_out=500).standardized()
