"""Draws of one Gaussian process: a prior draw, and what data add to it.

Notation: features `phi` with weights `w (n, l)`; centers `c (k, d)` with coefficients `v (n, k)`;

    f_i(x) = m(x) + phi(x) . w_i + k(x, c) . v_i

(Wilson 2023, eqs. 3.29 and 3.35: Matheron's rule with a prior in one basis and the data in
another). The prior part is approximate if the features are, the data part uses the kernel itself.
Given the data, the process has the covariance k(x, y) - k(x, c) P k(c, y); `information` knows a
root of P, which is all that it takes to condition the same draws on more data.
"""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import (
    InvalidData,
    Unsupported,
    as_count,
    as_inputs,
    as_key,
    as_targets,
    as_variances,
    is_traced,
    require_size,
)
from leadline.kernels import Kernel
from leadline.means import Mean, as_mean
from leadline.numerics import (
    blas_threads_for,
    bucket,
    cholesky,
    pad_rows,
    require_factor,
    row_mask,
    solve_factored,
    solve_lower,
)
from leadline.paths._features import Features, as_features, prior_features
from leadline.paths._paths import ScalarPaths


class Information(eqx.Module):
    """What the data say about the values at the centers: P = T T^T - G G^T.

    The data take away what T says, and give back their doubt about the values, G, if any. Rows of
    padded centers are zero.
    """

    @abc.abstractmethod
    def taken(self) -> Float[Array, "k r"]:
        """T."""

    def given(self) -> Float[Array, "k s"] | None:
        """G; None if the data leave no doubt beyond their noise."""
        return None

    def root(self) -> Float[Array, "k r"]:
        """R with R R^T = P."""
        return self.taken()

    def times(self, c: Float[Array, "k m"]) -> Float[Array, "k m"]:
        """P c."""
        root = self.root()
        return root @ (root.T @ c)


class Observed(Information):
    """Noisy values at the centers: P = (K + D)^-1, from the factor of K + D."""

    factor: Float[Array, "k k"]
    mask: Float[Any, " k"]

    def taken(self):
        inverse = solve_lower(self.factor, jnp.eye(self.factor.shape[0]))
        return self.mask[:, None] * inverse.T

    def times(self, c):
        return self.mask[:, None] * solve_factored(self.factor, self.mask[:, None] * c)


class Inferred(Information):
    """A normal belief about the values at the centers.

    With K = L L^T and the belief's covariance L B^-1 L^T, P = L^-T (I - B^-1) L^-1.
    """

    factor: Float[Array, "k k"]
    precision_factor: Float[Array, "k k"]

    def taken(self):
        return self._pulled(jnp.eye(self.factor.shape[0]))

    def given(self):
        return self._pulled(solve_lower(self.precision_factor, jnp.eye(self.factor.shape[0])).T)

    def root(self):
        inverse = solve_lower(self.precision_factor, jnp.eye(self.factor.shape[0]))
        gained, vectors = jnp.linalg.eigh(jnp.eye(self.factor.shape[0]) - inverse.T @ inverse)
        return self._pulled(vectors * jnp.sqrt(jnp.maximum(gained, 0.0)))

    def _pulled(self, whitened: Array) -> Array:
        return jax.scipy.linalg.solve_triangular(self.factor, whitened, lower=True, trans=1)


class Rooted(Information):
    """The root itself, as updates leave it behind."""

    matrix: Float[Any, "k k"]

    def taken(self):
        return self.matrix


