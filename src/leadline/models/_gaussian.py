"""What posteriors with a Gaussian law share: queries, padded and cut outside the programs.

Notation: `xs (m, d)` query rows. A subclass writes down the moments as traceable functions of rows;
this class answers queries of any size with programs for a few sizes.
"""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float

from leadline.models._normal import MultivariateNormal, Normal
from leadline.models._posterior import Posterior
from leadline.models._queries import answer_queries
from leadline.numerics import as_rows, blas_threads_for, bucket, is_traced, pad_rows


class GaussianPosterior(Posterior):
    """A posterior under which the function's values at any rows are jointly normal."""

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
    def joint_moments(
        self, xs: Float[Array, "m d"]
    ) -> tuple[Float[Array, " m"], Float[Array, "m m"]]:
        """Mean and covariance of the function at the rows together."""

    def predict(self, xs: Any, noise: bool = False) -> Normal:
        """Normal marginals at the rows of `xs (m, d)`.

        With `noise=True` they are of observations (the learned noise added), else of the function.
        """
        if is_traced(self, xs):
            return Normal(*self.marginal_moments(xs, noise))
        return Normal(*self.answer(lambda piece: _marginals_jit(self, piece, noise), xs))

    def joint(self, xs: Any) -> MultivariateNormal:
        """The joint normal law of the function at the rows of `xs (m, d)`."""
        if is_traced(self, xs):
            return MultivariateNormal(*self.joint_moments(xs))
        xs = as_rows(xs, "xs", columns=self.query_columns)
        m = xs.shape[0]
        with blas_threads_for(max(m, self.query_rows)):
            mean, cov = jax.device_get(_joint_jit(self, pad_rows(xs, bucket(m))))
        return MultivariateNormal(mean[:m], cov[:m, :m])

    def sample(self, key: Array, xs: Any, n: int) -> Float[Array, "n m"]:
        """Draw `n` joint values of the function at the rows of `xs (m, d)`."""
        return self.joint(xs).sample(key, n)

    def answer(self, program: Any, xs: Any) -> tuple[Any, ...]:
        """Apply a compiled program of padded query rows to any number of rows."""
        return answer_queries(program, xs, self.query_columns, self.query_rows)


@eqx.filter_jit
def _marginals_jit(post: GaussianPosterior, xs: Any, noise: bool) -> tuple[Array, Array]:
    return post.marginal_moments(xs, noise)


@eqx.filter_jit
def _joint_jit(post: GaussianPosterior, xs: Any) -> tuple[Array, Array]:
    return post.joint_moments(xs)
