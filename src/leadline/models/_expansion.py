"""How a Gaussian posterior is written: a prior, and an expansion in what was kept of the data.

Notation: `k` kept values (of observations, at inducing points, or of other features of the
function), `c(x) (k,)` their prior covariances with f(x), the features of a query; weights `w (k,)`;

    mean(x)   = m(x) + c(x) . w
    cov(x, y) = k(x, y) - c(x)^T P c(y),      P = T T^T - G G^T

T is what the data took away, G what they gave back: doubt that they leave about the kept values.

| posterior | kept | w | T | G |
|---|---|---|---|---|
| exact | data | (K + D)^-1 (y - m) | (K + D)^-1/2 | - |
| Titsias | values at inducing points | K_uu^-1 (mu - m) | K_uu^-1/2 | K_uu^-1 Sigma^1/2 |
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import equinox as eqx
from jaxtyping import Array, Float

from leadline.kernels import Kernel
from leadline.means import Mean
from leadline.paths import Information


class Expansion(eqx.Module):
    """A Gaussian process given data.

    Attributes:
        mean, kernel: of the prior.
        weights: w; zero for padded values.
        information: what knows T, G and a root of P; their rows are zero for padded values.
        noise: maps inputs (m, d) to noise variances (m,) of observations there.
    """

    mean: Mean
    kernel: Kernel
    weights: Float[Array, " k"]
    information: Information
    noise: Callable[[Any], Array]

    @abc.abstractmethod
    def features(self, xs: Float[Array, "m d"]) -> Float[Array, "k m"]:
        """c of each row."""

    def mean_at(self, xs: Float[Array, "m d"]) -> Float[Array, " m"]:
        """The posterior mean."""
        return self.mean(xs) + self.weights @ self.features(xs)

    def explained(self, xs: Float[Array, "m d"]) -> Float[Array, "m r"]:
        """E with cov(x, y) = k(x, y) - E(x) E(y)^T."""
        return self.features(xs).T @ self.root

    @property
    def root(self) -> Float[Array, "k r"]:
        """A root of P."""
        return self.information.root()


class KernelExpansion(Expansion):
    """An expansion in the kernel at `centers (k, d)`, the padded ones of which have no weight."""

    centers: Float[Any, "k d"]

    def features(self, xs):
        return self.kernel(self.centers, xs)
