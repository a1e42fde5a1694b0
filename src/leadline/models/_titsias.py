"""Sparse Gaussian process regression with the collapsed bound of Titsias (2009).

Notation: `z (m, d)` inducing points, `u = f(z)`; `x (n, d)`, `r (n,)` targets minus mean function,
`D` the diagonal of noise variances (n,), which may differ by row; `mask (n,)` 1 for real rows.

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

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import (
    SMALLEST_VARIANCE,
    InvalidData,
    KnowsColumns,
    as_inputs,
    column_names,
    is_traced,
)
from leadline.kernels import Kernel
from leadline.means import Mean, as_mean
from leadline.models._affine_update import AffineUpdate
from leadline.models._collapsed_bound import Blocks, bound_at, collapsed_bound, optimal_q
from leadline.models._drawable import DrawablePosterior
from leadline.models._expansion import KernelExpansion
from leadline.models._gaussian import Projection
from leadline.models._learning import learn
from leadline.models._priors import PriorsLike
from leadline.models._rows import Rows, as_padded_rows
from leadline.numerics import (
    DataScale,
    Parameterized,
    blas_threads_for,
    positive,
    quick_jit,
    require_factor,
    solve_factored,
    solve_lower,
)
from leadline.paths import Inferred, inferred_draws


def _as_points(z: Any) -> Array:
    return z if is_traced(z) else jnp.asarray(as_inputs(z, "inducing_points"))


class Titsias(Parameterized, KnowsColumns):
    """A Gaussian process prior, to be conditioned through the function's values at a few points.

    Time is O(n m^2) and memory O(n m) for n rows of data and m inducing points.

    Args:
        kernel: the covariance function.
        inducing_points: (m, d), in the units of the inputs; they stay where they are. Those of a
            frame have names of columns, in whose order data are put.
        mean: the mean function, or a number: where `fit` starts to learn a constant mean.
        noise: variance of the observation noise; where `fit` starts to learn it.
    """

    kernel: Kernel
    inducing_points: Float[Array, "m d"] = eqx.field(converter=_as_points)
    mean: Mean = eqx.field(default=0.0, converter=as_mean)
    noise: Float[Array, ""] = positive(1e-2, scales_with="noise", zero=True)

    def __post_init__(self):
        if self.input_names is None:
            self.input_names = column_names(self.inducing_points)
        super().__post_init__()

    def __check_init__(self):
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a covariance function, got {self.kernel!r}.")
        if self.noise.shape:
            raise InvalidData(
                f"noise must be one number, got shape {self.noise.shape}. Known variances of the "
                "rows are the argument `var` of `condition` and `fit`."
            )

    def row_noise(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The noise variance of an observation at each row."""
        return jnp.broadcast_to(self.noise, x.shape[:1])

    def condition(self, x: Any, y: Any, var: Any = None) -> TitsiasPosterior:
        """The best approximate posterior given data, with these hyper-parameters."""
        if is_traced(self, x, y, var):
            zeros = jnp.zeros(x.shape[0])
            return _condition(self, Rows(x, y, zeros if var is None else var, zeros + 1.0))
        found = self.named(None).condition_rows(self._padded(x, y, var))
        return found.named(self.input_names or column_names(x))

    def condition_rows(self, rows: Rows) -> TitsiasPosterior:
        """The posterior given data that have been checked and padded."""
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
        priors: PriorsLike = "default",
        restarts: int | None = None,
        seed: int = 0,
    ) -> TitsiasPosterior:
        """Learn the hyper-parameters that are not fixed by the bound, and return the posterior.

        Args:
            x: inputs (n, d).
            y: targets (n,).
            var: known variance of each row (n,), on top of the learned noise.
            priors: "default", None to maximize the bound alone, or measures by names of parameters
                (see `GP.fit`).
            restarts: how many starts; the model's own values are always the first.
            seed: of the random starts beyond the fourth.
        """
        rows = self._padded(x, y, var)
        if "noise" in self.fixed_fields:
            self._require_noise(rows.var)
        scale = DataScale.of(*rows.real()[:2])
        plain, names = self.named(None), self.input_names or column_names(x)
        found = learn(elbo, plain, rows, scale, priors=priors, restarts=restarts, seed=seed)
        return found.condition_rows(rows).named(names)

    def _padded(self, x: Any, y: Any, var: Any) -> Rows:
        columns = self.inducing_points.shape[1]
        return as_padded_rows(x, y, var, columns=columns, names=self.input_names)

    def _require_noise(self, var: Any) -> None:
        if not np.min(np.asarray(self.noise) + var) >= SMALLEST_VARIANCE:
            raise InvalidData(
                "Titsias needs noise: without any, the bound is minus infinity. Give a noise of at "
                f"least {SMALLEST_VARIANCE:g}, or such a var for every row."
            )


