"""What to rehearse of a method: made-up data of the sizes that its coming asks will have.

See `leadline.questions._rehearsals`. An ask's programs depend on how many rows of data there are
(`leadline.numerics.bucket`), and on whether calls are running beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from leadline.numerics import bucket, seed_key, shifted_sobol
from leadline.questions.minimize.methods._method import Method, Seen
from leadline.spaces import Space

# Programs for more rows are made when so much of the room is used.
_NEXT = 0.75


class Scene(NamedTuple):
    """An ask: rows of data, calls beside it, and the spread of the values."""

    rows: int
    beside: int
    spread: float


class Prospect(NamedTuple):
    """What is known of a campaign to come.

    Attributes:
        rows: how many values there are.
        calls: how many calls there will be.
        at_once: how many of them run at once, or are asked for at once.
        constraints: how many constraint values a call returns.
        patient: whether calls take so long that there is time to prepare for all that may happen.
    """

    rows: int
    calls: float
    at_once: int
    constraints: int
    patient: bool


def scenes(
    method: Method, space: Space, prospect: Prospect
) -> Iterator[tuple[Hashable, Callable[[], Any]]]:
    """The asks to rehearse, the next one first: a name of each, and what to do."""
    design = method.design(space)
    if prospect.calls <= max(design, prospect.rows):
        return
    # The constraint is user's code, which only the thread of the question may call.
    space = space.without_constraint()
    size = bucket(max(design, prospect.rows))
    sizes = [size]
    if prospect.rows >= _NEXT * size and prospect.calls > size:
        sizes.append(bucket(size + 1))
    spreads = method.spreads if prospect.patient else method.spreads[:1]
    beside = prospect.at_once - 1
    for spread in spreads:
        for size in sizes:
            yield from _scenes_of_size(method, space, size, beside, spread, prospect.constraints)


def _scenes_of_size(method, space, size, beside, spread, constraints):
    plays = [Scene(size, 0, spread)]
    if beside > 0:
        # With calls beside them the last rows of a size need the room of the next.
        plays += [Scene(max(2, size - beside), beside, spread), Scene(size, beside, spread)]
    for scene in plays:
        name = size, scene.rows == size, scene.beside > 0, spread
        yield name, partial(_play, method, space, scene, constraints)
    if beside > 0 and method.together:
        act = partial(_play_together, method, space, Scene(size, 0, spread), beside + 1)
        yield ("together", size, beside, spread), act


def _play(method: Method, space: Space, scene: Scene, constraints: int) -> None:
    seen = _made_up(space, scene, constraints)
    found = method.suggest(space, seen, {}, seed_key(0))
    if scene.beside > 0 and found is not None:
        # Another ask before any of the calls returns: there is nothing new to learn from.
        method.suggest(space, seen, found.state, seed_key(1))


def _play_together(method: Method, space: Space, scene: Scene, n: int) -> None:
    seen = _made_up(space, scene, 0)
    method.suggest_together(space, seen, {}, seed_key(0), n)


def _made_up(space: Space, scene: Scene, constraints: int) -> Seen:
    rng = np.random.default_rng(0)
    rows = space.spread(shifted_sobol(rng, scene.rows + scene.beside, space.dim))
    x, running = rows[: scene.rows], rows[scene.rows :]
    y = scene.spread * rng.normal(size=scene.rows)
    # Some rows are allowed and some are not.
    limits = rng.normal(size=(scene.rows, constraints))
    return Seen(x, y, running, np.zeros((0, space.columns)), limits)
