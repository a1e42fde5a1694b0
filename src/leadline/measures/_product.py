"""Independent blocks of coordinates."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, inherited_ability
from leadline.measures._measure import Measure, as_points


class Product(Measure):
    """The product of measures: coordinates of the first, then of the second, and so on.

    It has `quantile` and `log_prob` if all of its measures have.
    """

    measures: tuple[Measure, ...]

    def __init__(self, measures: Sequence[Measure]):
        self.measures = tuple(measures)
        if not self.measures:
            raise InvalidData("A product needs at least one measure, got none.")

    @property
    def dim(self) -> int:
        """The number of coordinates of all blocks."""
        return sum(m.dim for m in self.measures)

    @property
    def cube_dim(self) -> int:
        """The uniform numbers of all blocks."""
        return sum(m.cube_dim for m in self.measures)

    @property
    def mean(self) -> Float[Array, " d"]:
        """The means of the blocks, end to end."""
        return jnp.concatenate([m.mean for m in self.measures])

    @property
    def cov(self) -> Float[Array, "d d"]:
        """The covariance matrix, block diagonal."""
        return jax.scipy.linalg.block_diag(*(m.cov for m in self.measures))

    def sample(self, key: Array, n: int) -> Float[Array, "n d"]:
        """Draw `n` independent points."""
        keys = jax.random.split(key, len(self.measures))
        return jnp.concatenate(
            [m.sample(k, n) for m, k in zip(self.measures, keys, strict=True)], axis=1
        )

    def from_cube(self, u: Float[Array | np.ndarray, "n c"]) -> Float[Array, "n d"]:
        """Each block from its own columns: one point set for all, not one for each."""
        blocks = self._split(u, [m.cube_dim for m in self.measures], "u")
        return jnp.concatenate(
            [m.from_cube(block) for m, block in zip(self.measures, blocks, strict=True)], axis=1
        )

    def parts(self) -> tuple[Measure, ...]:
        """The measures of the blocks."""
        return self.measures

    @inherited_ability
    def quantile(self, u: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n d"]:
        """The quantiles of the blocks, each from its own columns."""
        found = [m.quantile(block) for m, block in zip(self.measures, self.blocks(u), strict=True)]
        return jnp.concatenate(found, axis=1)

    @inherited_ability
    def log_prob(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The sum of the log densities of the blocks."""
        blocks = zip(self.measures, self.blocks(x), strict=True)
        terms = jnp.stack([m.log_prob(block) for m, block in blocks])
        # A block outside its support decides, also against an infinite density.
        impossible = jnp.any(terms == -jnp.inf, axis=0)
        return jnp.where(impossible, -jnp.inf, jnp.sum(terms, axis=0))

    def blocks(self, x: Float[Array | np.ndarray, "n d"]) -> list[Any]:
        """The columns of each measure."""
        return self._split(x, [m.dim for m in self.measures], "x")

    def _split(self, x: Any, sizes: list[int], name: str) -> list[Any]:
        x = as_points(x, sum(sizes), name)
        starts = np.cumsum([0, *sizes])
        return [x[:, a:b] for a, b in itertools.pairwise(starts.tolist())]

    def __repr__(self) -> str:
        return f"Product({list(self.measures)!r})"
