"""Tiao's (2023, section 2.3.2) two laws in one dimension, of which all is known."""

import numpy as np

GRID = np.linspace(-16.0, 16.0, 6401)
SEARCH = np.linspace(-6.0, 6.0, 2401)[:, None]  # where the mode of a ratio is looked for
MODE = -3.2


def _normal(x, mean, std):
    return np.exp(-0.5 * ((x - mean) / std) ** 2) / (std * np.sqrt(2.0 * np.pi))


def numerator(x):
    return 0.3 * _normal(x, 2.0, 1.0) + 0.7 * _normal(x, -3.0, 0.5)


def denominator(x):
    return _normal(x, 0.0, 2.0)


def log_ratio(x):
    return np.log(numerator(x)) - np.log(denominator(x))


def integral(values):
    """Over the grid: the laws are negligible at its ends, so the trapezoidal rule is exact."""
    return float(np.sum(values) * (GRID[1] - GRID[0]))


def sample(n, m, seed):
    """Rows of the numerator and of the denominator."""
    rng = np.random.default_rng(seed)
    right = rng.uniform(size=n) < 0.3
    x = np.where(right, rng.normal(2.0, 1.0, n), rng.normal(-3.0, 0.5, n))
    return x[:, None], rng.normal(0.0, 2.0, m)[:, None]


def mode_of(ratio):
    """Where a ratio is largest on [-6, 6]."""
    return float(SEARCH[np.argmax(ratio.log_ratio(SEARCH)), 0])


def relative_error(ratio, gamma):
    """The mean squared error of the relative ratio under the mixture."""
    p, q = numerator(GRID), denominator(GRID)
    mixed = gamma * p + (1.0 - gamma) * q
    return integral((ratio.relative(GRID[:, None], gamma) - p / mixed) ** 2 * mixed)
