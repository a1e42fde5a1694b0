"""An acquisition function averaged over the members of a mixture.

Hyper-parameters that are sampled rather than fitted make a mixture of posteriors. What a call is
worth under each of them, averaged by their weights, is what it is worth (Snoek et al. 2012).

Notation: `s` members, `b` sets of points; `weights (s,)` sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported
from leadline.models import Posterior
from leadline.search import Acquisition


class Averaged(Acquisition):
    """The weighted mean of acquisition functions of one structure; built by `averaged`.

    Attributes:
        members: one acquisition whose arrays have a leading axis of length `s`.
        weights: of the members, (s,).
    """

    members: Acquisition
    weights: Float[Any, " s"]

    @property
    def submodular(self) -> bool:
        """Whether the members are: a mean of submodular functions is one."""
        return type(self.members).submodular

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The mean over the members of what each set of points is worth."""
        return jnp.asarray(self.weights) @ _of_each(self.members, x)

    def after(self, rows: Float[Any, "k d"]) -> Averaged:
        """The same beside running calls at `rows`; each member has its own outcomes of them."""
        each = [_member(self.members, i).after(rows) for i in range(self.weights.shape[0])]
        return type(self)(_stack(each), self.weights)


class LogAveraged(Averaged):
    """The logarithm of the weighted mean, of acquisitions that are logarithms themselves."""

    logarithmic: ClassVar[bool] = True

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The logarithm of the mean over the members of what each set of points is worth."""
        logs = jnp.log(jnp.asarray(self.weights))[:, None]
        return logsumexp(logs + _of_each(self.members, x), axis=0)


def averaged(make: Callable[[Any], Acquisition], mixture: Posterior) -> Averaged:
    """Average an acquisition function over the members of a mixture.

    Args:
        make: the acquisition of one member, given its posterior. It may depend on it in every way
            (each member can have its own best value) but must have one structure for all.
        mixture: the posteriors and their weights.
    """
    if not hasattr(mixture, "member"):
        raise Unsupported(
            f"`averaged` is over the members of a mixture, got {type(mixture).__name__}."
        )
    each = [make(mixture.member(i)) for i in range(mixture.n_members)]
    kind = type(each[0])
    if not kind.traceable:
        raise Unsupported(f"{kind.__name__} is no JAX program, so it cannot be averaged.")
    return (LogAveraged if kind.logarithmic else Averaged)(_stack(each), mixture.weights)


def _stack(each: list[Any]) -> Any:
    """One acquisition with a leading axis, in NumPy: stacking in JAX compiles for each number."""
    structures = {jax.tree.structure(a) for a in each}
    shapes = {tuple(np.shape(leaf) for leaf in jax.tree.leaves(a)) for a in each}
    if len(structures) > 1 or len(shapes) > 1:
        raise InvalidData("the acquisitions of the members must share one structure and one shape.")
    return jax.tree.map(lambda *a: np.stack([np.asarray(leaf) for leaf in a]), *each)


def _member(members: Any, i: int) -> Any:
    return jax.tree.map(lambda a: np.asarray(a[i]), members)


@eqx.filter_jit
def _of_each(members: Acquisition, x: Any) -> Float[Array, "s b"]:
    # One after the other: they factorize and solve.
    return jax.lax.map(lambda member: member.values(x), members)
