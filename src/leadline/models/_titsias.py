"""Sparse Gaussian process regression with the collapsed bound of Titsias (2009).

Notation: `z (m, d)` inducing points, `u = f(z)`; `x (n, d)`, `r (n,)` targets minus mean function,
`D` the diagonal of noise variances (n,), which may differ between rows; `mask (n,)` 1 for real rows.

    K_uu = L L^T,  A = L^-1 K_uf D^-1/2 (m, n),  B = I + A A^T = L_B L_B^T,  Q = K_fu K_uu^-1 K_uf

    q(u)    = N(m(z) + L v, L B^-1 L^T),    v = B^-1 A D^-1/2 r
    bound   = log N(r | 0, Q + D) - 1/2 tr(D^-1 (K_ff - Q))
    f(x*)   : mean m(x*) + a^T v, covariance k(x*, x*') - a^T a' + (L_B^-1 a)^T (L_B^-1 a'),
              a = L^-1 k(z, x*)

The eigenvalues of B are at least 1, so nothing worse than K_uu is ever solved against. The largest
array is m by n. Padded rows have a zero column in K_uf, no variance, no residual and unit noise.

In the unwhitened form of Tiao (2023), section 2.4, q(u) has covariance K_uu M^-1 K_uu with
M = K_uu + K_uf D^-1 K_fu. The thesis prints K_fu K_uf there, which has the wrong shape.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.kernels import Kernel
from leadline.means import Constant, Mean
from leadline.models._exact import Rows, as_padded_rows, few_rows
from leadline.models._gaussian import GaussianPosterior
from leadline.models._learning import learn, search_for
from leadline.numerics import (
    DataScale,
    InvalidData,
    Parameterized,
    as_choice,
    as_rows,
    as_targets,
    as_variances,
    blas_threads_for,
    cholesky,
    is_traced,
    log_determinant,
    positive,
    require_factor,
    solve_lower,
)

_LOG_2PI = float(np.log(2.0 * np.pi))


def _as_points(z: Any) -> Array:
    return z if is_traced(z) else jnp.asarray(as_rows(z, "inducing_points"))


class Titsias(Parameterized):
    """A Gaussian process prior, to be conditioned through the function's values at a few points.

    Time is O(n m^2) and memory O(n m) for n rows of data and m inducing points.

    Args:
        kernel: the covariance function.
        inducing_points: (m, d), in the units of the inputs; they stay where they are.
        mean: the mean function, or a number: where `fit` starts to learn a constant mean.
        noise: variance of the observation noise; where `fit` starts to learn it.
    """

    kernel: Kernel
    inducing_points: Float[Array, "m d"] = eqx.field(converter=_as_points)
    mean: Mean = eqx.field(default=0.0)  # pyright: ignore[reportAssignmentType]
    noise: Float[Array, ""] = positive(1e-2, scales_with="noise", zero=True)

    def __post_init__(self):
        super().__post_init__()
        if not isinstance(self.mean, Mean):
            self.mean = Constant(self.mean)

    def condition(self, x: Any, y: Any, var: Any = None) -> TitsiasPosterior:
        """The best approximate posterior given data, with these hyper-parameters."""
        if is_traced(self, x, y, var):
            zeros = jnp.zeros(x.shape[0])
            return _condition(self, Rows(x, y, zeros if var is None else var, zeros + 1.0))
        rows = as_padded_rows(as_rows(x, columns=self.inducing_points.shape[1]), y, var)
        self._require_noise(rows.var)
        with blas_threads_for(rows.x.shape[0]):
            post = jax.block_until_ready(_condition_jit(self, rows))
        require_factor(post.factor, "covariance matrix of the inducing points", _CAUSE)
        require_factor(post.precision_factor, "precision matrix of the inducing values", _CAUSE)
        return post

    def fit(
        self,
        x: Any,
        y: Any,
        var: Any = None,
        priors: str | None = "default",
        restarts: int | None = None,
        seed: int = 0,
    ) -> TitsiasPosterior:
        """Learn the hyper-parameters that are not fixed by the bound, and return the posterior.

        Args:
            x: inputs (n, d).
            y: targets (n,).
            var: known variance of each row (n,), on top of the learned noise.
            priors: "default", or None to maximize the bound alone.
            restarts: how many starts; the model's own values are always the first.
            seed: of the random starts beyond the fourth.
        """
        as_choice(priors, ("default", None), "priors")
        x = as_rows(x, columns=self.inducing_points.shape[1])
        y = as_targets(y, x.shape[0])
        var = as_variances(var, x.shape[0])
        if "noise" in self.fixed_fields:
            self._require_noise(var)
        search = search_for(self, DataScale.of(x, y), priors=priors, restarts=restarts, seed=seed)
        rows = as_padded_rows(x, y, var)
        return learn(elbo, self, rows, search, few_rows(x, y, var, seed)).condition(x, y, var)

    def _require_noise(self, var: np.ndarray) -> None:
        if not np.min(np.asarray(self.noise) + var) > 0:
            raise InvalidData(
                "Titsias needs noise: without any, the bound is minus infinity. Give a positive "
                "noise, or a positive var for every row."
            )


_CAUSE = "inducing points that coincide, or a kernel that is not positive definite"


class TitsiasPosterior(GaussianPosterior):
    """A Gaussian process given data, through its values at inducing points.

    It holds what the data say about the inducing values, and not the data.

    Attributes:
        gp: the model with the hyper-parameters in use, in the caller's units.
        elbo: the collapsed lower bound on log p(y | x) of the raw targets.
        q_mean: mean (m,) of the optimal q(u), u = f(z), mean function included.
        q_cov: its covariance (m, m).
        factor: L, the lower factor of K_uu, with the same jitter (if any) everywhere.
        whitened_mean: v (m,), the mean of L^-1 (u - m(z)) under q.
        precision_factor: L_B, the lower factor of its precision: the covariance is (L_B L_B^T)^-1.
    """

    gp: Titsias
    elbo: Float[Array, ""]
    q_mean: Float[Array, " m"]
    q_cov: Float[Array, "m m"]
    factor: Float[Array, "m m"]
    whitened_mean: Float[Array, " m"]
    precision_factor: Float[Array, "m m"]

    @property
    def inducing_points(self) -> Float[Array, "m d"]:
        """Where the inducing values are."""
        return self.gp.inducing_points

    @property
    def query_columns(self) -> int:
        return self.gp.inducing_points.shape[-1]

    @property
    def query_rows(self) -> int:
        return self.gp.inducing_points.shape[-2]

    def marginal_moments(self, xs, noise=False):
        """Tiao (2023), eq. 2.34, in whitened form."""
        mean, prior, kept = self._project(xs)
        var = self.gp.kernel.diag(xs) - jnp.sum(prior**2, axis=0)
        var = jnp.maximum(var, 0.0) + jnp.sum(kept**2, axis=0)
        return mean, var + self.gp.noise if noise else var

    def joint_moments(self, xs):
        """The same with covariances."""
        mean, prior, kept = self._project(xs)
        return mean, self.gp.kernel(xs, xs) - prior.T @ prior + kept.T @ kept

    def _project(self, xs: Array) -> tuple[Array, Array, Array]:
        """The mean, a = L^-1 k(z, xs), and L_B^-1 a."""
        a = solve_lower(self.factor, self.gp.kernel(self.gp.inducing_points, xs))
        return self.gp.mean(xs) + a.T @ self.whitened_mean, a, solve_lower(self.precision_factor, a)

    def __repr__(self) -> str:
        return f"TitsiasPosterior({self.gp}, elbo={float(self.elbo):.6g})"


def elbo(gp: Titsias, rows: Rows) -> Float[Array, ""]:
    """The collapsed bound with its own gradient."""
    return collapsed_bound(*_blocks(gp, rows), rows.mask)


def _blocks(gp: Titsias, rows: Rows) -> tuple[Array, Array, Array, Array, Array]:
    """K_uu, K_uf, the diagonal of K_ff, r, and that of D."""
    z, mask = gp.inducing_points, rows.mask
    return (
        gp.kernel(z, z),
        gp.kernel(z, rows.x) * mask,
        gp.kernel.diag(rows.x) * mask,
        (rows.y - gp.mean(rows.x)) * mask,
        (gp.noise + rows.var) * mask + (1.0 - mask),
    )


class _Optimum(NamedTuple):
    factor: Array  # L
    precision_factor: Array  # L_B
    v: Array
    a: Array
    misfit: Array  # D^-1/2 (r - E[f]), (n,)
    unexplained: Array  # diagonal of D^-1 (K_ff - Q)


def _optimum(kuu: Array, kuf: Array, variance: Array, r: Array, noise: Array) -> _Optimum:
    root = jnp.sqrt(noise)
    factor = cholesky(kuu)
    a = solve_lower(factor, kuf) / root
    precision_factor = cholesky(jnp.eye(kuu.shape[0]) + a @ a.T)
    v = jax.scipy.linalg.cho_solve((precision_factor, True), a @ (r / root))
    misfit = r / root - a.T @ v
    return _Optimum(factor, precision_factor, v, a, misfit, variance / noise - jnp.sum(a * a, 0))


def _bound(found: _Optimum, noise: Array, mask: Array) -> Array:
    # r^T (Q + D)^-1 r is the ridge objective at its minimum v: a sum of squares, where the usual
    # difference of two large numbers would cancel.
    square = found.misfit @ found.misfit + found.v @ found.v
    logdet = log_determinant(found.precision_factor) + jnp.sum(jnp.log(noise))
    return -0.5 * (square + logdet + jnp.sum(found.unexplained) + jnp.sum(mask) * _LOG_2PI)


@jax.custom_vjp
def collapsed_bound(
    kuu: Float[Array, "m m"],
    kuf: Float[Array, "m n"],
    variance: Float[Array, " n"],
    r: Float[Array, " n"],
    noise: Float[Array, " n"],
    mask: Float[Array, " n"],
) -> Float[Array, ""]:
    """The bound of Titsias (2009) from its blocks.

    Its gradient is written down: with w = (Q + D)^-1 r, P = K_uu^-1 K_uf and U = L_B^-1 A D^-1/2,
    the derivative in Q is G = (w w^T + U^T U) / 2, of rank m + 1, and dQ = dK_fu P + P^T dK_uf
    - P^T dK_uu P. Reverse mode through both factorizations costs about twice as much.
    """
    return _bound(_optimum(kuu, kuf, variance, r, noise), noise, mask)


def _forward(kuu, kuf, variance, r, noise, mask):
    found = _optimum(kuu, kuf, variance, r, noise)
    return _bound(found, noise, mask), (found, noise)


def _backward(saved, g):
    found, noise = saved
    root = jnp.sqrt(noise)
    w = found.misfit / root
    u = solve_lower(found.precision_factor, found.a / root)
    p = jax.scipy.linalg.solve_triangular(found.factor, found.a * root, lower=True, trans=1)
    pw, pu = p @ w, p @ u.T
    d_kuf = jnp.outer(pw, w) + pu @ u
    d_kuu = -0.5 * (jnp.outer(pw, pw) + pu @ pu.T)
    # The diagonal of (Q + D)^-1 is 1 / D - sum U^2.
    d_noise = 0.5 * (w * w + jnp.sum(u * u, axis=0) + (found.unexplained - 1.0) / noise)
    return g * d_kuu, g * d_kuf, -0.5 * g / noise, -g * w, g * d_noise, jnp.zeros_like(noise)


collapsed_bound.defvjp(_forward, _backward)


def _condition(gp: Titsias, rows: Rows) -> TitsiasPosterior:
    blocks = _blocks(gp, rows)
    found = _optimum(*blocks)
    root = solve_lower(found.precision_factor, found.factor.T)
    return TitsiasPosterior(
        gp=gp,
        elbo=_bound(found, blocks[-1], rows.mask),
        q_mean=gp.mean(gp.inducing_points) + found.factor @ found.v,
        q_cov=root.T @ root,
        factor=found.factor,
        whitened_mean=found.v,
        precision_factor=found.precision_factor,
    )


_condition_jit = eqx.filter_jit(_condition)
