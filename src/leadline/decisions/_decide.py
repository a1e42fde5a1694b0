"""Decisions: the action of the highest expected utility (Wilson 2023, section 1.3).

Notation: `S` draws of what is not known, with weights `w (S,)` that sum to 1; u_a `(S,)` the
utilities of action a, one for each draw.

    a* = argmax_a  sum_s w_s u_a,s

All actions meet the same draws, so that what the draws have in common cancels when two actions are
compared: the error of a difference is that of paired differences.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData, shorten
from leadline.spaces import Space

# A space with at most so many points is tried out.
_ENUMERABLE = 2048
# Differential evolution: members of the population for each parameter, and generations.
_MEMBERS, _GENERATIONS = 15, 200
# Where the two searches stop, in parts of the spread of expected utilities and of the cube's side.
_ROUGH, _EXACT = 1e-4, 1e-8


@dataclasses.dataclass(frozen=True, repr=False)
class Decision:
    """The best action, and how sure it is that it is the best.

    Attributes:
        action: the action of the highest expected utility.
        expected: its expected utility. The draws that chose the action also judge it, so this is a
            little optimistic if there are few draws and many actions.
        standard_error: of `expected`, as if the draws were random ones; infinite for one draw.
        utilities: its utility for each draw (S,).
        all_expected: the expected utility of every action, in their order; None in a space that is
            not tried out.
        runner_up: the second-best action; None if there is no list of actions or only one.
        advantage: how much more than the runner-up the action is expected to be worth.
        advantage_error: the standard error of that, from paired differences.
    """

    action: Any
    expected: float
    standard_error: float
    utilities: Float[np.ndarray, " S"]
    all_expected: Float[np.ndarray, " a"] | None = None
    runner_up: Any = None
    advantage: float | None = None
    advantage_error: float | None = None

    def __repr__(self) -> str:
        draws = f"{len(self.utilities)} draw" + "s" * (len(self.utilities) != 1)
        value = f"{self.expected:.6g} +- {self.standard_error:.2g}"
        lines = [f"decide: expected utility {value} ({draws})", f"  action = {_shown(self.action)}"]
        if self.advantage is not None:
            ahead = f"{self.advantage:.6g} +- {self.advantage_error:.2g}"
            lines.append(f"  ahead by {ahead} of {_shown(self.runner_up)}")
        return "\n".join(lines)


def decide(
    actions: Any,
    draws: Any,
    utility: Callable[[Any, Any], Any],
    weights: Any = None,
) -> Decision:
    """The action of the highest expected utility.

    Args:
        actions: a list or an array of actions, which may be anything; or a `Space`, whose points
            are the actions.
        draws: S draws of what is not known: function draws, or an array or a list whose entries are
            draws.
        utility: `utility(action, draws)` returns the utility of one action for each of the draws,
            (S,). It gets all draws at once: for a function `u` of one of them write
            `lambda a, draws: [u(a, w) for w in draws]`.
        weights: of the draws (S,), not negative; equal if None. A belief conditioned on an event
            has weights of zero where it did not happen.
    """
    w = _as_weights(weights, _count(draws))

    def utilities(action: Any) -> np.ndarray:
        return _as_utilities(utility(action, draws), action, len(w))

    if isinstance(actions, Space):
        if actions.count > _ENUMERABLE:
            return _search(actions, utilities, w)
        actions = actions.decode(actions.every())
    if not hasattr(actions, "__len__") or not len(actions):
        raise InvalidData(
            f"actions must be a list of at least one action, or a Space; got {shorten(actions)}."
        )
    return _best_of(actions, utilities, w)


def _best_of(actions: Any, utilities: Callable[[Any], np.ndarray], w: np.ndarray) -> Decision:
    # Only the two best are kept: many actions and many draws may be more than fits in memory.
    expected = np.empty(len(actions))
    best: tuple[int, np.ndarray] | None = None
    second: tuple[int, np.ndarray] | None = None
    for i, action in enumerate(actions):
        u = utilities(action)
        expected[i] = w @ u
        if best is None or expected[i] > expected[best[0]]:
            best, second = (i, u), best
        elif second is None or expected[i] > expected[second[0]]:
            second = (i, u)
    assert best is not None
    index, u = best
    one = Decision(actions[index], float(expected[index]), _error(u, w), u, expected)
    if second is None:
        return one
    ahead = u - second[1]
    return dataclasses.replace(
        one,
        runner_up=actions[second[0]],
        advantage=float(w @ ahead),
        advantage_error=_error(ahead, w),
    )


def _search(space: Space, utilities: Callable[[Any], np.ndarray], w: np.ndarray) -> Decision:
    """The best point of a large space: differential evolution, then a simplex search.

    The draws stay the same, so the expected utility is a fixed function. Neither search needs its
    gradient, which a utility with a maximum in it or on discrete parameters does not have. Both
    move in the unit cube that `Space.spread` maps to the space.
    """
    from scipy.optimize import differential_evolution, minimize

    def losses(u: np.ndarray) -> np.ndarray:
        """The losses of the columns of `u (dim, n)`, infinite where the constraint is broken."""
        rows = space.spread(u.T)
        found, allowed = np.full(len(rows), np.inf), space.allowed(rows)
        found[allowed] = [-(w @ utilities(point)) for point in space.decode(rows[allowed])]
        return found

    first = _population(space, max(_MEMBERS * space.dim, 2 * _MEMBERS))
    spread = max(float(np.ptp(losses(first.T))), np.finfo(np.float64).tiny)
    bounds = [(0.0, 1.0)] * space.dim
    settings: Any = {
        "init": first,
        "maxiter": _GENERATIONS,
        "tol": 0.0,
        "atol": _ROUGH * spread,
        "polish": False,
        "updating": "deferred",
        "vectorized": True,
        "rng": np.random.default_rng(0),
    }
    found: Any = differential_evolution(losses, bounds, **settings)
    polished: Any = minimize(
        lambda u: losses(u[:, None])[0],
        found.x,
        method="Nelder-Mead",
        bounds=bounds,
        options={"xatol": _EXACT, "fatol": _EXACT * spread, "adaptive": True},
    )
    u = polished.x if polished.fun < found.fun else found.x
    action = space.decode(space.spread(u[None]))[0]
    found = utilities(action)
    return Decision(action, float(w @ found), _error(found, w), found)


def _population(space: Space, n: int) -> np.ndarray:
    """Random points of the unit cube that are allowed (n, dim)."""
    rng = np.random.default_rng(0)
    found = np.empty((0, space.dim))
    for _ in range(1000):
        u = rng.random((n, space.dim))
        found = np.concatenate([found, u[space.allowed(space.spread(u))]])
        if len(found) >= n:
            return found[:n]
    raise InvalidData(f"The constraint leaves hardly any action: {len(found)} of {1000 * n} tries.")


def _error(values: np.ndarray, w: np.ndarray) -> float:
    """The standard error of a weighted mean; with equal weights the deviation over root S."""
    left = 1.0 - w @ w
    if left <= 0.0:
        return math.inf
    return float(np.sqrt(np.sum((w * (values - w @ values)) ** 2) / left))


def _count(draws: Any) -> int:
    try:
        count = len(draws)
    except TypeError as error:
        raise InvalidData(
            f"draws must be a list, an array or function draws, got {shorten(draws)}."
        ) from error
    if count == 0:
        raise InvalidData("A decision needs at least one draw, got none.")
    return count


def _as_weights(weights: Any, count: int) -> Float[np.ndarray, " S"]:
    if weights is None:
        return np.full(count, 1.0 / count)
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (count,):
        raise InvalidData(f"weights must have shape ({count},), one for each draw; got {w.shape}.")
    if not np.all(np.isfinite(w)) or np.any(w < 0) or not np.any(w > 0):
        raise InvalidData("weights must be finite and not negative, and one of them positive.")
    return w / w.sum()


def _as_utilities(value: Any, action: Any, count: int) -> Float[np.ndarray, " S"]:
    try:
        u = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(
            f"utility must return real numbers; for {shorten(action)} it did not: {error}."
        ) from error
    if u.shape != (count,):
        raise InvalidData(
            f"utility gets an action and all {count} draws, and must return shape ({count},), one "
            f"utility for each draw; for {shorten(action)} it returned shape {u.shape}."
        )
    if not np.all(np.isfinite(u)):
        raise InvalidData(f"utility must be finite, and is not for the action {shorten(action)}.")
    return u


def _shown(action: Any) -> str:
    if isinstance(action, np.ndarray):
        return np.array2string(action, precision=6, threshold=20)
    return shorten(action.item() if isinstance(action, np.generic) else action)
