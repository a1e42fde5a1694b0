"""Functions to minimize, for the comparison of regrets: the same in every environment.

An objective takes points in its own terms, one number for each input: reals in their box, integers
as whole numbers, choices as 0, 1, ... Its range is the spread of 10 000 random values, which is
what noise and the smallest regret that counts are measured in. Only NumPy is imported here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cached_property

import numpy as np

from bench.problems.functions import ackley, branin, hartmann3, hartmann6, rosenbrock

# Regrets below this part of the range count as this part.
FLOOR = 1e-4


@dataclasses.dataclass(frozen=True)
class Objective:
    """A function, its box, which inputs are whole numbers or choices, and its lowest value.

    With constraints the function returns a value and as many numbers, which are all at most 0 where
    a point is allowed.
    """

    function: Callable[[np.ndarray], np.ndarray]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    lowest: float
    integers: tuple[int, ...] = ()
    choices: tuple[int, ...] = ()
    constraints: int = 0

    @property
    def dim(self) -> int:
        """How many inputs there are."""
        return len(self.lower)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Values (n,), or values and constraints (n, 1 + c), at points (n, d)."""
        return self.function(np.asarray(x, dtype=np.float64))

    def random(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Points drawn at random."""
        lower, upper = np.array(self.lower), np.array(self.upper)
        points = lower + (upper - lower) * rng.uniform(size=(n, self.dim))
        whole = [*self.integers, *self.choices]
        counts = upper[whole] - lower[whole] + 1
        points[:, whole] = lower[whole] + rng.integers(0, counts, size=(n, len(whole)))
        return points

    @cached_property
    def range(self) -> float:
        """The spread of random values."""
        values = self(self.random(np.random.default_rng(self.dim), 10_000))
        return float(np.ptp(values[:, 0] if self.constraints else values))

    def regret(self, value: float) -> float:
        """How far a value is from the lowest one."""
        return float(value) - self.lowest

    def noisy(self, x: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
        """Values with noise of this part of the range."""
        values = self(x)
        return values + noise * self.range * rng.standard_normal(len(values)) if noise else values


def _cube(function, dim: int, lowest: float) -> Objective:
    return Objective(function, (0.0,) * dim, (1.0,) * dim, lowest)


def griewank(x: np.ndarray) -> np.ndarray:
    """Griewank's function, its box [-600, 600]^d mapped to the unit cube."""
    z = 600 * (2 * x - 1)
    waves = np.prod(np.cos(z / np.sqrt(np.arange(1, x.shape[1] + 1))), axis=1)
    return np.sum(z**2, axis=1) / 4000 - waves + 1


def styblinski_tang(x: np.ndarray) -> np.ndarray:
    """The function of Styblinski and Tang, its box [-5, 5]^d mapped to the unit cube."""
    z = 10 * x - 5
    return 0.5 * np.sum(z**4 - 16 * z**2 + 5 * z, axis=1)


def training(x: np.ndarray) -> np.ndarray:
    """A made-up validation loss of five settings of a neural network.

    The logarithm of the learning rate, dropout, layers (1 to 8), the logarithm of the width (4 to
    9, whole) and one of three activations: the best rate falls with depth and differs between
    activations, wide and deep networks want dropout, and one activation is a little better.
    """
    rate, dropout, depth, width = x[:, 0], x[:, 1], x[:, 2], x[:, 3]
    kind = x[:, 4].astype(int)
    shift, floor = np.array([0.0, -0.6, 0.5])[kind], np.array([0.05, 0.0, 0.2])[kind]
    best_rate = -2.4 - 0.15 * depth + shift
    capacity = 0.25 * depth + 0.5 * width
    fit = 0.35 * (rate - best_rate) ** 2 / (1 + 0.4 * np.abs(rate - best_rate))
    size = 0.12 * (capacity - 4.1) ** 2
    regular = 6.0 * (dropout - 0.06 * capacity + 0.05) ** 2
    ripple = 0.04 * (1 - np.cos(3.0 * (rate - best_rate) + dropout * 4.0))
    return floor + fit + size + regular + ripple


def gardner1(x: np.ndarray) -> np.ndarray:
    """The first problem of Gardner et al. (2014)."""
    value = np.cos(2 * x[:, 0]) * np.cos(x[:, 1]) + np.sin(x[:, 0])
    return np.stack([value, np.cos(x[:, 0] + x[:, 1]) + 0.5], axis=1)


def gardner2(x: np.ndarray) -> np.ndarray:
    """The second problem of Gardner et al. (2014), of which little is allowed."""
    value = np.sin(x[:, 0]) + x[:, 1]
    return np.stack([value, np.sin(x[:, 0]) * np.sin(x[:, 1]) + 0.95], axis=1)


def pressure_vessel(x: np.ndarray) -> np.ndarray:
    """The cost of a pressure vessel: two thicknesses, radius and length (Kannan and Kramer 1994).

    The constraints are in units of what they limit, so that all are of a similar size.
    """
    shell, head, radius, length = x.T
    cost = (
        0.6224 * shell * radius * length
        + 1.7781 * head * radius**2
        + 3.1661 * shell**2 * length
        + 19.84 * shell**2 * radius
    )
    volume = np.pi * radius**2 * length + 4 / 3 * np.pi * radius**3
    limits = [0.0193 * radius - shell, 0.00954 * radius - head, 1 - volume / 1_296_000]
    return np.stack([cost, *limits], axis=1)


OBJECTIVES = {
    "branin": _cube(branin, 2, 0.3978873577),
    "hartmann3": _cube(hartmann3, 3, -3.8627797869),
    "hartmann6": _cube(hartmann6, 6, -3.3223680114),
    "ackley5": _cube(ackley, 5, 0.0),
    "rosenbrock4": _cube(rosenbrock, 4, 0.0),
    "griewank5": _cube(griewank, 5, 0.0),
    "styblinski_tang5": _cube(styblinski_tang, 5, -39.16616570377 * 5),
    "training": Objective(
        training,
        (-5.0, 0.0, 1.0, 4.0, 0.0),
        (-1.0, 0.5, 8.0, 9.0, 2.0),
        0.0083994281,
        integers=(2, 3),
        choices=(4,),
    ),
}
CONSTRAINED = {
    "gardner1": Objective(gardner1, (0.0,) * 2, (6.0,) * 2, -1.8887513614, constraints=1),
    "gardner2": Objective(gardner2, (0.0,) * 2, (6.0,) * 2, 0.2532358975, constraints=1),
    "pressure_vessel": Objective(
        pressure_vessel,
        (0.0625, 0.0625, 10.0, 10.0),
        (6.1875, 6.1875, 200.0, 200.0),
        5885.3328,
        constraints=3,
    ),
}
