"""What posteriors with a Gaussian law share: covariances, and queries of any size.

Notation: `xs (m, d)` query rows. Data take some of the kernel's covariance away, and what they are
unsure about is put back:

    cov(x, x') = k(x, x') - e(x)^T e(x') + r(x)^T r(x')

A subclass writes down the mean, e and r as traceable functions of rows; from them come the moments
here. Queries are padded and cut outside the programs, of which there are a few sizes only.
"""

from __future__ import annotations

import abc
from functools import partial
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import as_count, as_inputs, as_key, is_traced
from leadline.models._normal import MultivariateNormal, Normal
from leadline.models._posterior import Posterior
from leadline.models._queries import answer_queries
from leadline.numerics import blas_threads_for, bucket, pad_rows, quick_jit


class Projection(NamedTuple):
    """What data say at `m` rows: the mean, and the parts e and r of the covariance, if any."""

    mean: Float[Array, " m"]
    removed: Float[Array, "e m"]
    restored: Float[Array, "r m"] | None = None


class GaussianPosterior(Posterior):
    """A posterior under which the function's values at any rows are jointly normal.

    `gp` has the kernel.
    """

    gp: eqx.AbstractVar[Any]
    gaussian: ClassVar[bool] = True

    @property
    @abc.abstractmethod
    def query_columns(self) -> int:
        """How many columns a query must have."""

    @property
    @abc.abstractmethod
    def query_rows(self) -> int:
        """The size of the matrix that a query is solved against."""

    @abc.abstractmethod
    def marginal_moments(
        self, xs: Float[Array, "m d"], noise: bool = False
    ) -> tuple[Float[Array, " m"], Float[Array, " m"]]:
        """Mean and variance at each row: of the function, or of observations of it."""

    @abc.abstractmethod
    def project(self, xs: Float[Array, "m d"]) -> Projection:
        """What the data say at each row."""

    def joint_moments(
        self, xs: Float[Array, "m d"]
    ) -> tuple[Float[Array, " m"], Float[Array, "m m"]]:
        """Mean and covariance of the function at the rows together."""
        found = self.project(xs)
        return found.mean, _posterior_covariance(self.gp.kernel(xs, xs), found, found)

    def cross_covariance(
        self, xs: Float[Array, "m d"], ys: Float[Array, "l d"]
    ) -> Float[Array, "m l"]:
        """Covariances of the function at some rows with the function at others."""
        prior = self.gp.kernel(xs, ys)
        return _posterior_covariance(prior, self.project(xs), self.project(ys))

    def joint_moments_of_each(
        self, xs: Float[Array, "b q d"]
    ) -> tuple[Float[Array, "b q"], Float[Array, "b q q"]]:
        """Mean and covariance of the function at each of `b` sets of rows."""
        b, q, d = xs.shape
        mean, removed, restored = self.project(xs.reshape(b * q, d))
        parts = [(-1.0, removed)] + ([] if restored is None else [(1.0, restored)])
        cov = jax.vmap(lambda rows: self.gp.kernel(rows, rows))(xs)
        for sign, part in parts:
            each = part.reshape(-1, b, q)
            cov = cov + sign * jnp.einsum("ebq,ebr->bqr", each, each)
        return mean.reshape(b, q), cov

    def predict(self, xs: Any, noise: bool = False) -> Normal:
        """Normal marginals at the rows of `xs (m, d)`.

        With `noise=True` they are of observations (the learned noise added), else of the function.
        """
        if is_traced(self, xs):
            return Normal(*self.marginal_moments(xs, noise))
        plain = self.named(None)
        return Normal(*self.answer(lambda piece: _marginals_jit(plain, piece, noise), xs))

    def joint(self, xs: Any) -> MultivariateNormal:
        """The joint normal law of the function at the rows of `xs (m, d)`."""
        if is_traced(self, xs):
            return MultivariateNormal(*self.joint_moments(xs))
        xs = as_inputs(xs, "xs", columns=self.query_columns, names=self.input_names)
        m = xs.shape[0]
        with blas_threads_for(max(m, self.query_rows)):
            mean, cov = jax.device_get(_joint_jit(self.named(None), pad_rows(xs, bucket(m))))
        return MultivariateNormal(mean[:m], cov[:m, :m])

    def sample(self, key: Array, xs: Any, n: int) -> Float[Array, "n m"]:
        """Draw `n` joint values of the function at the rows of `xs (m, d)`."""
        key, n = as_key(key), as_count(n, "n")
        return self.joint(xs).sample(key, n)

    def answer(self, program: Any, xs: Any) -> tuple[Any, ...]:
        """Apply a compiled program of padded query rows to any number of rows."""
        return answer_queries(program, xs, self.query_columns, self.query_rows, self.input_names)


def _posterior_covariance(prior: Array, a: Projection, b: Projection) -> Array:
    cov = prior - a.removed.T @ b.removed
    if a.restored is None or b.restored is None:
        return cov
    return cov + a.restored.T @ b.restored


@partial(quick_jit, once=True)
def _marginals_jit(post: GaussianPosterior, xs: Any, noise: bool) -> tuple[Array, Array]:
    return post.marginal_moments(xs, noise)


@partial(quick_jit, once=True)
def _joint_jit(post: GaussianPosterior, xs: Any) -> tuple[Array, Array]:
    return post.joint_moments(xs)
