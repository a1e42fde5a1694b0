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
from pathlib import Path

import numpy as np

from bench.folders import ROOT
from bench.problems.functions import FUNCTIONS

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


QUALITY_ROWS = {"hartmann6": 200, "hartmann3": 100, "branin": 60, "friedman": 150}
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
