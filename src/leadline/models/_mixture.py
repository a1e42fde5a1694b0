"""Weighted posteriors: several beliefs about one function, held at once.

Samples of hyper-parameters, sets of inducing points, averages over kernels and unknown people are
all mixtures. Their members share one structure, so a mixture holds them as a single posterior whose
arrays have a leading axis.

Notation: `s` members, `m` query rows; `weights (s,)` sum to 1.
"""

from __future__ import annotations

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, as_count, as_inputs, as_key, is_traced
from leadline.models._normal import Normal, array_library, levels
from leadline.models._posterior import Posterior
from leadline.models._queries import answer_queries
from leadline.numerics import blas_threads_for, bucket, pad_rows
from leadline.paths import Features, MixtureDraws, allot, as_features, slots_of

_BISECTIONS = 60


class NormalMixture(eqx.Module):
    """Marginals that are mixtures of normals: `weights (s,)`, `members` of shape (s, m)."""

    weights: Float[Array | np.ndarray, " s"]
    members: Normal

    @property
    def mean(self) -> Any:
        """Means (m,)."""
        return self.weights @ self.members.mean

    @property
    def var(self) -> Any:
        """Variances (m,): within the members, and between them."""
        between = (self.members.mean - self.mean) ** 2
        return self.weights @ (self.members.var + between)

    @property
    def std(self) -> Any:
        """Standard deviations (m,)."""
        return array_library(self)[0].sqrt(self.var)

    def log_prob(self, y: Any) -> Any:
        """Log density of each value (m,)."""
        np_, special = array_library(self, y)
        return special.logsumexp(np_.log(self.weights)[:, None] + self.members.log_prob(y), axis=0)

    def cdf(self, y: Any) -> Any:
        """Probability of a value at most `y (m,)`."""
        return self.weights @ self.members.cdf(y)

    def quantile(self, p: Any) -> Any:
        """The values below which a fraction `p` lies, by bisection between the members'.

        A number gives `(m,)`, and a list of k levels `(k, m)`; see `Normal.quantile`.
        """
        np_, _ = array_library(self, p)
        p = levels(p, 1)
        # The members are the last axis but one.
        each = self.members.quantile(p[..., None, :] if p.ndim else p)
        low, high = np_.min(each, axis=-2), np_.max(each, axis=-2)
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            below = self.weights @ self.members.cdf(middle[..., None, :]) < p
            low, high = np_.where(below, middle, low), np_.where(below, high, middle)
        return 0.5 * (low + high)

    def sample(self, key: Array, n: int) -> Float[Array, "n m"]:
        """Draw `n` values of each."""
        key, n = as_key(key), as_count(n, "n")
        pick, draw = jax.random.split(key)
        m = self.members.mean.shape[1]
        which = jax.random.choice(pick, self.weights.shape[0], (n, m), p=jnp.asarray(self.weights))
        columns = jnp.arange(m)
        mean = jnp.asarray(self.members.mean)[which, columns]
        var = jnp.asarray(self.members.var)[which, columns]
        return mean + jnp.sqrt(var) * jax.random.normal(draw, (n, m))


