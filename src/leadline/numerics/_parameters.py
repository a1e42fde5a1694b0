"""Parameters in the caller's units, and the free coordinates that optimizers see.

A class that has parameters derives from `Parameterized` and declares each one as a field with its
constraint:

    class Matern52(Stationary):
        lengthscale: Array = positive(1.0, scales_with="input")

The leaf is always the parameter itself, in the caller's units. `fit` works in free coordinates:
the logarithm of a positive parameter, the parameter itself if it is real, the logit of a bounded
one. What is known about the data enters only there, as an offset (`DataScale`): where the
optimizer starts, how far it may go, and where a prior is centered.

Notation: `u (p,)` free coordinates of all parameters that are not fixed, in the order of a
depth-first walk over the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import (
    LARGEST_VARIANCE,
    SMALLEST,
    SMALLEST_VARIANCE,
    InvalidData,
    is_traced,
    require_spread,
    show,
)
from leadline.numerics._archive import Storable
from leadline.numerics._programs import jax_begins

CONSTRAINT = "leadline_constraint"
# Values that differ by less, relative to their size, are one value.
_ROUNDING = 4 * float(np.finfo(np.float64).eps)


@dataclasses.dataclass(frozen=True)
class Constraint:
    """The set a parameter lives in, and how it scales with the data.

    Attributes:
        kind: `"positive"`, `"real"` or `"bounded"`.
        scales_with: which spread of the data the parameter is measured in: `"input"` (a length),
            `"frequency"` (an inverse length), `"output"` (a variance of the targets), `"noise"`
            (also a variance of the targets, but usually a small part of it), `"location"` (a
            value of the targets), `"position"` (a value of the inputs), `"slope"` (targets per
            input), `"slope_variance"` (its square), `"deviation"` (a standard deviation of the
            targets), or None (a pure number).
        lower, upper: the interval of a bounded parameter.
        zero: whether a positive parameter may also be 0, which switches something off.
    """

    kind: str
    scales_with: str | None = None
    lower: float = 0.0
    upper: float = 1.0
    zero: bool = False

    @property
    def in_target_units(self) -> bool:
        """Whether the parameter says how large the targets are."""
        return self.scales_with in ("output", "noise", "slope", "slope_variance", "deviation")

    @property
    def is_variance(self) -> bool:
        """Whether the parameter is a square of what the targets are measured in."""
        return self.scales_with in ("output", "noise", "slope_variance")

    def require(self, value: np.ndarray, name: str) -> None:
        """Raise a `ValueError` unless every entry of `value` is in the set."""
        wanted, inside = "finite", np.isfinite(value)
        if self.kind == "positive":
            wanted = "finite, and zero or positive" if self.zero else "finite and positive"
            inside &= (value >= 0) if self.zero else (value > 0)
            if inside.all() and self.is_variance:
                wanted = f"between {SMALLEST_VARIANCE:g} and {LARGEST_VARIANCE:g}"
                wanted = f"0 or {wanted}" if self.zero else wanted
                inside = (value >= SMALLEST_VARIANCE) & (value <= LARGEST_VARIANCE) | (value == 0)
        elif self.kind == "bounded":
            wanted = f"strictly between {self.lower:g} and {self.upper:g}"
            inside &= (value > self.lower) & (value < self.upper)
        if not inside.all():
            bad = value[~inside].flat[0]
            raise ValueError(f"{name} must be {wanted}, got {bad:g}.")

    def free(self, value: Array) -> Array:
        """Map a parameter to its free coordinate."""
        if self.kind == "positive":
            return jnp.log(value)
        if self.kind == "bounded":
            p = (value - self.lower) / (self.upper - self.lower)
            return jnp.log(p) - jnp.log1p(-p)
        return value

    def value(self, free: Any) -> Any:
        """Map a free coordinate back to the parameter; NumPy arrays stay on the host."""
        np_ = np if isinstance(free, np.ndarray) else jnp
        if self.kind == "positive":
            return np_.exp(free)
        if self.kind == "bounded":
            return self.lower + (self.upper - self.lower) * (0.5 + 0.5 * np_.tanh(0.5 * free))
        return free


class Fixed(eqx.Module):
    """A parameter value that `fit` leaves alone; made by `fixed`."""

    value: Any


def fixed(value: Any) -> Any:
    """Mark a parameter as known: `ll.GP(kernel, noise=ll.fixed(1e-2))` never changes its noise."""
    return Fixed(value)


def positive(
    default: Any = dataclasses.MISSING, *, scales_with: str | None = None, zero: bool = False
) -> Any:
    """Declare a positive parameter; with `zero` (and for noise) it may also be given as 0."""
    zero = zero or scales_with == "noise"
    return _declare(default, Constraint("positive", scales_with, zero=zero))


def real(default: Any = dataclasses.MISSING, *, scales_with: str | None = None) -> Any:
    """Declare a parameter that may be any real number."""
    return _declare(default, Constraint("real", scales_with))


def bounded(lower: float, upper: float, default: Any = dataclasses.MISSING) -> Any:
    """Declare a parameter in the open interval (lower, upper)."""
    return _declare(default, Constraint("bounded", None, lower, upper))


def _declare(default: Any, constraint: Constraint) -> Any:
    # The converter is what tells type checkers that a number or a list will do.
    return eqx.field(default=default, converter=as_parameter, metadata={CONSTRAINT: constraint})


class Parameterized(Storable):
    """A frozen module whose declared parameters become float64 arrays.

    Values wrapped by `fixed` are unwrapped and their names kept in `fixed_fields`.
    """

    fixed_fields: frozenset[str] = eqx.field(
        static=True, kw_only=True, default=frozenset(), repr=False
    )

    def __post_init__(self):
        frozen = set(self.fixed_fields)
        for field, constraint in _declared(self):
            value = getattr(self, field.name)
            if isinstance(value, Fixed):
                frozen.add(field.name)
                value = value.value
            name = f"{field.name} of {type(self).__name__}"
            if not isinstance(value, (*_NUMERIC, eqx.Module)):
                raise TypeError(f"{name} must be a number or an array of numbers, got {value!r}.")
            if _is_concrete(value):
                value = _as_float(value)
                constraint.require(value, name)
            setattr(self, field.name, as_parameter(value))
        self.fixed_fields = frozenset(frozen)

    def scale_for(self, field: str, scale: DataScale) -> DataScale | tuple[DataScale, ...]:
        """What the data look like to the child in `field`: the same, unless inputs are changed.

        Where the field holds a tuple of children, a tuple gives each child its own view.
        """
        del field
        return scale

    def __repr__(self) -> str:
        shown = (f"{f.name}={self.show_field(f.name)}" for f in dataclasses.fields(self) if f.repr)
        return f"{type(self).__name__}({', '.join(shown)})"

    def show_field(self, name: str) -> str:
        """The text of one field in the `repr`."""
        text = show(getattr(self, name))
        return f"fixed({text})" if name in self.fixed_fields else text


def as_parameter(value: Any) -> Any:
    """A float64 array, if `value` is a number or an array; placeholders pass through."""
    if isinstance(value, jax.Array) and value.dtype == jnp.float64 and not value.weak_type:
        return value
    if _is_concrete(value):
        # Through NumPy: an array of weak type would compile every program a second time. And
        # `jnp.asarray` compiles a program of its own for every shape.
        jax_begins()
        return jax.device_put(_as_float(value))
    return jnp.asarray(value, dtype=jnp.float64) if isinstance(value, _NUMERIC) else value


_NUMERIC = (int, float, np.ndarray, np.generic, list, tuple, jax.Array)


def _is_concrete(value: Any) -> bool:
    return isinstance(value, _NUMERIC) and not is_traced(value)


def _as_float(value: Any) -> np.ndarray:
    a = np.asarray(value)
    if a.dtype.kind in "cSUmM":
        raise TypeError(f"a parameter must be a number or an array of numbers, got {value!r}.")
    return np.asarray(a, dtype=np.float64)


@dataclasses.dataclass(frozen=True)
class DataScale:
    """The spreads of a data set, from which starts, bounds and priors are centered.

    Attributes:
        x: the inputs (n, d) as some kernel sees them.
        y_mean: the mean of the targets.
        y_std: their standard deviation (1 if they are constant).
        y: the targets (n,), if there is one for each row of `x`.
    """

    x: np.ndarray
    y_mean: float
    y_std: float
    y: np.ndarray | None = None

    @classmethod
    def of(cls, x: np.ndarray, y: np.ndarray) -> DataScale:
        """Measure a data set; targets that were not observed have mean 0."""
        require_spread(y, "y")
        mean = float(np.mean(y)) if y.size else 0.0
        # Targets far from zero are rounded to a unit that may be larger than most spreads.
        rounding = _ROUNDING * float(np.max(np.abs(y), initial=0.0))
        varies = y.size > 0 and float(np.ptp(y)) > rounding
        std = float(np.std(y)) if varies else max(abs(mean), 1.0)
        return cls(x, mean, std, y if len(y) == len(x) else None)

    def __post_init__(self):
        for column in np.flatnonzero(np.ptp(self.x, axis=0) < SMALLEST):
            require_spread(self.x[:, column], f"x[:, {column}]")

    def with_inputs(self, x: np.ndarray) -> DataScale:
        """The same targets seen from other inputs."""
        return dataclasses.replace(self, x=x)

    @property
    def dim(self) -> int:
        """The number of input columns."""
        return self.x.shape[1]

    def leading_column(self) -> int | None:
        """The column along which targets change least from a row to the next; None if not known.

        By the ratio of von Neumann (1941), which is small for a column that targets depend on,
        however rough that dependence is, and near 1 for one that says nothing about them.
        """
        if self.y is None:
            return None
        ordered = self.y[np.argsort(self.x, axis=0, kind="stable")]
        return int(np.argmin(np.sum(np.diff(ordered, axis=0) ** 2, axis=0)))

    def spread(self) -> np.ndarray:
        """The width (d,) of each input: that of the uniform law with the same deviation."""
        width = np.sqrt(12.0) * np.std(self.x, axis=0)
        # The deviation of a constant column is its rounding error.
        return np.where(width > 1e-14 * np.max(np.abs(self.x), axis=0), width, 1.0)

    def unit(self, constraint: Constraint, shape: tuple[int, ...]) -> np.ndarray:
        """The natural unit of a parameter, with the parameter's shape."""
        kind = constraint.scales_with
        if kind in ("input", "frequency", "position", "slope", "slope_variance"):
            width = _per_column(self.spread(), shape, lambda w: float(np.exp(np.mean(np.log(w)))))
            if kind in ("input", "position"):
                return width
            if kind == "frequency":
                return np.asarray(1.0 / width)
            slope = self.y_std / width
            if np.any((slope < SMALLEST) | (slope > 1.0 / SMALLEST)):
                raise InvalidData(
                    f"y spreads by {self.y_std:.3g} where x spreads by {np.min(width):.3g}: the "
                    "square of such a slope is no number. Bring the sizes of x and y together."
                )
            return np.asarray(slope**2 if kind == "slope_variance" else slope)
        if kind in ("output", "noise"):
            return np.full(shape, self.y_std**2)
        return np.full(shape, self.y_std if kind in ("location", "deviation") else 1.0)

    def center(self, constraint: Constraint, shape: tuple[int, ...]) -> np.ndarray:
        """Where a real parameter is expected, with the parameter's shape."""
        if constraint.scales_with == "location":
            return np.full(shape, self.y_mean)
        if constraint.scales_with == "position":
            return _per_column(np.mean(self.x, axis=0), shape, lambda m: float(np.mean(m)))
        return np.zeros(shape)


