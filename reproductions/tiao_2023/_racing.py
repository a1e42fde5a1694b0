"""The time of a lap as a function of where the racing line passes some gates.

Tiao (2023, section 5.5.4) takes racing lines from Jain and Morari (2020): an input is how far the
line leaves the middle of the track at one of several gates, a spline goes through these points, and
the value is the shortest lap time on that spline. Their tracks and cars are not here. The track is
a closed curve with bends to both sides, and the car is a point with a highest speed and a highest
acceleration in all directions together. Its fastest lap comes from going once forward (how fast it
can have become) and once backward (how soon it must brake).

Notation: gates `d`, points of the lap `m`, inputs `u (d,)` of the unit cube.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

_POINTS = 180
_WIDTH = 12.0  # m, of the part of the track that the line may use
_SPEED, _ACCELERATION = 55.0, 12.0  # m / s, m / s^2
# The fastest laps, in seconds, that long searches by differential evolution and by gradients find.
LOWEST = {12: 30.9320, 20: 33.1231}


def _middle(t: np.ndarray) -> np.ndarray:
    """The middle of the track, in meters, as a function of the part of the lap."""
    angle = 2.0 * np.pi * t
    radius = 150.0 * (1.0 + 0.28 * np.cos(2.0 * angle) + 0.16 * np.sin(3.0 * angle + 0.6))
    radius += 16.0 * np.cos(5.0 * angle)
    return radius[..., None] * np.stack([1.4 * np.cos(angle), np.sin(angle)], axis=-1)


@dataclasses.dataclass(frozen=True)
class RacingLine:
    """The lap time of a line through `dim` gates."""

    dim: int

    @cached_property
    def _gates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Parts of the lap, as long as its way; the middle and the normal of each gate."""
        fine = np.linspace(0.0, 1.0, 4001)
        way = _middle(fine)
        length = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1)))
        s = np.linspace(0.0, 1.0, self.dim + 1)
        at = np.interp(s, length / length[-1], fine)
        ahead = _middle(at + 1e-5) - _middle(at - 1e-5)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        return s, _middle(at), np.stack([-ahead[:, 1], ahead[:, 0]], axis=1)

    def line(self, u: np.ndarray) -> CubicSpline:
        """The line, closed, as a function of the part of the lap."""
        s, middle, normal = self._gates
        aside = _WIDTH * (np.append(u, u[0]) - 0.5)
        through = middle + aside[:, None] * normal
        through[-1] = through[0]
        return CubicSpline(s, through, bc_type="periodic")

    def __call__(self, u: np.ndarray) -> float:
        """The lap time in seconds."""
        spline, t = self.line(np.asarray(u, np.float64)), np.arange(_POINTS) / _POINTS
        velocity, bend = spline(t, 1), spline(t, 2)
        speed = np.linalg.norm(velocity, axis=1)
        crooked = np.abs(velocity[:, 0] * bend[:, 1] - velocity[:, 1] * bend[:, 0]) / speed**3
        place = spline(t)
        steps = np.linalg.norm(np.roll(place, -1, axis=0) - place, axis=1)
        squares = np.minimum(_ACCELERATION / np.maximum(crooked, 1e-9), _SPEED**2)
        squares = _reachable(squares, crooked, steps)
        squares = _reachable(squares[::-1], crooked[::-1], np.roll(steps[::-1], -1))[::-1]
        v = np.sqrt(squares)
        return float(np.sum(2.0 * steps / (v + np.roll(v, -1))))


def _reachable(squares: np.ndarray, crooked: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Squares of speeds that acceleration allows, going forward; what bends need is not left."""
    now, bends, ways = squares.tolist(), crooked.tolist(), steps.tolist()
    m = len(now)
    for i in range(2 * m):  # a second lap, since the first begins too fast
        a, b = i % m, (i + 1) % m
        sideways = min(1.0, now[a] * bends[a] / _ACCELERATION)
        left = _ACCELERATION * (1.0 - sideways**2) ** 0.5
        now[b] = min(now[b], now[a] + 2.0 * left * ways[a])
    return np.array(now)
