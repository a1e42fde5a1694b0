"""Gaussian posteriors with function draws.

A subclass writes down its expansion, and its update as a traceable function of prior draws; drawing
the prior, and compiling both together, is the same for all.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from leadline.boundary import as_count, as_key, is_traced
from leadline.models._affine_update import AffineUpdate
from leadline.models._expansion import Expansion
from leadline.models._gaussian import GaussianPosterior
from leadline.models._part import PartPosterior, part_of
from leadline.numerics import blas_threads_for
from leadline.paths import Features, FunctionDraws, as_features, prior_draws


class DrawablePosterior(GaussianPosterior):
    """A Gaussian process given data, whose draws are prior draws with an update.

    `gp` has the kernel and the mean function.
    """

    @property
    @abc.abstractmethod
    def observation_noise(self) -> Callable[[Any], Float[Array, " m"]]:
        """What maps inputs (m, d) to the noise variances (m,) of observations there."""

    @abc.abstractmethod
    def expansion(self) -> Expansion:
        """How this posterior is written; traces."""

    @abc.abstractmethod
    def solve(self, b: Float[Array, "k m"]) -> Float[Array, "k m"]:
        """C^-1 b with the covariance C of the kept values, with their noise if they have some."""

    @abc.abstractmethod
    def affine_update(self, xs: Float[Array, "m d"]) -> AffineUpdate:
        """What turns prior draws into those of this posterior, at the rows of `xs`; traces."""

    @abc.abstractmethod
    def conditioned(self, prior: FunctionDraws, key: Array) -> FunctionDraws:
        """Prior draws, updated by what this posterior knows."""

    def part(self, i: int) -> PartPosterior:
        """The posterior of one term, where the kernel is a sum: of the function with kernel `i`.

        Terms are numbered from 0 on, as the sum was written; the factor of a scaled sum is a factor
        of each. The parts and the mean function, which belongs to none of them, add up to the
        function.
        """
        return part_of(self, i)

    def paths(self, key: Array, n: int, features: int | Features = 1024) -> FunctionDraws:
        """Draw `n` functions, which can be evaluated anywhere (Wilson 2023, section 3.3.5).

        Given the features, the draws have exactly the mean of the posterior, and its covariance up
        to the error of the features, which the data correct where they are.

        Args:
            key: a random key.
            n: how many draws.
            features: what stands for the prior: features, or how many to choose.
        """
        key, n, features = as_key(key), as_count(n, "n"), as_features(features)
        if is_traced(self, key):
            return _paths(self, key, n, features)
        with blas_threads_for(self.query_rows):
            draws = jax.block_until_ready(_paths_jit(self.named(None), key, n, features))
        return draws.named(self.input_names)


def _paths(post: DrawablePosterior, key: Array, n: int, features: Any) -> FunctionDraws:
    first, second = jax.random.split(key)
    prior = prior_draws(
        post.gp.kernel,
        first,
        n,
        dim=post.query_columns,
        features=features,
        mean=post.gp.mean,
        noise=post.observation_noise,
    )
    return post.conditioned(prior, second)


_paths_jit = eqx.filter_jit(_paths)
