"""Factor analysis and probabilistic PCA: linear models in which everything is exact.

Notation: `W (d, k)` loadings, `b (d,)` offset, `psi (d,)` noise variances, all equal in PPCA;

    z ~ N(0, I),    x | z ~ N(W z + b, diag(psi)),    M = I + W^T psi^-1 W,
    z | x ~ N(M^-1 W^T psi^-1 (x - b), M^-1),    x ~ N(b, W W^T + diag(psi)).

Maximum likelihood is in closed form for PPCA (Tipping and Bishop 1999). In factor analysis W is in
closed form given psi, by the eigenvectors of psi^-1/2 cov(x) psi^-1/2 (Joreskog 1967), and psi is
the rest of the variances given W; the two take turns.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_rows
from leadline.implicit._conditional import Gaussian
from leadline.implicit._networks import Affine
from leadline.implicit._scale import ConstantScale, TriangularScale

# Noise variances stay above this part of a column's variance: the likelihood has no upper bound.
_LEAST = 1e-6


class FactorAnalysis(eqx.Module):
    """A linear Gaussian model of observations with a standard normal prior.

    Args:
        loadings: W (d, k).
        offset: b (d,).
        noise: psi (d,), variances.
    """

    loadings: Float[Array, "d k"] = eqx.field(converter=jnp.asarray)
    offset: Float[Array, " d"] = eqx.field(converter=jnp.asarray)
    noise: Float[Array, " d"] = eqx.field(converter=jnp.asarray)

    @classmethod
    def fit(cls, x: Any, dim: int, tolerance: float = 1e-12, steps: int = 5000) -> FactorAnalysis:
        """Maximum likelihood, from the solution of PPCA.

        Args:
            x: observations (n, d).
            dim: k.
            tolerance: of the likelihood, in nats a row: the search ends when a step gains less.
            steps: at most so many.
        """
        x = _checked(x, dim)
        cov = np.cov(x.T, bias=True)
        variances = np.diag(cov)
        least = _LEAST * np.maximum(variances, _LEAST * variances.max())
        psi = np.maximum(np.asarray(cls.ppca(x, dim).noise), least)
        loadings, last = np.empty((len(psi), dim)), np.inf
        for _ in range(steps):
            root = np.sqrt(psi)
            values, vectors = np.linalg.eigh(cov / np.outer(root, root))
            values, vectors = values[::-1], vectors[:, ::-1]
            top = np.maximum(values[:dim], 1.0)
            loadings = root[:, None] * vectors[:, :dim] * np.sqrt(top - 1.0)
            # Twice the negative log likelihood of these loadings, without the constant.
            loss = np.sum(np.log(psi)) + np.sum(np.log(top)) + np.sum(values[:dim] / top)
            loss += np.sum(values[dim:])
            if last - loss < 2.0 * tolerance:
                break
            last = loss
            psi = np.maximum(variances - np.sum(loadings**2, axis=1), least)
        return cls(loadings, x.mean(axis=0), psi)

    @classmethod
    def ppca(cls, x: Any, dim: int) -> FactorAnalysis:
        """Maximum likelihood with one noise variance: principal components.

        Args:
            x: observations (n, d).
            dim: k.
        """
        x = _checked(x, dim)
        values, vectors = np.linalg.eigh(np.cov(x.T, bias=True).reshape(x.shape[1], -1))
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        noise = max(values[dim:].mean(), _LEAST * values[0])
        loadings = vectors[:, :dim] * np.sqrt(np.maximum(values[:dim] - noise, 0.0))
        return cls(loadings, x.mean(axis=0), np.full(x.shape[1], noise))

    @property
    def likelihood(self) -> Gaussian:
        """p(x | z)."""
        return Gaussian(Affine(self.loadings, self.offset), ConstantScale(jnp.sqrt(self.noise)))

    @property
    def posterior(self) -> Gaussian:
        """The exact p(z | x)."""
        weighted = self.loadings / self.noise[:, None]
        precision = jnp.eye(self.loadings.shape[1]) + self.loadings.T @ weighted
        cov = jnp.linalg.inv(precision)
        gain = cov @ weighted.T
        return Gaussian(
            Affine(gain, -gain @ self.offset), TriangularScale(jnp.linalg.cholesky(cov))
        )

    def log_prior(self, z: Float[Array | np.ndarray, "n k"]) -> Float[Array, " n"]:
        """The log density of each row under the standard normal prior."""
        return jnp.sum(jax.scipy.stats.norm.logpdf(z), axis=-1)

    def log_evidence(self, x: Float[Array | np.ndarray, "n d"]) -> Float[Array, " n"]:
        """The log density of each row, with z integrated out."""
        cov = self.loadings @ self.loadings.T + jnp.diag(self.noise)
        return jnp.asarray(jax.scipy.stats.multivariate_normal.logpdf(x, self.offset, cov))


def _checked(x: Any, dim: int) -> np.ndarray:
    x = as_rows(x, "x", minimum=2)
    if not 1 <= dim < x.shape[1]:
        raise InvalidData(
            f"dim must be at least 1 and below the {x.shape[1]} columns of x, got {dim}."
        )
    if not np.any(np.ptp(x, axis=0) > 0.0):
        raise InvalidData("x must have a column that varies; all rows are the same.")
    return x