class FunctionDraws(ScalarPaths):
    """Draws of a Gaussian process, before or after data.

    Attributes:
        mean, kernel, features: the process, and the features that stand for its prior.
        weights: of the features, (n, l).
        centers: where the data are, (k, d), with padded rows at the end; none before data.
        coefficients: of the kernel at the centers, (n, k); zero in padded rows.
        mask: which centers are real, (k,).
    """

    mean: Mean
    kernel: Kernel
    features: Features
    weights: Float[Array, "n l"]
    centers: Float[Any, "k d"]
    coefficients: Float[Any, "n k"]
    mask: Float[Any, " k"]
    information: Information | None  # None where the root is not known
    noise: Any  # maps inputs (m, d) to variances (m,) of observations there
    key: Array

    @property
    def n(self):
        return self.weights.shape[-2]

    @property
    def dim(self):
        return self.centers.shape[-1]

    @property
    def basis_size(self):
        return self.features.row_size + self.centers.shape[-2]

    @property
    def anchors(self):
        return self.centers

    def values(self, x):
        found = self.mean(x) + self.features.values(x, self.weights)
        if not self.centers.shape[0]:
            return found
        return found + self.coefficients @ self.kernel(self.centers, x)

    def paired_values(self, x):
        n, m, d = x.shape
        flat = x.reshape(n * m, d)
        found = self.mean(flat).reshape(n, m) + self.features.paired_values(x, self.weights)
        if not self.centers.shape[0]:
            return found
        k = self.kernel(flat, self.centers).reshape(n, m, -1)
        return found + jnp.sum(k * self.coefficients[:, None, :], axis=-1)

    def __getitem__(self, which: Any) -> FunctionDraws:
        """Some of the draws, by number, slice or mask."""
        rows = np.atleast_1d(np.arange(self.n)[which])
        return eqx.tree_at(
            lambda p: (p.weights, p.coefficients),
            self,
            (self.weights[rows], self.coefficients[rows]),
        )

    def update(self, x: Any, y: Any, var: Any = None) -> FunctionDraws:
        """The same draws, conditioned on more observations, in O(k^2) for each.

        Conditioning on one row after the other or on all of them at once gives draws of the same
        law (Wilson 2023, section 3.4).

        Args:
            x: inputs (m, d).
            y: targets (m,), with the noise of the model.
            var: known variance of each row (m,), on top of that noise.
        """
        if is_traced(self, x, y, var):
            x, y = jnp.asarray(x), jnp.asarray(y)
            m = x.shape[0]
            var = jnp.zeros(m) if var is None else var
            start = jnp.asarray(self.centers.shape[0])
            return _extend(_with_room(self, m), x, y, var, jnp.ones(m), start)[0]
        x = as_inputs(x, columns=self.dim, names=self.input_names)
        y, var = as_targets(y, x.shape[0]), as_variances(var, x.shape[0])
        require_size(y, "y")
        m, real = x.shape[0], int(np.sum(self.mask))
        size = 1 << (m - 1).bit_length()
        grown = _grown(self.named(None), bucket(real + size))
        rows = (pad_rows(x, size), pad_rows(y, size), pad_rows(var, size), row_mask(m, size))
        with blas_threads_for(grown.centers.shape[0]):
            draws, factor = jax.block_until_ready(_extend_jit(grown, *rows, jnp.asarray(real)))
        require_factor(
            factor, "covariance matrix of the new observations", "inputs seen before, without noise"
        )
        return draws.named(self.input_names)

    def __repr__(self) -> str:
        features = f"{self.features.size} {type(self.features).__name__}"
        centers = int(np.sum(self.mask)) if not is_traced(self) else self.centers.shape[0]
        return f"FunctionDraws({self.n} draws, {features}, {centers} centers)"


def prior_draws(
    kernel: Kernel,
    key: Array,
    n: int,
    *,
    dim: int | None = None,
    features: int | Features = 1024,
    mean: Any = 0.0,
    noise: Any = 0.0,
) -> FunctionDraws:
    """Draw `n` functions of a Gaussian process before any data.

    Args:
        kernel: the covariance function; updates use it as it is.
        key: a random key.
        n: how many draws.
        dim: how many columns the inputs have, where `features` is a number.
        features: what stands for the kernel in the prior: features, or how many to choose.
        mean: the mean function, or a number.
        noise: the noise variance of later observations: a number, or a function of the inputs.
    """
    key, n, features = as_key(key), as_count(n, "n"), as_features(features)
    choose, draw, later = jax.random.split(key, 3)
    if not isinstance(features, Features):
        if dim is None:
            raise InvalidData("Say how many columns the inputs have: dim=...")
        features = prior_features(kernel, features, dim, choose)
    if dim is not None and features.dim != dim:
        raise InvalidData(f"The features are of {features.dim} input columns, not of {dim}.")
    return FunctionDraws(
        mean=as_mean(mean),
        kernel=kernel,
        features=features,
        weights=features.weights(draw, n),
        centers=jnp.zeros((0, features.dim)),
        coefficients=jnp.zeros((n, 0)),
        mask=jnp.zeros(0),
        information=Rooted(jnp.zeros((0, 0))),
        noise=noise if callable(noise) else ConstantNoise(jnp.asarray(noise, jnp.float64)),
        key=later,
    )


