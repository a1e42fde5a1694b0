"""Priors that a user gives to single hyper-parameters, by their names.

A name is that of a field ("lengthscale": all parameters of that name), a dotted path from the model
("kernel.kernel.lengthscale": this one), or the path of a module with one parameter ("mean" for
"mean.value"). The nearer a name comes to one parameter, the more it counts: a path before the path
of a module, and that before the name of a field.

Searches work with normal laws of free coordinates (`_learning`). The logarithm of a log-normal
variable has one, and a real parameter is its own free coordinate, so these two are what is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from leadline.boundary import InvalidData, as_choice, did_you_mean, shorten
from leadline.measures import Gaussian, LogNormal
from leadline.numerics import Slot, slots

# The deviation of a tighter prior, in parts of its center, would be lost to rounding.
_TIGHTEST = 1e-8


class Priors(NamedTuple):
    """What is believed about the hyper-parameters of a model before its data.

    Attributes:
        rest: "default", "quiet" or None (nothing): of all that have no prior of their own.
        paths: of the parameters that have one.
        center: the model with these at the centers of their priors.
        above: the model with these one deviation above, on the scale where the prior is normal.
    """

    rest: str | None
    paths: frozenset[tuple[Any, ...]] = frozenset()
    center: Any = None
    above: Any = None

    def of(self, slot: Slot) -> tuple[np.ndarray, np.ndarray] | None:
        """Mean and deviation of a parameter's free coordinates; None if it has no own prior."""
        if slot.path not in self.paths:
            return None
        center, above = (np.asarray(slot.get(m)).ravel() for m in (self.center, self.above))
        if slot.constraint.kind == "positive":
            center, above = np.log(center), np.log(above)
        return center, above - center

    def in_units(self, change: Callable[[Any], Any]) -> Priors:
        """The same priors of a model in other units, to which `change` takes it."""
        if not self.paths:
            return self
        return self._replace(center=change(self.center), above=change(self.above))


PriorsLike = str | Mapping[str, Any] | Priors | None


def as_priors(
    model: Any,
    given: PriorsLike,
    *,
    known: Sequence[str | None] = ("default", "quiet", None),
    rest: str | None = "default",
) -> Priors:
    """The priors that a caller gave for the hyper-parameters of `model`.

    Args:
        model: whose parameters they are.
        given: one of the `known`, or measures by names of parameters.
        known: which priors for all parameters there are.
        rest: which of them the parameters have that are not named.
    """
    if isinstance(given, Priors):
        return given
    if not isinstance(given, Mapping):
        return Priors(as_choice(given, known, "priors"))
    chosen: dict[tuple[Any, ...], tuple[Slot, np.ndarray, np.ndarray]] = {}
    found = [(*_meant(model, name), name, measure) for name, measure in given.items()]
    for _, meant, name, measure in sorted(found, key=lambda each: each[0]):
        for slot in meant:
            chosen[slot.path] = slot, *_normal(measure, slot, np.shape(slot.get(model)), name)
    if not chosen:
        return Priors(rest)
    at, *values = zip(*chosen.values(), strict=True)
    center, above = (eqx.tree_at(lambda m: [s.get(m) for s in at], model, each) for each in values)
    return Priors(rest, frozenset(chosen), center, above)


def _path(slot: Slot) -> str:
    return ".".join(map(str, slot.path))


def _meant(model: Any, name: Any) -> tuple[tuple[int, int], list[Slot]]:
    """How closely a name says which parameters it is about, and these."""
    there = [slot for slot, _ in slots(model)]
    same = [slot for slot in there if _path(slot) == name]
    below = [slot for slot in there if _path(slot).startswith(f"{name}.")]
    named = [slot for slot in there if slot.name == name]
    meant = same or below or named
    if not meant:
        hint = did_you_mean(str(name), [*map(_path, there), *(slot.name for slot in there)])
        raise InvalidData(
            f"priors has {name!r}, and the model has no such parameter.{hint} There are: "
            f"{', '.join(map(_path, there))}."
        )
    if len(below) > 1 and not same:
        raise InvalidData(
            f"priors has {name!r}, which has {len(below)} parameters: name one of "
            f"{', '.join(map(_path, below))}."
        )
    free = [slot for slot in meant if not slot.fixed]
    if not free:
        raise InvalidData(f"priors has {name!r}, which is fixed: it is not learned.")
    return (2 if same else 1 if below else 0, name.count(".")), free


def _normal(
    measure: Any, slot: Slot, shape: tuple[int, ...], name: str
) -> tuple[np.ndarray, np.ndarray]:
    """A prior's center and the value one deviation above it, for each entry of a parameter."""
    kind, where = slot.constraint.kind, _path(slot)
    if kind == "positive" and isinstance(measure, LogNormal):
        center, width = np.asarray(measure.log_mean), np.asarray(measure.log_std)
        tightest = _TIGHTEST
    elif kind == "real" and isinstance(measure, Gaussian) and measure.diagonal:
        center, width = np.asarray(measure.location), np.asarray(measure.root)
        tightest = _TIGHTEST * np.abs(center)
    else:
        raise InvalidData(f"The prior of {where} must be {_WANTED[kind]}, got {shorten(measure)}.")
    size = int(np.prod(shape))
    if measure.dim not in (1, size):
        raise InvalidData(
            f"The prior {name!r} has {measure.dim} coordinates, and {where} has {size}: give one "
            "for all of them, or one for each."
        )
    if not np.all(width > tightest):
        raise InvalidData(
            f"The prior {name!r} is as good as a number: give that to the model, as "
            "ll.fixed(value)."
        )
    ends = center, center + width
    if kind == "positive":
        with np.errstate(over="ignore"):
            ends = tuple(map(np.exp, ends))
    if not np.all(np.isfinite(ends)) or (kind == "positive" and not np.min(ends) > 0.0):
        raise InvalidData(f"The prior {name!r} is about values that are no numbers: {measure!r}.")
    center, above = (np.broadcast_to(each, (size,)).reshape(shape) for each in ends)
    return center, above


_WANTED = {
    "positive": "an ll.measures.LogNormal, since it is positive",
    "real": "an ll.measures.Gaussian with variances, since it is a real number",
    "bounded": "left to the default, since it lies between bounds",
}
