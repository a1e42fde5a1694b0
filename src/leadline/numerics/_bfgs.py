"""Bounded minimization from many starts at once: projected BFGS, one program for all starts.

Notation: `u (p,)` a point, `g` its gradient, `h (p, p)` the inverse Hessian estimate; a *lane* is
one start. Every turn of the loop evaluates the objective once for each lane that is not finished.
A lane that accepts its trial point moves on while another one still shortens its step, so no lane
waits for another's line search. In `minimize_bounded` evaluations run one after the other inside
the program, not as a batch: its objectives factorize matrices, and a batch would also pay for the
lanes that are finished (see `leadline.numerics._linear_algebra._cholesky` for the other reason).

Coordinates at a bound whose gradient points outward are held there; the others move along the
quasi-Newton direction of their own block of `h` (the two-metric projection of Bertsekas 1982), and
the step is cut off at the bounds. A step is accepted by Armijo's rule along that bent path.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from leadline.numerics._programs import quick_jit

_ARMIJO = 1e-4
_SHORTEST = 1e-10
_RENEWALS = 3


class Minima(NamedTuple):
    """Where each start ended: `u (r, p)`, `value (r,)`, and the evaluations of each (r,).

    `h (r, p, p)` are the estimates of the inverse Hessian there.
    """

    u: Float[Array, "r p"]
    value: Float[Array, " r"]
    evaluations: Int[Array, " r"]
    h: Float[Array, "r p p"]


class Race(NamedTuple):
    """When to give up a lane: after `after (s,)` evaluations, if it is behind by `margin (s,)`.

    At the same moments a lane is given up that is within `near` of a better one in all coordinates.
    """

    after: Int[Array | np.ndarray, " s"]
    margin: Float[Array | np.ndarray, " s"]
    near: Float[Array | np.ndarray, ""]


class _Lane(NamedTuple):
    u: Array
    value: Array
    gradient: Array
    h: Array
    direction: Array
    step: Array
    quiet: Array  # accepted steps in a row that gained less than the tolerance
    renewed: Array  # how often its estimate of the curvature was given up
    evaluations: Array
    done: Array


@quick_jit
def minimize_bounded(
    objective: Callable[[Array, Any], Array],
    args: Any,
    starts: Float[Array | np.ndarray, "r p"],
    lower: Float[Array | np.ndarray, " p"],
    upper: Float[Array | np.ndarray, " p"],
    *,
    h: Float[Array | np.ndarray, "r p p"] | None = None,
    tolerance: Any = 1e-4,
    steep: Any = None,
    race: Race | None = None,
    max_evaluations: Any = 200,
) -> Minima:
    """Minimize `objective(u, args)` in a box from each row of `starts`.

    `h` are first estimates of the inverse Hessian at the starts, if something is known about it: a
    similar objective was minimized before, say. An identity is taken for no knowledge.

    A lane stops when two steps in a row gain less than `tolerance`, when its projected gradient
    promises less than that, or when no step along its direction helps. Far from a minimum that may
    be the fault of what it has learned about the curvature on its way: a lane that stops where an
    entry of its projected gradient is over `steep` forgets that and goes on, a few times.

    An objective that is not finite is a step too far. A `race` gives up lanes that are behind.
    """
    value_and_grad = jax.value_and_grad(objective)

    def evaluate(trial, lanes):
        def one(lane):
            u, value, gradient, done = lane
            return jax.lax.cond(done, lambda: (value, gradient), lambda: value_and_grad(u, args))

        return jax.lax.map(one, (trial, lanes.value, lanes.gradient, lanes.done))

    return _descend(evaluate, starts, h, lower, upper, tolerance, max_evaluations, steep, race)


def minimize_together(
    objectives: Callable[[Array, Any], Array],
    args: Any,
    starts: Float[Array | np.ndarray, "r p"],
    lower: Float[Array | np.ndarray, "#r p"],
    upper: Float[Array | np.ndarray, "#r p"],
    *,
    tolerance: Any = 1e-4,
    max_evaluations: Any = 200,
) -> Minima:
    """Minimize many cheap objectives in a box: `objectives(u (r, p), args)` gives `(r,)`.

    Entry i depends on row i alone, and each row may have a box of its own. All lanes are evaluated
    at once, also those that are finished: for objectives that are faster as a batch, such as
    function draws. Stops as `minimize_bounded`.
    """

    def evaluate(trial, lanes):
        values, pull_back = jax.vjp(lambda u: objectives(u, args), trial)
        return values, pull_back(jnp.ones_like(values))[0]

    return _descend(evaluate, starts, None, lower, upper, tolerance, max_evaluations)


def _descend(evaluate, starts, h, lower, upper, tolerance, limit, steep=None, race=None) -> Minima:
    """Turn by turn: a trial point of each lane, its value and gradient, and what follows."""
    lower, upper = (jnp.broadcast_to(b, starts.shape) for b in (lower, upper))
    if h is None:
        h = jnp.broadcast_to(jnp.eye(starts.shape[1]), (*starts.shape, starts.shape[1]))
    first = jax.vmap(_first_lane)(jnp.clip(starts, lower, upper), h)

    def unfinished(lanes):
        return jnp.any(~lanes.done)

    def turn(lanes):
        trial = jnp.clip(lanes.u + lanes.step[:, None] * lanes.direction, lower, upper)
        value, gradient = evaluate(trial, lanes)
        advance = jax.vmap(partial(_advance, tolerance=tolerance, limit=limit, steep=steep))
        lanes = advance(lanes, trial, value, gradient, lower, upper)
        return lanes if race is None else lanes._replace(done=lanes.done | _beaten(lanes, race))

    lanes = jax.lax.while_loop(unfinished, turn, first)
    return Minima(lanes.u, lanes.value, lanes.evaluations, lanes.h)


def _beaten(lanes, race):
    """Which lanes a race gives up in this turn."""
    # All lanes that still run have been evaluated as often as there were turns.
    now = race.after == jnp.max(lanes.evaluations)
    margin = jnp.min(jnp.where(now, race.margin, jnp.inf))
    behind = lanes.value[:, None] - lanes.value
    # Of two with the same value the first is ahead.
    number = jnp.arange(lanes.value.shape[0])
    ahead = (behind > 0.0) | ((behind == 0.0) & (number[:, None] > number))
    apart = jnp.max(jnp.abs(lanes.u[:, None] - lanes.u), axis=2)
    lost = ahead & ((behind > margin) | (apart < race.near))
    return jnp.any(now) & jnp.any(lost, axis=1)


def _free(u, g, lower, upper):
    """1 for the coordinates that may move: not held at a bound by the gradient."""
    held = ((u <= lower) & (g > 0)) | ((u >= upper) & (g < 0))
    return 1.0 - held.astype(u.dtype)


def _direction(h, u, g, lower, upper):
    free = _free(u, g, lower, upper)
    return -free * (h @ (free * g))


def _first_lane(u, h):
    """A lane before its first evaluation, which is a step of length zero."""
    p = u.shape[0]
    zeros, zero = jnp.zeros(p), jnp.asarray(0)
    return _Lane(
        u=u,
        value=jnp.asarray(jnp.inf),
        gradient=zeros,
        h=h,
        direction=zeros,
        step=jnp.asarray(1.0),
        quiet=zero,
        renewed=zero,
        evaluations=zero,
        done=jnp.asarray(False),
    )


def _advance(lane, trial, value, gradient, lower, upper, *, tolerance, limit, steep):
    """One lane after the evaluation of its trial point."""
    start = lane.evaluations == 0
    moved = trial - lane.u
    promised = lane.gradient @ moved
    finite = jnp.isfinite(value) & jnp.all(jnp.isfinite(gradient))
    accept = finite & (value <= lane.value + _ARMIJO * promised) & ~lane.done

    # BFGS update of the inverse Hessian, skipped where there is no curvature along the step.
    change = gradient - lane.gradient
    curvature = moved @ change
    usable = accept & (curvature > 1e-12 * jnp.linalg.norm(moved) * jnp.linalg.norm(change))
    safe = jnp.where(usable, curvature, 1.0)
    untouched = jnp.all(lane.h == jnp.eye(lane.h.shape[0]))
    scaled = jnp.where(untouched, safe / jnp.maximum(change @ change, 1e-300), 1.0) * lane.h
    hy = scaled @ change
    updated = (
        scaled
        - (jnp.outer(hy, moved) + jnp.outer(moved, hy)) / safe
        + (1.0 + change @ hy / safe) * jnp.outer(moved, moved) / safe
    )
    h = jnp.where(usable, updated, lane.h)

    new_gradient = jnp.where(accept, gradient, lane.gradient)
    new = jnp.where(accept, trial, lane.u)
    direction = jnp.where(accept, _direction(h, new, new_gradient, lower, upper), lane.direction)

    # Without curvature to go by, the first step is at most a unit step. A refused step is shortened
    # to the minimum of the parabola through what is known.
    unit = jnp.minimum(1.0, 1.0 / jnp.maximum(jnp.linalg.norm(direction), 1e-300))
    excess = jnp.where(finite, value - lane.value - promised, jnp.inf)
    shorter = jnp.clip(-0.5 * promised / jnp.maximum(excess, 1e-300), 0.1, 0.5)
    step = jnp.where(accept, jnp.where(start, unit, 1.0), lane.step * shorter)

    quiet = jnp.where(lane.value - value < tolerance, lane.quiet + 1, 0)
    quiet = jnp.where(accept, quiet, lane.quiet)
    evaluations = lane.evaluations + jnp.where(lane.done, 0, 1)
    promises_little = accept & (-new_gradient @ direction < tolerance)
    halted = (quiet >= 2) | promises_little | (step < _SHORTEST)

    renewed = lane.renewed
    if steep is not None:
        downhill = -_free(new, new_gradient, lower, upper) * new_gradient
        renew = halted & (jnp.max(jnp.abs(downhill)) > steep) & (renewed < _RENEWALS)
        h = jnp.where(renew, jnp.eye(h.shape[0]), h)
        direction = jnp.where(renew, downhill, direction)
        step = jnp.where(renew, 1.0 / jnp.maximum(jnp.linalg.norm(downhill), 1.0), step)
        quiet = jnp.where(renew, 0, quiet)
        renewed = renewed + renew
        halted = halted & ~renew

    done = lane.done | (start & ~finite) | halted | (evaluations >= limit)
    new_value = jnp.where(accept, value, lane.value)
    return _Lane(
        new, new_value, new_gradient, h, direction, step, quiet, renewed, evaluations, done
    )
