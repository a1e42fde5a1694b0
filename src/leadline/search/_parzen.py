"""The density of calls, as a mixture of one bump for each of them and a wide one.

A bump is a product over parameters: of a number a normal bump, cut off at the walls, as wide as the
neighbors of the call are far; of a choice nearly all the mass on the option of the call. A
parameter that does not exist in a call is wide in its bump: that is the tree in the tree-structured
Parzen estimator. Watanabe (2023) describes the details that matter, and which of them help.

Notation: `k` bumps, the wide one last; columns of the unit cube; `p` parameters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy
from jaxtyping import Bool, Float

from leadline.spaces import Space

# Calls beyond so many count less, the older the less.
_RECENT = 25
# A bump is at least a hundredth wide, or as wide as calls would lie apart if there are few.
_NARROWEST = 100
# Where nothing is known a bump is as wide as the space, and an eighth lower at the walls.
_WIDE = 1.0


class Parzen(NamedTuple):
    """A density of rows.

    Attributes:
        space: of the rows.
        center, width: of the bumps, in columns that belong to numbers.
        log_share: of the options, in columns that belong to choices.
        log_weight: of the bumps.
    """

    space: Space
    center: Float[np.ndarray, "k columns"]
    width: Float[np.ndarray, "k columns"]
    log_share: Float[np.ndarray, "k columns"]
    log_weight: Float[np.ndarray, " k"]

    def draw(self, rng: np.random.Generator, n: int) -> Float[np.ndarray, "n columns"]:
        """Random rows of points."""
        which = rng.choice(len(self.log_weight), size=n, p=np.exp(self.log_weight))
        center, width = self.center[which], self.width[which]
        low, high = scipy.special.ndtr(-center / width), scipy.special.ndtr((1.0 - center) / width)
        rows = center + width * scipy.special.ndtri(low + rng.random(center.shape) * (high - low))
        # The highest of its log share and Gumbel noise is an option drawn by its share.
        chances = self.log_share[which] + rng.gumbel(size=center.shape)
        rows = _with_options(self.space, np.where(numbers(self.space), rows, chances))
        return self.space.snap(np.clip(rows, 0.0, 1.0))

    def log_density(self, rows: Float[np.ndarray, "n columns"]) -> Float[np.ndarray, " n"]:
        """The logarithm of the density, of the parameters that exist in each row."""
        rows = _with_options(self.space, rows)
        inside = scipy.special.ndtr((1.0 - self.center) / self.width) - scipy.special.ndtr(
            -self.center / self.width
        )
        t = (rows[:, None] - self.center) / self.width
        log_normal = -0.5 * (t**2 + np.log(2.0 * np.pi)) - np.log(self.width * inside)
        log_parts = np.where(numbers(self.space), log_normal, rows[:, None] * self.log_share)
        log_parts = np.where(self.space.active(rows)[:, None], log_parts, 0.0)
        return np.asarray(scipy.special.logsumexp(log_parts.sum(axis=2) + self.log_weight, axis=1))


def parzen(space: Space, rows: Float[np.ndarray, "n columns"]) -> Parzen:
    """The density that rows, the oldest first, seem to come from."""
    n, exists = len(rows), space.active(rows)
    rows = _with_options(space, rows)
    middle = np.full((1, space.columns), 0.5)
    center = np.concatenate([np.where(exists, rows, 0.5), middle])
    width = np.full_like(center, _WIDE)
    for j in np.flatnonzero(numbers(space)):
        there = np.flatnonzero(exists[:, j])
        width[there, j] = _widths(rows[there, j])
    options = np.repeat(space.widths, space.widths)
    share = np.concatenate([np.where(exists, rows, 1.0 / options), 1.0 / options[None]])
    # Every option has some mass in every bump, the less the more calls there are.
    share = (share + 1.0 / (n + 1)) / (1.0 + options / (n + 1))
    weight = np.append(_weights(n), 1.0)
    return Parzen(space, center, width, np.log(share), np.log(weight / weight.sum()))


def numbers(space: Space) -> Bool[np.ndarray, " columns"]:
    """The columns that belong to numbers and ordered values."""
    return np.repeat(np.array(space.widths) == 1, space.widths)


def _with_options(
    space: Space, rows: Float[np.ndarray, "n columns"]
) -> Float[np.ndarray, "n columns"]:
    """Rows in which the option of a choice has 1 in its column, and the others 0."""
    rows, at = rows.copy(), 0
    for size in space.widths:
        if size > 1:
            columns = slice(at, at + size)
            rows[:, columns] = np.eye(size)[np.argmax(rows[:, columns], axis=1)]
        at += size
    return rows


def _widths(x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """How wide bumps at some numbers are: as far as the farther neighbor."""
    n, order = len(x), np.argsort(x, kind="stable")
    gaps = np.diff(np.concatenate([[0.0], x[order], [1.0]]))
    widths = np.empty(n)
    widths[order] = np.maximum(gaps[:-1], gaps[1:])
    # Beyond the outermost there is no neighbor, only a wall.
    if n > 1:
        widths[order[0]], widths[order[-1]] = gaps[1], gaps[-2]
    return np.clip(widths, 1.0 / min(_NARROWEST, n + 2), 1.0)


def _weights(n: int) -> Float[np.ndarray, " n"]:
    """How often each of `n` calls counts, the oldest first."""
    old = max(0, n - _RECENT)
    ramp = np.linspace(1.0 / n, 1.0, old) if old else np.zeros(0)
    return np.concatenate([ramp, np.ones(n - old)])
