"""Baselines that use no model: regularized evolution and differential evolution.

Notation: `rng` of everything random; both return the values of their calls in order, as many as the
budget allows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

# Populations are smaller than those of papers, whose budgets are tens of times larger.
_POPULATION, _TOURNAMENT = 20, 5
_SCALE, _CROSSOVER = 0.5, 0.5


def regularized_evolution(
    f: Callable[[tuple[int, ...]], float],
    options: tuple[int, ...],
    budget: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Aging evolution on a table (Real et al. 2019).

    The best of some members of the population is changed in one parameter, and its child replaces
    the oldest member.

    Args:
        f: of a point, one option number for each parameter.
        options: how many options each parameter has.
        budget: how many calls.
        rng: of everything random.
    """
    population: deque[tuple[tuple[int, ...], float]] = deque(maxlen=_POPULATION)
    values = []
    for n in range(budget):
        if n < _POPULATION:
            point = [int(rng.integers(k)) for k in options]
        else:
            some = rng.choice(_POPULATION, size=_TOURNAMENT, replace=False)
            parent, _ = min((population[i] for i in some), key=lambda member: member[1])
            point, i = list(parent), int(rng.integers(len(options)))
            point[i] = (point[i] + int(rng.integers(1, options[i]))) % options[i]
        values.append(f(tuple(point)))
        population.append((tuple(point), values[-1]))
    return np.array(values)


def differential_evolution(
    f: Callable[[np.ndarray], float], dim: int, budget: int, rng: np.random.Generator
) -> np.ndarray:
    """Differential evolution in the unit cube, "rand/1/bin" (Storn and Price 1997).

    Each member in turn meets a trial point: another member plus half the difference of two more, in
    about half of the coordinates, and its own in the others. The better one stays.
    """
    x = rng.random((_POPULATION, dim))
    y = np.array([f(row) for row in x[:budget]])
    values = list(y)
    for n in range(budget - _POPULATION):
        i = n % _POPULATION
        a, b, c = x[rng.choice(np.delete(np.arange(_POPULATION), i), size=3, replace=False)]
        mutant = a + _SCALE * (b - c)
        # A coordinate outside of the cube is drawn anew, so that walls do not attract.
        mutant = np.where((mutant < 0.0) | (mutant > 1.0), rng.random(dim), mutant)
        crossed = rng.random(dim) < _CROSSOVER
        crossed[rng.integers(dim)] = True
        trial = np.where(crossed, mutant, x[i])
        values.append(f(trial))
        if values[-1] <= y[i]:
            x[i], y[i] = trial, values[-1]
    return np.array(values)