class ConstantNoise(eqx.Module):
    """Observations with one noise variance."""

    variance: Float[Array, ""]

    def __call__(self, x: Float[Array, "m d"]) -> Float[Array, " m"]:
        return jnp.broadcast_to(self.variance, x.shape[:1])


def _root(draws: FunctionDraws) -> Array:
    if draws.information is None:
        raise Unsupported(
            "These draws cannot be updated: how sure the data made them was not computed."
        )
    return draws.information.root()


def _grown(draws: FunctionDraws, size: int) -> FunctionDraws:
    """The same draws with room for `size` centers."""
    old, n = draws.centers.shape[0], draws.n
    root = np.zeros((size, size))
    given = np.asarray(_root_jit(draws))
    root[: given.shape[0], : given.shape[1]] = given
    coefficients = np.zeros((n, size))
    coefficients[:, :old] = np.asarray(draws.coefficients)
    mask = np.zeros(size)
    mask[:old] = np.asarray(draws.mask)
    return _replaced(
        draws,
        pad_rows(np.asarray(draws.centers), size),
        coefficients,
        mask,
        root,
    )


def _with_room(draws: FunctionDraws, m: int) -> FunctionDraws:
    """The same draws with room for `m` more centers, inside a trace."""
    root = _root(draws)
    k, r = root.shape
    size = draws.centers.shape[0] + m
    return _replaced(
        draws,
        jnp.concatenate([draws.centers, jnp.zeros((m, draws.dim))]),
        jnp.concatenate([draws.coefficients, jnp.zeros((draws.n, m))], axis=1),
        jnp.concatenate([draws.mask, jnp.zeros(m)]),
        jnp.zeros((size, size)).at[:k, :r].set(root),
    )


def _replaced(draws: FunctionDraws, centers: Any, coefficients: Any, mask: Any, root: Any):
    return eqx.tree_at(
        lambda p: (p.centers, p.coefficients, p.mask, p.information),
        draws,
        (centers, coefficients, mask, Rooted(root)),
    )


def _extend(draws: FunctionDraws, x, y, var, mask, start):
    """Put observations after the `start` real centers; rows where `mask` is 0 stay padding."""
    key = jax.random.fold_in(draws.key, start)
    variance = jnp.maximum(draws.noise(x) + var, 0.0)
    eps = jnp.sqrt(variance) * jax.random.normal(key, (draws.n, x.shape[0]))
    return condition_on(draws, x, y - eps, variance, mask, start)


def condition_on(draws: FunctionDraws, x, targets, variance, mask, start):
    """Matheron's rule with the covariance of the draws as they are (Wilson 2023, footnote 10).

    `targets (n, m)` are what each draw is to see: observations less a draw of their noise, whose
    variances are `variance (m,)`. Returns the draws, and the factor of the targets' covariance.
    """
    r = _root(draws)
    cross = draws.kernel(draws.centers, x) * mask
    e = r.T @ cross
    both = mask[:, None] * mask[None, :]
    prior = draws.kernel(x, x) * both + jnp.diag(mask * variance + (1.0 - mask))
    factor = cholesky(prior - e.T @ e, mask, jnp.diagonal(prior))
    residual = mask * (targets - draws.values(x))
    new = solve_factored(factor, residual.T).T
    pull = r @ e
    coefficients = draws.coefficients - new @ pull.T
    corner = mask[:, None] * solve_lower(factor, jnp.diag(mask)).T
    put, zero = jax.lax.dynamic_update_slice, jnp.zeros_like(start)
    root = put(r, -pull @ corner, (zero, start))
    return _replaced(
        draws,
        put(jnp.asarray(draws.centers), x, (start, zero)),
        put(coefficients, new, (zero, start)),
        put(jnp.asarray(draws.mask), mask, (start,)),
        put(root, corner, (start, start)),
    ), factor


_extend_jit = eqx.filter_jit(_extend)
_root_jit = eqx.filter_jit(_root)
