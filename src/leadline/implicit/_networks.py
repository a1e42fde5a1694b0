"""The networks of an implicit model, and those that are made where the caller gives none.

A network maps one row to one row, as Equinox layers do. A ratio network maps two rows, `(u, v)`, to
the logarithm of a density ratio of u given v, whose numerator is a player's density. Networks made
here take data as they are: centers and spreads of the columns are part of them.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.implicit._conditional import Conditional

# Columns that hardly vary are not blown up: a spread is at least so much of the typical one.
_LEAST = 0.1


class Columns(NamedTuple):
    """Center and spread of each column of the data."""

    center: Float[Array | np.ndarray, " d"]
    spread: Float[Array | np.ndarray, " d"]

    @classmethod
    def of(cls, rows: Float[np.ndarray, "n d"]) -> Columns:
        """Of some rows; the spread of columns that hardly vary is made larger."""
        deviation = rows.std(axis=0)
        typical = float(np.sqrt(np.mean(deviation**2))) or 1.0
        return cls(rows.mean(axis=0), np.maximum(deviation, _LEAST * typical))

    def traced(self) -> Columns:
        """As arrays that programs take as arguments: equal shapes share one program."""
        return Columns(jnp.asarray(self.center), jnp.asarray(self.spread))

    @property
    def typical(self) -> float:
        """One spread for all columns."""
        return float(np.sqrt(np.mean(self.spread**2)))

    def beside(self, other: Columns) -> Columns:
        """The columns of both."""
        return Columns(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))


def frozen(tree: Any) -> Any:
    """The same tree, whose arrays have no gradient."""
    arrays, rest = eqx.partition(tree, eqx.is_array)
    return eqx.combine(jax.lax.stop_gradient(arrays), rest)


class Affine(eqx.Module):
    """The map `weight y + bias`: factor analysis if it is the location of a Gaussian.

    Args:
        weight: (d, c).
        bias: (d,).
    """

    weight: Float[Array, "d c"]
    bias: Float[Array, " d"]

    def __call__(self, y: Float[Array, " c"]) -> Float[Array, " d"]:
        """The image of one row."""
        return self.weight @ y + self.bias


class JointRatio(eqx.Module):
    """A ratio network that reads both arguments.

    Args:
        network: from the two rows, one after the other, to one number `(1,)`.
    """

    network: Callable[..., Array]

    def __call__(self, u: Float[Array, " a"], v: Float[Array, " b"]) -> Float[Array, ""]:
        """The log ratio of one pair of rows."""
        return self.network(jnp.concatenate([u, v]))[0]


class MarginalRatio(eqx.Module):
    """A ratio network that ignores its second argument, as discriminators of a CycleGAN do.

    Args:
        network: from the first row to one number `(1,)`.
    """

    network: Callable[..., Array]

    def __call__(self, u: Float[Array, " a"], v: Float[Array, " b"]) -> Float[Array, ""]:
        """The log ratio of one row."""
        return self.network(u)[0]


class AnchoredRatio(eqx.Module):
    """A ratio that knows its numerator: log ratio(u; v) = log player(u | v) - h(u).

    The density of the players is at hand, so only that of the law known by samples, exp h, has to
    be learned. A network of both arguments would have to learn the players' too, which change all
    the time, and is slow to see how narrow they are.
    """

    @abc.abstractmethod
    def log_denominator(self, u: Float[Array, " a"]) -> Float[Array, ""]:
        """h of one row."""


class LearnedDensity(AnchoredRatio):
    """An anchored ratio with a network for h, which falls far from the samples as a normal does.

    Args:
        network: from one row to one number `(1,)`, which is added to the log density of a normal
            law with the samples' moments.
        columns: center and spread of the samples' columns.
    """

    network: Callable[..., Array]
    columns: Columns

    def log_denominator(self, u: Float[Array, " a"]) -> Float[Array, ""]:
        """h of one row."""
        columns = jax.lax.stop_gradient(self.columns)
        normal = jax.scipy.stats.norm.logpdf(u, columns.center, columns.spread)
        return jnp.sum(normal) + self.network(u)[0]


class KnownDensity(AnchoredRatio):
    """An anchored ratio whose h is known: there is nothing to learn.

    Args:
        log_density: h of rows `(n, a)`.
    """

    log_density: Callable[..., Array]

    def log_denominator(self, u: Float[Array, " a"]) -> Float[Array, ""]:
        """h of one row."""
        return frozen(self.log_density)(u[None])[0]


RatioNetwork = Callable[..., Array] | AnchoredRatio


class Networks(eqx.Module):
    """All that is learned in an implicit model.

    Args:
        likelihood: p(x | z).
        posterior: q(z | x).
        latent_ratio: log q(z | x) / p*(z) of a pair of rows `(z, x)`, where p* is the prior.
        observed_ratio: log p(x | z) / q*(x) of a pair of rows `(x, z)`, where q* is the data's law;
            None in methods that need none.
    """

    likelihood: Conditional
    posterior: Conditional
    latent_ratio: RatioNetwork
    observed_ratio: RatioNetwork | None = None


class Perceptron(eqx.Module):
    """A multilayer perceptron that standardizes what it reads, and undoes it for what it says."""

    layers: Callable[..., Array]
    source: Columns
    target: Columns

    def __call__(self, y: Float[Array, " c"]) -> Float[Array, " d"]:
        """The output for one row."""
        source, target = jax.lax.stop_gradient((self.source, self.target))
        out = self.layers((y - source.center) / source.spread)
        return jnp.asarray(target.center + target.spread * out)


def perceptron(
    key: Array, source: Columns, target: Columns | int, width: int, depth: int
) -> Perceptron:
    """A perceptron with ELU units; without columns for its outputs it says them as they are."""
    if isinstance(target, int):
        target = Columns(np.zeros(target), np.ones(target))
    sizes = len(source.center), len(target.center)
    layers = eqx.nn.MLP(*sizes, width, depth, activation=jax.nn.elu, key=key)
    return Perceptron(layers, source.traced(), target.traced())
