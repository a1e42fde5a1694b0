"""Draws of a mixture: each draw belongs to one member, which brings its own hyper-parameters.

Notation: `s` members with `c` draws each, held as one `FunctionDraws` whose arrays have a leading
axis; draw i is draw `slot[i]` of member `member[i]`.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from leadline.boundary import in_order
from leadline.paths._draws import FunctionDraws
from leadline.paths._paths import ScalarPaths


class MixtureDraws(ScalarPaths):
    """Draws of the members of a mixture.

    Attributes:
        members: draws of each member, (s, c, ...).
        member: which member each draw is of, (n,).
        slot: which of its draws, (n,).
    """

    members: FunctionDraws
    member: Int[Any, " n"]
    slot: Int[Any, " n"]

    @property
    def n(self):
        return self.member.shape[0]

    @property
    def dim(self):
        return self.members.dim

    @property
    def basis_size(self):
        return self.members.basis_size

    @property
    def anchors(self):
        return self.members.centers[0]

    def values(self, x):
        each = jax.lax.map(lambda draws: draws.values(x), self.members)
        return each[self.member, self.slot]

    def paired_values(self, x):
        s, c = self.members.weights.shape[:2]
        own = jnp.zeros((s, c, *x.shape[1:])).at[self.member, self.slot].set(x)
        each = jax.lax.map(lambda a: a[0].paired_values(a[1]), (self.members, own))
        return each[self.member, self.slot]

    def update(self, x: Any, y: Any, var: Any = None) -> MixtureDraws:
        """The same draws, conditioned on more observations, each within its member.

        The probabilities of the members stay as they are: they are what the draws were chosen by.
        """
        s, x = self.members.weights.shape[0], in_order(x, "x", self.input_names)
        updated = [
            jax.tree.map(lambda a, i=i: a[i], self.members).update(x, y, var) for i in range(s)
        ]
        members = jax.tree.map(lambda *a: jnp.stack(a), *updated)
        return MixtureDraws(members, self.member, self.slot, input_names=self.input_names)

    def __repr__(self) -> str:
        return f"MixtureDraws({self.n} draws of {self.members.weights.shape[0]} members)"


def allot(weights: Array, key: Array, n: int) -> Int[Array, " n"]:
    """The members of `n` draws: each with its probability, in numbers that differ by at most one.

    Systematic sampling, then a random order: a draw alone has the law of the mixture, and the
    draws together represent the members more evenly than independent choices would.
    """
    shift, order = jax.random.split(key)
    points = (jnp.arange(n) + jax.random.uniform(shift)) / n
    chosen = jnp.searchsorted(jnp.cumsum(weights), points * jnp.sum(weights))
    return jax.random.permutation(order, jnp.minimum(chosen, weights.shape[0] - 1))


def slots_of(member: np.ndarray) -> np.ndarray:
    """Number the draws of each member from 0 on."""
    slot = np.zeros_like(member)
    for i in np.unique(member):
        mine = np.flatnonzero(member == i)
        slot[mine] = np.arange(mine.size)
    return slot
