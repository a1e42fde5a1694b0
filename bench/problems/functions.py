"""Test functions of rows of the unit cube, and how low they go.

Only NumPy is imported here, which every environment has.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


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
LOWEST = {"hartmann6": -3.32237, "branin": 0.397887, "ackley5": 0.0, "rosenbrock4": 0.0}