def _per_column(values: np.ndarray, shape: tuple[int, ...], shared: Callable) -> np.ndarray:
    """One value per column where the parameter has one, else a shared one."""
    if shape and shape[-1] == values.size:
        return np.broadcast_to(values, shape)
    return np.full(shape, shared(values))


@dataclasses.dataclass(frozen=True)
class Slot:
    """One declared parameter inside a tree of modules."""

    path: tuple[Any, ...]
    constraint: Constraint
    fixed: bool
    owner: Any
    name: str

    def get(self, module: Any) -> Any:
        """Read the parameter from a tree of the same structure."""
        for step in self.path:
            module = module[step] if isinstance(step, int) else getattr(module, step)
        return module


def _declared(module: Any) -> list[tuple[dataclasses.Field, Constraint]]:
    return [
        (f, f.metadata[CONSTRAINT]) for f in dataclasses.fields(module) if CONSTRAINT in f.metadata
    ]


def slots(module: Any, scale: DataScale | None = None) -> Iterator[tuple[Slot, DataScale | None]]:
    """Walk over every declared parameter, with the data as its owner sees them."""
    yield from _walk(module, (), scale)


def _walk(node: Any, path: tuple[Any, ...], scale: Any) -> Iterator[tuple[Slot, Any]]:
    if isinstance(node, tuple | list):
        for i, child in enumerate(node):
            yield from _walk(child, (*path, i), scale[i] if isinstance(scale, tuple) else scale)
        return
    # What is computed from a kernel, such as features, keeps it as it is.
    if not isinstance(node, Parameterized):
        return
    for field in dataclasses.fields(node):
        constraint = field.metadata.get(CONSTRAINT)
        value = getattr(node, field.name)
        where = (*path, field.name)
        if constraint is not None and not isinstance(value, eqx.Module):
            frozen = field.name in node.fixed_fields
            yield Slot(where, constraint, frozen, node, field.name), scale
        elif isinstance(value, eqx.Module | tuple | list):
            seen = scale if scale is None else node.scale_for(field.name, scale)
            yield from _walk(value, where, seen)


def free_slots(module: Any) -> list[Slot]:
    """The parameters that `fit` may change, in order."""
    return [slot for slot, _ in slots(module) if not slot.fixed]


def to_free(module: Any) -> Float[Array, " p"]:
    """The free coordinates of all parameters that are not fixed."""
    parts = [jnp.ravel(s.constraint.free(s.get(module))) for s in free_slots(module)]
    return jnp.concatenate(parts) if parts else jnp.zeros(0)


def from_free(module: Any, u: Float[Array | np.ndarray, " p"]) -> Any:
    """The module with its free parameters set from `u`; the inverse of `to_free`."""
    found = free_slots(module)
    values, start = [], 0
    for slot in found:
        old = slot.get(module)
        size = int(np.prod(old.shape))
        part = u[start : start + size].reshape(old.shape)
        values.append(as_parameter(slot.constraint.value(part)))
        start += size
    if not found:
        return module
    return eqx.tree_at(lambda m: [s.get(m) for s in found], module, values)
