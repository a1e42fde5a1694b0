"""The contract of a probability measure.

Every measure on R^d has `dim`, `mean (d,)`, `cov (d, d)`, `sample(key, n)` and `qmc(n, seed)`,
both `(n, d)`. Two things are abilities: `quantile(u)`, a map from the unit cube of the same
dimension that turns uniform points into points of the measure, and `log_prob(x)`, the log
density `(n,)`, minus infinity outside the support.

A measure of your own defines `dim`, `mean`, `cov`, `sample` and either `quantile` or `from_cube`.
"""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import Able, InvalidData, Unsupported, is_traced
from leadline.numerics import sobol


class Measure(Able, eqx.Module):
    """A probability measure on R^d."""

    abilities: ClassVar = ("quantile", "log_prob")

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """The number of coordinates, d."""

    @property
    @abc.abstractmethod
    def mean(self) -> Float[Array, " d"]:
        """The mean."""

    @property
    @abc.abstractmethod
    def cov(self) -> Float[Array, "d d"]:
        """The covariance matrix."""

    @abc.abstractmethod
    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Draw `n` independent points."""

    @property
    def cube_dim(self) -> int:
        """How many uniform numbers `from_cube` turns into one point; usually d."""
        return self.dim

    def from_cube(self, u: Float[Array | np.ndarray, "n c"]) -> Float[Array, "n d"]:
        """Points of this measure from uniform points in the cube of `cube_dim` dimensions."""
        return self.quantile(u)

    def qmc(self, n: int, seed: int | Array) -> Float[Array, "n d"]:
        """`n` quasi-random points: scrambled Sobol, best when `n` is a power of two."""
        return self.from_cube(sobol(n, self.cube_dim, seed))


def as_arguments(**values: Any) -> list[Any]:
    """Arguments as float64 arrays: NumPy's, checked to be finite, or JAX's where traced."""
    arrays = []
    for name, value in values.items():
        if is_traced(value):
            arrays.append(jnp.asarray(value, dtype=jnp.float64))
            continue
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidData(f"{name} must be real numbers: {error}.") from error
        if not np.all(np.isfinite(array)):
            raise InvalidData(f"{name} must be finite, got {shown(array)}.")
        arrays.append(array)
    return arrays


def as_vectors(**values: Any) -> list[Any]:
    """Numbers or vectors, each repeated to the common length `d`; one number means d = 1."""
    arrays = as_arguments(**values)
    given = ", ".join(f"{name} {a.shape}" for name, a in zip(values, arrays, strict=True))
    lengths = {a.shape[0] for a in arrays if a.ndim == 1}
    if any(a.ndim > 1 for a in arrays) or len(lengths) > 1 or 0 in lengths:
        raise InvalidData(
            f"{' and '.join(values)} must be numbers or vectors of one length, got {given}."
        )
    d = lengths.pop() if lengths else 1
    return [broadcast(a, (d,)) for a in arrays]


def broadcast(a: Any, shape: tuple[int, ...]) -> Any:
    """`a` repeated to a shape, on the host unless it is traced."""
    return (jnp if is_traced(a) else np).broadcast_to(a, shape)


def require_positive(**values: Any) -> None:
    """Refuse vectors with an entry that is not positive, and say which."""
    for name, value in values.items():
        if not is_traced(value) and np.any(value <= 0.0):
            i = int(np.argmin(value))
            raise InvalidData(f"{name} must be positive, but {name}[{i}] = {value[i]:g}.")


def as_points(x: Any, columns: int, name: str = "x") -> Any:
    """Points `(n, columns)`, or an error that says what was given.

    NumPy arrays stay what they are: inside a traced function they can still be used on the host.
    """
    x = x if isinstance(x, jax.Array) else np.asarray(x)
    if x.ndim != 2 or x.shape[1] != columns:
        raise InvalidData(f"{name} must have shape (n, {columns}), got {x.shape}.")
    return x


def as_cube(u: Any, columns: int) -> Any:
    """Points of the unit cube `(n, columns)`."""
    u = as_points(u, columns, "u")
    if not is_traced(u):
        host = np.asarray(u)
        bad = ~((host >= 0.0) & (host <= 1.0))
        if bad.any():
            raise InvalidData(f"u must lie in the unit cube, got {host[bad][0]:g}.")
    return u


def on_host(*arrays: Any) -> tuple[Any, ...]:
    """`numpy` and NumPy arrays, or, if any array is traced, `jax.numpy` and the arrays.

    What maps points of the cube works with either: on the host no program has to compile for a
    new number of points.
    """
    if is_traced(*arrays):
        return jnp, *arrays
    return np, *map(np.asarray, arrays)


def require_host(measure: Measure, *arrays: Any) -> None:
    """Raise if a quantile that only the host can compute is asked of traced values."""
    if is_traced(measure, *arrays):
        raise Unsupported(
            f"The quantile of {type(measure).__name__} is computed on the host: ask for it outside "
            "of traced functions, or let them close over the measure instead of taking it."
        )


def gaussian_quantile(u: Any) -> Any:
    """Standard normal quantiles, infinite at 0 and 1."""
    if is_traced(u):
        return jax.scipy.special.ndtri(u)
    from scipy.special import ndtri

    return ndtri(u)


def shown(value: Any) -> str:
    """A short, one-line picture of an array."""
    if is_traced(value):
        return f"traced{list(value.shape)}"
    text = np.array2string(np.asarray(value), precision=4, threshold=8, edgeitems=2, separator=", ")
    return " ".join(text.split())
