"""Several policies that are tried side by side.

Notation: `k` policies; of `n` trajectories, the first `n / k` follow the first policy, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.dynamics._encoding import Encoding
from leadline.dynamics._policy import RBFPolicy


class Crowd(eqx.Module):
    """Policies of the same shape, as one whose arrays have one more axis in front."""

    members: Any

    @classmethod
    def of(cls, policies: Sequence[RBFPolicy]) -> Crowd:
        """Put policies side by side."""
        return cls(jax.tree.map(lambda *leaves: jnp.stack(leaves), *policies))

    def __len__(self) -> int:
        return self.members.weights.shape[0]

    def __getitem__(self, i: int) -> RBFPolicy:
        return jax.tree.map(lambda leaf: leaf[i], self.members)

    @property
    def encoding(self) -> Encoding:
        """That of all of them."""
        return self.members.encoding

    def __call__(self, x: Float[Array | np.ndarray, "n d"]) -> Float[Array, "n 1"]:
        """The actions, where each policy is asked for its share of the states."""
        shares = jnp.asarray(x).reshape(len(self), -1, x.shape[1])
        return eqx.filter_vmap(lambda policy, s: policy(s))(self.members, shares).reshape(-1, 1)
