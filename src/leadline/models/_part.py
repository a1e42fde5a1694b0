"""One term of a sum, given data on the sum: f = m + f_0 + f_1 + ..., with kernels k_0, k_1, ...

Notation: kept values u of f (of observations, at inducing points) with prior covariance C, that of
their noise included; `c_i(x)` are the prior covariances of f_i(x) with them, which are those of k_i
alone. With the weights w and the factors of the posterior of f,

    mean of f_i(x)          = c_i(x) . w
    cov(f_i(x), f_i(y))     = k_i(x, y) - c_i(x)^T P c_i(y)
    cov(f_i(x), f_j(y))     =           - c_i(x)^T P c_j(y)

so a part is the posterior of the sum with another kernel for the queries (Duvenaud 2014, section
2.4.5). Parts have mean zero before data: the mean function belongs to none of them.

Draws are made of all parts together, f_i(x) + c_i(x) . v with the same v = C^-1 (u - f(c)) for each
(Matheron's rule): those with the same key belong together, and add up, with the mean function, to
draws of the sum.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array

from leadline.boundary import InvalidData, Unsupported, as_count, as_key, is_traced
from leadline.means import Zero
from leadline.models._expansion import Expansion
from leadline.models._gaussian import GaussianPosterior
from leadline.numerics import blas_threads_for
from leadline.paths import Features, FunctionDraws, JoinedFeatures, prior_draws, prior_features


class PartPosterior(GaussianPosterior):
    """One term of a function, given data on the sum of all; made by `post.part(i)`.

    Attributes:
        gp: the process of this part: its kernel, no mean, and the noise of the sum.
        whole: the posterior of the sum.
        number: which of the terms this is, from 0 on.
    """

    gp: Any
    whole: Any
    number: int = eqx.field(static=True)

    @property
    def _own(self) -> Any:
        """The posterior of the sum as queries of this part see it."""
        return eqx.tree_at(lambda whole: whole.gp, self.whole, self.gp)

    @property
    def query_columns(self):
        return self.whole.query_columns

    @property
    def query_rows(self):
        return self.whole.query_rows

    def marginal_moments(self, xs, noise=False):
        """Those of the part; with `noise`, of the part with the noise of an observation."""
        return self._own.marginal_moments(xs, noise)

    def project(self, xs):
        """What the data on the sum say about the part."""
        return self._own.project(xs)

    def expansion(self) -> Expansion:
        """The part's kernel at the centers of the sum, with the weights of the sum."""
        return self._own.expansion()

    def paths(self, key: Array, n: int, features: int = 1024) -> FunctionDraws:
        """Draw `n` functions, which can be evaluated anywhere.

        Those of other parts with the same key and as many features belong to the same draws of the
        sum.

        Args:
            key: a random key.
            n: how many draws.
            features: how many stand for the prior of each part.
        """
        key, n, features = as_key(key), as_count(n, "n"), as_count(features, "features")
        if is_traced(self, key):
            return _paths(self, key, n, features)
        with blas_threads_for(self.query_rows):
            draws = jax.block_until_ready(_paths_jit(self.named(None), key, n, features))
        return draws.named(self.input_names)

    def __repr__(self) -> str:
        return f"PartPosterior({self.gp.kernel}, part={self.number}, of={self.whole})"


def part_of(whole: Any, number: Any) -> PartPosterior:
    """The part with this number, from 0 on."""
    gp = whole.gp
    terms = gp.kernel.addends()
    if not terms:
        raise Unsupported(
            f"{gp.kernel} is no sum of kernels, so its posterior has no parts; that of k0 + k1 has "
            "two."
        )
    known = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not known or not 0 <= number < len(terms):
        raise InvalidData(f"the parts are numbered from 0 to {len(terms) - 1}, got {number!r}.")
    own = eqx.tree_at(lambda g: (g.kernel, g.mean), gp, (terms[number], Zero()))
    return PartPosterior(own, whole.named(None), int(number), input_names=whole.input_names)


def _paths(part: PartPosterior, key: Array, n: int, features: int) -> FunctionDraws:
    whole, number = part.whole, part.number
    kernels = whole.gp.kernel.addends()
    choose, draw, condition = jax.random.split(key, 3)
    keys = jax.random.split(choose, len(kernels))
    each: list[Features] = [
        prior_features(k, features, whole.query_columns, s)
        for k, s in zip(kernels, keys, strict=True)
    ]
    prior = prior_draws(
        whole.gp.kernel,
        draw,
        n,
        features=JoinedFeatures(tuple(each)),
        mean=whole.gp.mean,
        noise=whole.observation_noise,
    )
    draws = whole.conditioned(prior, condition)
    start = sum(f.size for f in each[:number])
    weights = draws.weights[:, start : start + each[number].size]
    own = (Zero(), kernels[number], each[number], weights)
    return eqx.tree_at(lambda d: (d.mean, d.kernel, d.features, d.weights), draws, own)


_paths_jit = eqx.filter_jit(_paths)
