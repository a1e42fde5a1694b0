"""Learning hyper-parameters: from a model and its data to starts, bounds, priors and a maximum.

Optimizers work in free coordinates (`leadline.numerics.to_free`), shifted and scaled so that the
data's units are gone: a positive parameter is searched by its logarithm, a real one by its distance
from where the data put it, in the data's unit. For each parameter, by what it scales with, the
tables below give starting values, the widest interval worth searching, and a normal prior on the
free coordinate. The prior on length scales is that of Hvarfner et al. (2024), which grows with the
square root of the dimension, centered where its density is highest; the others are wide.

Searches begin at the model's own values and at a few others, and race: one that falls behind is
given up, and so is one that has met a better one. The evidence of rough functions has maxima that
differ in which columns are rough: one start calls the column that matters most rough, and the
others smooth. Large data are searched on a small part of them first, then on a larger part and on
all rows, each time from the best ends and from the model's own values, of which one goes on, with
what was learned about the curvature. Too small a part misleads: in many dimensions its rows are so
far from one another that everything looks like noise. Without priors the evidence has more maxima,
and early values say little about late ones: then all starts, the first and those that were found,
run to their end.

More starts find better maxima of rough functions, for more time: `restarts` is the user's to set.

A parameter with a prior of its own (`_priors`) is searched around that: starts that are so many
deviations from the center of the default prior are as many from the center of this one.

Notation: `v (p,)` scaled free coordinates, `u = center + unit * v`, `r` starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_seed
from leadline.models._priors import Priors, PriorsLike, as_priors
from leadline.numerics import (
    Constraint,
    DataScale,
    Minima,
    Race,
    Slot,
    blas_threads_for,
    bucket,
    from_free,
    minimize_bounded,
    pad_rows,
    row_mask,
    slots,
)

# For each kind of scaling, in multiples of the natural unit: the interval to search, and the center
# and width of the prior on the logarithm. Lengths also grow with the square root of the dimension.
_INTERVAL = {"input": (1e-3, 1e5), "noise": (1e-8, 1e1), "output": (1e-4, 1e5)}
_PRIOR = {"input": (np.sqrt(2.0) - 3.0, np.sqrt(3.0)), "noise": (-4.0, 2.0), "output": (0.0, 1.0)}
# For functions that may have no noise at all: it can be learned down to nothing, and a lot of it is
# no surprise either.
_QUIET_NOISE_PRIOR = (-8.0, 3.0)
_DEFAULT_INTERVAL, _DEFAULT_PRIOR = (1e-3, 1e3), (0.0, 2.0)
_REAL_INTERVAL, _REAL_PRIOR_WIDTH = 20.0, 3.0
_LOGIT_INTERVAL, _LOGIT_PRIOR_WIDTH = 12.0, 2.0
# Around priors of one's own: how many deviations starts may be from the center, how many are worth
# searching, and the most of them, as free coordinates, whose parameters are numbers.
_NEAR, _FAR, _FARTHEST = 2.0, 8.0, 100.0


class _Start(NamedTuple):
    """Where a search begins, in multiples of the natural unit.

    Attributes:
        length: of the length scales.
        noise: of the noise.
        leading: of the length scale of the leading column, if that is another.
    """

    length: float
    noise: float
    leading: float | None = None


_EVEN, _ONE_COLUMN = _Start(0.15, 0.1), _Start(1.5, 0.3, leading=0.1)
_SMOOTH, _SMOOTHER = _Start(0.4, 1e-2), _Start(0.8, 1e-3)


def _race(after: tuple[int, ...], behind: tuple[float, ...], near: float) -> Race:
    return Race(np.array(after), np.array(behind), np.asarray(near))


class _Plan(NamedTuple):
    """How a search goes.

    Attributes:
        starts: besides the model's own values; what the user wants beyond them is random, around
            the smooth one.
        rows: how many tell a good start from a bad one, where there are more.
        race: on so many rows, or on all if there are not more.
        kept: how many of those that were found on a part of the rows go on, beside the model's own
            values; if None all of them, beside all starts, and nothing but `last` is a race of all
            rows.
        last: the races on more rows after that.
        tolerance: nats that are worth another step, unless the user says.
    """

    starts: tuple[_Start, ...]
    rows: int
    race: Race
    kept: int | None
    last: Race
    tolerance: float


_NO_RACE, _BEST_AT_ONCE = _race((1,), (np.inf,), 0.0), _race((1,), (0.0,), 0.0)
_PLANS = {
    "default": _Plan(
        starts=(_EVEN, _ONE_COLUMN),
        rows=128,
        race=_race((2, 4, 8), (30.0, 12.0, 5.0), 0.2),
        kept=2,
        last=_race((1, 4), (20.0, 0.0), 0.1),
        tolerance=3e-3,
    ),
    # For models that are learned again and again, where the first start is nearly always the best.
    "quiet": _Plan((_EVEN, _SMOOTH), 64, _race((4,), (0.0,), 0.0), 1, _BEST_AT_ONCE, 3e-3),
    # Early values say little about late ones here, so there is no race on all rows. Long length
    # scales only pay where no prior speaks for shorter ones.
    None: _Plan(
        starts=(_EVEN, _SMOOTH, _SMOOTHER),
        rows=64,
        race=_race((8,), (0.0,), 0.0),
        kept=None,
        last=_NO_RACE,
        tolerance=1e-4,
    ),
}
# A model whose own values are not more nats behind on a few rows has seen such data before.
_KNOWN = 10.0
# A slope of the log joint, in nats for each unit of a free coordinate, that is no maximum.
_STEEP = 1.0


class Search(NamedTuple):
    """Where to look for hyper-parameters, in scaled free coordinates."""

    starts: Float[np.ndarray, "r p"]
    lower: Float[np.ndarray, " p"]
    upper: Float[np.ndarray, " p"]
    prior_mean: Float[np.ndarray, " p"]
    prior_precision: Float[np.ndarray, " p"]
    center: Float[np.ndarray, " p"]
    unit: Float[np.ndarray, " p"]
    priors: str | None
    seed: int
    tolerance: float

    def free(self, v: Float[np.ndarray, " p"]) -> Float[np.ndarray, " p"]:
        """The free coordinates at scaled ones."""
        return self.center + self.unit * v

    def arguments(self, module: Any, data: Any) -> tuple:
        """What `log_joint` needs besides coordinates."""
        return module, data, self.prior_mean, self.prior_precision, self.center, self.unit


def search_for(
    module: Any,
    scale: DataScale,
    *,
    priors: PriorsLike,
    restarts: int | None,
    seed: int,
    tolerance: float | None = None,
) -> Search:
    """The search for the free parameters of `module`: the module's own values start first.

    `tolerance` is how many nats are worth another step.
    """
    priors = as_priors(module, priors)
    if restarts is not None and restarts < 1:
        raise InvalidData(f"restarts must be at least 1, got {restarts}.")
    seed = as_seed(seed)
    found = [
        _with_prior(
            _coordinates(slot.constraint, np.asarray(slot.get(module)), seen, priors.rest),
            priors,
            slot,
        )
        for slot, seen in slots(module, scale)
        if not slot.fixed and seen is not None
    ]
    if tolerance is None:
        tolerance = _PLANS[priors.rest].tolerance
    columns = len(Search._fields) - 3
    if not found:
        parts = [np.zeros((1, 0)), *[np.zeros(0)] * (columns - 1)]
    else:
        parts = [np.concatenate(part, axis=-1) for part in zip(*found, strict=True)]
    search = Search(*parts, priors=priors.rest, seed=seed, tolerance=tolerance)
    if not found:
        return search
    starts, smooth = search.starts[:-1], search.starts[-1]
    restarts = len(starts) if restarts is None else restarts
    if restarts > len(starts):
        shape = (restarts - len(starts), smooth.size)
        starts = np.concatenate([starts, smooth + np.random.default_rng(seed).normal(size=shape)])
    return search._replace(starts=np.clip(starts[:restarts], search.lower, search.upper))


def _with_prior(
    found: tuple[np.ndarray, ...], priors: Priors, slot: Slot
) -> tuple[np.ndarray, ...]:
    """The arrays of `_coordinates` under the prior that the parameter has.

    Under one of its own the center of that is zero, and its deviation the unit, unless the default
    one is smaller: a search sees no difference between a tight prior and a wide one.
    """
    starts, lower, upper, middle, precision, center, unit = found
    own = priors.of(slot)
    if own is None:
        return (*found[:4], precision * (priors.rest is not None), center, unit)
    mean, width = own
    usual = unit / np.sqrt(precision)
    step = np.minimum(width, usual)
    reach = _FAR * width
    if slot.constraint.kind == "positive":
        reach = np.minimum(reach, _FARTHEST)
    around = np.clip((starts[1:] - middle) * np.sqrt(precision), -_NEAR, _NEAR)
    return (
        np.concatenate([(center + unit * starts[:1] - mean) / step, around]),
        np.minimum(center + unit * lower - mean, -reach) / step,
        np.maximum(center + unit * upper - mean, reach) / step,
        np.zeros_like(mean),
        (step / width) ** 2,
        mean,
        step,
    )


def _coordinates(
    constraint: Constraint, value: np.ndarray, scale: DataScale, priors: str | None
) -> tuple[np.ndarray, ...]:
    """The arrays of a search, from `starts` to `unit`, that one parameter has.

    The last of the starts is the one around which there are random ones.
    """
    begin = (*_PLANS[priors].starts, _SMOOTH)
    kind = constraint.scales_with or ""
    unit = scale.unit(constraint, value.shape).ravel()
    center = scale.center(constraint, value.shape).ravel()
    value = value.ravel()
    one, zero = np.ones_like(value), np.zeros_like(value)
    if constraint.kind == "positive":
        with np.errstate(divide="ignore"):
            own = np.log(value)
        # A pure number has no unit in the data: the user's own value is the best guess there is.
        natural = np.log(unit) if kind else own
        if kind == "input":
            natural = natural + 0.5 * np.log(scale.dim)
        starts = [natural + np.log(_multiple(kind, start, value, scale)) for start in begin]
        low, high = np.log(_INTERVAL.get(kind, _DEFAULT_INTERVAL))
        middle, width = _PRIOR.get(kind, _DEFAULT_PRIOR)
        if kind == "noise" and priors == "quiet":
            middle, width = _QUIET_NOISE_PRIOR
        return (
            np.stack([own, *starts]),
            natural + low,
            natural + high,
            natural + middle,
            one / width**2,
            zero,
            one,
        )
    if constraint.kind == "bounded":
        p = (value - constraint.lower) / (constraint.upper - constraint.lower)
        own = np.log(p) - np.log1p(-p)
        reach, width, center, unit = _LOGIT_INTERVAL, _LOGIT_PRIOR_WIDTH, zero, one
        starts = [own] * len(begin)
    else:
        own = (value - center) / unit
        reach, width = _REAL_INTERVAL, _REAL_PRIOR_WIDTH
        starts = [zero if kind in ("location", "position") else own] * len(begin)
    return (np.stack([own, *starts]), -reach * one, reach * one, zero, one / width**2, center, unit)


def _multiple(kind: str, start: _Start, value: np.ndarray, scale: DataScale) -> Any:
    """Where a start puts a positive parameter, in multiples of its natural value."""
    if kind == "noise":
        return start.noise
    if kind != "input":
        return 1.0
    if start.leading is None:
        return start.length
    leads = scale.leading_column()
    if leads is None or value.size != scale.dim:
        # One length scale for all columns lies between the two.
        return np.sqrt(start.length * start.leading)
    return np.where(np.arange(value.size) == leads, start.leading, start.length)


def learn(
    evidence: Callable[[Any, Any], Array],
    module: Any,
    data: Any,
    scale: DataScale,
    *,
    priors: PriorsLike,
    restarts: int | None,
    seed: int,
) -> Any:
    """The module with the hyper-parameters that `best_coordinates` finds.

    Args:
        evidence: a module-level function of `module` and `data`.
        module: the model; its free parameters are learned.
        data: a named tuple of padded rows, with a `mask`.
        scale: the units of the data.
        priors: "default", None to maximize the evidence alone, or measures by names of parameters.
        restarts: how many starts; the module's own values are always the first.
        seed: of random starts, and of the rows that screen them.
    """
    priors = as_priors(module, priors, known=("default", None))
    search = search_for(module, scale, priors=priors, restarts=restarts, seed=seed)
    if search.lower.size == 0:
        return module
    return from_free(module, search.free(best_coordinates(evidence, module, data, search)))


def best_coordinates(
    evidence: Callable[[Any, Any], Array], module: Any, data: Any, search: Search
) -> Float[np.ndarray, " p"]:
    """The scaled coordinates that maximize `evidence(module, data)` and the prior.

    Args:
        evidence: a module-level function; one program is compiled for it and each shape of data.
        module: the model; its free parameters are learned.
        data: a named tuple of padded rows, with a `mask`.
        search: from `search_for`.
    """
    plan, starts, n = _PLANS[search.priors], search.starts, int(np.sum(data.mask))
    curvature = np.broadcast_to(np.eye(starts.shape[1]), (*starts.shape, starts.shape[1]))
    sizes = _part_sizes(plan, n)
    race = plan.race if sizes or plan.kept is not None else plan.last
    while sizes:
        size, *sizes = sizes
        part = _part(data, size, search.seed)
        found = _run(evidence, module, part, search, starts, curvature, race)
        # The best comes last.
        order = np.argsort(-np.asarray(found.value))
        if order[-1] == 0 or 0.0 < found.value[0] - found.value[order[-1]] < _KNOWN:
            # The model was learned from such data before, and most probably begins near its end.
            # In a rehearsal all values are the same, and every size has its turn.
            sizes = []
        first, kept = (None, order) if plan.kept is None else (1, order[-plan.kept :])
        starts = np.concatenate([search.starts[:first], np.asarray(found.u)[kept]])
        # The evidence of more rows curves as that of a few does, times as many. Only the search
        # that came to its end has learned how.
        curvature = np.repeat(np.eye(starts.shape[1])[None], len(starts), axis=0)
        curvature[-1] = np.asarray(found.h)[order[-1]] * size / [*sizes, n][0]
        race = plan.last
    found = _run(evidence, module, data, search, starts, curvature, race)
    return np.asarray(found.u)[int(np.argmin(found.value))]


def _part_sizes(plan: _Plan, n: int) -> list[int]:
    """How many of `n` rows are searched first: a few, then half of a bucket.

    Half of the rows take a fifth of the time, and nearly all of the way.
    """
    if n <= plan.rows:
        return []
    half = bucket(n) // 2
    return [plan.rows] if plan.kept is None or half <= plan.rows else [plan.rows, half]


def _part(data: Any, size: int, seed: int) -> Any:
    """So many random rows of the data, in a bucket of their own."""
    some = np.random.default_rng(seed).permutation(int(np.sum(data.mask)))[:size]
    room = bucket(size)
    part = type(data)(*(pad_rows(np.asarray(a)[some], room) for a in data))
    return part._replace(mask=row_mask(size, room))


def _run(
    evidence: Any, module: Any, data: Any, search: Search, starts: Any, curvature: Any, race: Race
) -> Minima:
    with blas_threads_for(data.mask.shape[0]):
        found = minimize_bounded(
            _MinusLogJoint(evidence),
            search.arguments(module, data),
            starts,
            search.lower,
            search.upper,
            h=curvature,
            tolerance=np.asarray(search.tolerance),
            steep=np.asarray(_STEEP),
            race=race,
        )
        return jax.device_get(found)


def log_joint(evidence: Callable[[Any, Any], Array], v: Array, args: Any) -> Array:
    """Log evidence plus log prior (without its constant) at scaled coordinates `v`."""
    module, data, prior_mean, prior_precision, center, unit = args
    penalty = 0.5 * jnp.sum(prior_precision * (v - prior_mean) ** 2)
    return evidence(from_free(module, center + unit * v), data) - penalty


class _MinusLogJoint(eqx.Module):
    """Minus the log joint, under an evidence."""

    evidence: Callable[[Any, Any], Array] = eqx.field(static=True)

    def __call__(self, v: Array, args: Any) -> Array:
        return -log_joint(self.evidence, v, args)