class MixturePosterior(Posterior):
    """Weighted members; built by `mixture` or by `fit(..., inference="nuts")`.

    Attributes:
        members: one posterior whose arrays have a leading axis of length `s`; the names of columns
            are the mixture's.
        weights: the probability (s,) of each member.
    """

    members: Posterior
    weights: Float[Array | np.ndarray, " s"]
    gaussian: ClassVar[bool] = False

    @property
    def n_members(self) -> int:
        """How many posteriors are mixed."""
        return self.weights.shape[0]

    def member(self, i: int) -> Posterior:
        """One of the posteriors."""
        return jax.tree.map(lambda a: a[i], self.members).named(self.input_names)

    def part(self, i: int) -> MixturePosterior:
        """The posterior of one term of a sum of kernels: that of each member, mixed."""
        if not hasattr(self.members, "part"):
            raise Unsupported(
                f"A mixture has parts if its members have; {type(self.members).__name__} has none."
            )
        parts = jax.vmap(lambda member: member.part(i))(self.members)
        return MixturePosterior(parts, self.weights, input_names=self.input_names)

    def predict(self, xs: Any, noise: bool = False) -> NormalMixture:
        """Mixtures of the members' marginals at the rows of `xs (m, d)`."""
        if is_traced(self, xs):
            return NormalMixture(self.weights, Normal(*_marginals(self.members, xs, noise)))
        columns, rows = self.members.query_columns, self.members.query_rows
        found = answer_queries(
            lambda piece: _marginals_jit(self.members, piece, noise),
            xs,
            columns,
            rows,
            self.input_names,
        )
        return NormalMixture(np.asarray(self.weights), Normal(*found))

    def sample(self, key: Array, xs: Any, n: int) -> Float[Array, "n m"]:
        """Draw `n` joint values: each from one member, chosen by its weight."""
        key, n = as_key(key), as_count(n, "n")
        if is_traced(self, key, xs):
            return _draws(self, key, xs, n)
        xs = as_inputs(xs, "xs", columns=self.members.query_columns, names=self.input_names)
        m = xs.shape[0]
        with blas_threads_for(max(bucket(m), self.members.query_rows)):
            draws = np.asarray(_draws_jit(self.named(None), key, pad_rows(xs, bucket(m)), n))
        return jax.device_put(draws[:, :m])

    def paths(self, key: Array, n: int, features: int | Features = 1024) -> MixtureDraws:
        """Draw `n` functions, each from one member, which can be evaluated anywhere.

        The members share the draws out by their weights, as evenly as whole numbers allow.

        Args:
            key: a random key.
            n: how many draws.
            features: what stands for the prior of each member: features, or how many to choose.
        """
        if not hasattr(self.members, "paths"):
            raise Unsupported(
                f"A mixture has paths if its members have; {type(self.members).__name__} has none."
            )
        key, n, features = as_key(key), as_count(n, "n"), as_features(features)
        choose, draw = jax.random.split(key)
        if is_traced(self, key):
            member, most = allot(jnp.asarray(self.weights), choose, n), n
            slot = jnp.arange(n)
        else:
            member = np.asarray(_allot_jit(jnp.asarray(self.weights), choose, n))
            slot = slots_of(member)
            most = int(slot.max()) + 1
        keys = jax.random.split(draw, self.n_members)
        with blas_threads_for(self.members.query_rows):
            members = jax.block_until_ready(_paths_jit(self.members, keys, most, features))
        return MixtureDraws(members, member, slot, input_names=self.input_names)

    def __repr__(self) -> str:
        return f"MixturePosterior({self.n_members} x {type(self.members).__name__})"


def mixture(members: list[Posterior], weights: Any = None) -> MixturePosterior:
    """Mix posteriors of one structure (same model, same padded shapes); equal weights if None."""
    if not members:
        raise InvalidData("a mixture needs at least one posterior, got none.")
    names = {m.input_names for m in members}
    if len(names) > 1:
        known = " and ".join(sorted(map(str, names)))
        raise InvalidData(f"the posteriors of a mixture must have the same columns, got {known}.")
    members = [m.named(None) for m in members]
    structures = {jax.tree.structure(m) for m in members}
    shapes = {tuple(np.shape(a) for a in jax.tree.leaves(m)) for m in members}
    if len(structures) > 1 or len(shapes) > 1:
        raise InvalidData("the posteriors of a mixture must share one structure and one shape.")
    w = np.ones(len(members)) if weights is None else np.asarray(weights, dtype=float)
    if w.shape != (len(members),) or np.any(w < 0) or not np.isfinite(w.sum()) or w.sum() <= 0:
        raise InvalidData(f"weights must be {len(members)} numbers >= 0 with a sum > 0, got {w}.")
    stacked = jax.tree.map(lambda *a: jnp.asarray(np.stack(a)), *members)
    return MixturePosterior(stacked, jnp.asarray(w / w.sum()), input_names=names.pop())


# Members are visited one after the other (`lax.map`): they factorize and solve.


def _marginals(members: Posterior, xs: Any, noise: bool) -> tuple[Array, Array]:
    def one(member):
        marginal = member.predict(xs, noise)
        return marginal.mean, marginal.var

    return jax.lax.map(one, members)


def _draws(post: MixturePosterior, key: Array, xs: Any, n: int) -> Array:
    pick, draw = jax.random.split(key)
    which = jax.random.choice(pick, post.n_members, (n,), p=jnp.asarray(post.weights))
    keys = jax.random.split(draw, post.n_members)
    each = jax.lax.map(lambda a: a[0].sample(a[1], xs, n), (post.members, keys))
    return each[which, jnp.arange(n)]


def _paths(members: Posterior, keys: Array, n: int, features: Any) -> Any:
    return jax.lax.map(lambda a: a[0].paths(a[1], n, features), (members, keys))


_allot_jit = eqx.filter_jit(allot)
_paths_jit = eqx.filter_jit(_paths)
_marginals_jit = eqx.filter_jit(_marginals)
_draws_jit = eqx.filter_jit(_draws)