_CAUSE = "inducing points that coincide, or a kernel that is not positive definite"


class TitsiasPosterior(DrawablePosterior):
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

    def project(self, xs):
        """The mean, a = L^-1 k(z, xs), and L_B^-1 a."""
        return Projection(*self._project(xs))

    def _project(self, xs: Array) -> tuple[Array, Array, Array]:
        a = solve_lower(self.factor, self.gp.kernel(self.gp.inducing_points, xs))
        return self.gp.mean(xs) + a.T @ self.whitened_mean, a, solve_lower(self.precision_factor, a)

    @property
    def observation_noise(self):
        return self.gp.row_noise

    def expansion(self) -> KernelExpansion:
        """The kernel at the inducing points, with weights L^-T v."""
        gp, solve = self.gp, jax.scipy.linalg.solve_triangular
        weights = solve(self.factor, self.whitened_mean, lower=True, trans=1)
        information = Inferred(self.factor, self.precision_factor)
        points = gp.inducing_points
        return KernelExpansion(gp.mean, gp.kernel, weights, information, gp.row_noise, points)

    def solve(self, b):
        """K_uu^-1 b."""
        return solve_factored(self.factor, b)

    def affine_update(self, xs):
        """Targets are draws of q(u)."""
        points = self.gp.inducing_points
        _, whitened, restored = self._project(xs)
        xi = jax.scipy.linalg.solve_triangular(self.factor, whitened, lower=True, trans=1)
        return AffineUpdate(points, jnp.ones(points.shape[0]), xi.T, restored.T)

    def conditioned(self, prior, key):
        """The sparse update with draws of u ~ q(u) (Wilson 2023, eq. 3.31)."""
        points, whitened = self.gp.inducing_points, self.whitened_mean
        return inferred_draws(prior, points, self.factor, whitened, self.precision_factor, key)

    def __repr__(self) -> str:
        return f"TitsiasPosterior({self.gp}, elbo={float(self.elbo):.6g})"


def elbo(gp: Titsias, rows: Rows) -> Float[Array, ""]:
    """The collapsed bound with its own gradient."""
    return collapsed_bound(_blocks(gp, rows))


def _blocks(gp: Titsias, rows: Rows) -> Blocks:
    x, y, var, mask = map(jnp.asarray, rows)
    z = gp.inducing_points
    return Blocks(
        kuu=gp.kernel(z, z),
        kuf=gp.kernel(z, x) * mask,
        variance=gp.kernel.diag(x) * mask,
        r=(y - gp.mean(x)) * mask,
        noise=(gp.noise + var) * mask + (1.0 - mask),
        mask=mask,
    )


def _condition(gp: Titsias, rows: Rows) -> TitsiasPosterior:
    blocks = _blocks(gp, rows)
    q = optimal_q(blocks)
    root = solve_lower(q.precision_factor, q.factor.T)
    return TitsiasPosterior(
        gp=gp,
        elbo=bound_at(blocks, q),
        q_mean=gp.mean(gp.inducing_points) + q.factor @ q.v,
        q_cov=root.T @ root,
        factor=q.factor,
        whitened_mean=q.v,
        precision_factor=q.precision_factor,
    )


_condition_jit = quick_jit(_condition, once=True)
