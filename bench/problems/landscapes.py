"""Data sets on which a search for hyper-parameters can get stuck: rough functions, and smooth ones.

A landscape is a test function of 2 to 8 inputs, its box mapped to the unit cube, or a draw of a
Gaussian process; a data set is its values at uniform inputs, with noise of a part of their spread.
Few values of a rough function look like noise, and an additive or wavy one has many explanations:
such data have evidences with several maxima. Only NumPy is imported here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from bench.problems.functions import ackley, branin, friedman, hartmann6, rosenbrock
from bench.problems.objectives import griewank, styblinski_tang

ROWS = (30, 100, 200)
NOISES = (0.0, 0.1)


def rastrigin(x: np.ndarray) -> np.ndarray:
    """Rastrigin's function, its box [-5.12, 5.12]^d mapped to the unit cube."""
    z = 5.12 * (2 * x - 1)
    return np.sum(z**2 - 10 * np.cos(2 * np.pi * z) + 10, axis=1)


def schwefel(x: np.ndarray) -> np.ndarray:
    """Schwefel's function, its box [-500, 500]^d mapped to the unit cube."""
    z = 500 * (2 * x - 1)
    return -np.sum(z * np.sin(np.sqrt(np.abs(z))), axis=1)


def levy(x: np.ndarray) -> np.ndarray:
    """Levy's function, its box [-10, 10]^d mapped to the unit cube."""
    w = 1 + (10 * (2 * x - 1) - 1) / 4
    first, last = np.sin(np.pi * w[:, 0]) ** 2, (w[:, -1] - 1) ** 2
    between = (w[:, :-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:, :-1] + 1) ** 2)
    return first + np.sum(between, axis=1) + last * (1 + np.sin(2 * np.pi * w[:, -1]) ** 2)


def michalewicz(x: np.ndarray) -> np.ndarray:
    """Michalewicz's function of steepness 10, its box [0, pi]^d mapped to the unit cube."""
    z, i = np.pi * x, np.arange(1, x.shape[1] + 1)
    return -np.sum(np.sin(z) * np.sin(i * z**2 / np.pi) ** 20, axis=1)


def _draw_of_a_process(x: np.ndarray, lengthscale: float, rng: np.random.Generator) -> np.ndarray:
    """Values of a draw with a Matern-5/2 kernel whose length scales differ by a factor of 4."""
    lengths = lengthscale * 2.0 ** rng.uniform(-1, 1, size=x.shape[1])
    a = np.sqrt(5.0) * np.linalg.norm((x[:, None, :] - x) / lengths, axis=-1)
    gram = (1 + a + a**2 / 3) * np.exp(-a)
    return np.linalg.cholesky(gram + 1e-10 * np.eye(len(x))) @ rng.standard_normal(len(x))


# Of 2, 4, 6 or 8 inputs, so that they share programs.
FUNCTIONS: dict[str, tuple[Callable[[np.ndarray], np.ndarray], int]] = {
    "rastrigin2": (rastrigin, 2),
    "rastrigin6": (rastrigin, 6),
    "ackley4": (ackley, 4),
    "ackley8": (ackley, 8),
    "griewank2": (griewank, 2),
    "griewank6": (griewank, 6),
    "schwefel4": (schwefel, 4),
    "schwefel8": (schwefel, 8),
    "levy4": (levy, 4),
    "levy8": (levy, 8),
    "styblinski_tang4": (styblinski_tang, 4),
    "styblinski_tang6": (styblinski_tang, 6),
    "michalewicz2": (michalewicz, 2),
    "michalewicz6": (michalewicz, 6),
    "rosenbrock4": (rosenbrock, 4),
    "rosenbrock8": (rosenbrock, 8),
    "branin": (branin, 2),
    "hartmann6": (hartmann6, 6),
    "friedman": (friedman, 8),
}
# Draws of processes: the number of inputs, and the length scale in the unit cube.
DRAWS = {
    "draw2": (2, 0.1),
    "draw4": (4, 0.3),
    "draw6": (6, 0.5),
    "draw8": (8, 0.7),
}
NAMES = (*FUNCTIONS, *DRAWS)


@dataclasses.dataclass(frozen=True)
class Landscape:
    """What a data set is of; `noise` is a part of the spread of the values."""

    name: str
    rows: int
    noise: float
    seed: int

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Inputs (n, d) and values (n,)."""
        rng = np.random.default_rng([self.seed, self.rows, NAMES.index(self.name)])
        if self.name in DRAWS:
            dim, lengthscale = DRAWS[self.name]
            x = rng.uniform(size=(self.rows, dim))
            y = _draw_of_a_process(x, lengthscale, rng)
        else:
            function, dim = FUNCTIONS[self.name]
            x = rng.uniform(size=(self.rows, dim))
            y = function(x)
        return x, y + self.noise * np.std(y) * rng.standard_normal(self.rows)


def landscapes(seed: int) -> list[Landscape]:
    """Each function at every number of rows; every other data set is noisy."""
    return [
        Landscape(name, rows, NOISES[(i + j) % 2], seed)
        for i, name in enumerate(NAMES)
        for j, rows in enumerate(ROWS)
    ]
