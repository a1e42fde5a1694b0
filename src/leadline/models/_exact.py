"""Exact Gaussian process regression.

Notation: `x (n, d)`, `y (n,)`, `var (n,)` known variances of the rows, `mask (n,)` 1 for real rows;
K = k(x, x) + diag(noise + var) = L L^T, w = K^-1 (y - m(x)).

    mean(x*)     = m(x*) + k(x*, x) w
    cov(x*, x*') = k(x*, x*') - (L^-1 k(x, x*))^T (L^-1 k(x, x*'))
    log p(y)     = log N(y | m(x), K)

Data are padded (`leadline.numerics.bucket`): rows where the mask is 0 are rows of the identity in K
and zero in y - m(x), so they add nothing to anything.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_choice, as_inputs, column_names, is_traced
from leadline.kernels import Kernel
from leadline.means import Mean, as_mean
from leadline.models._affine_update import AffineUpdate
from leadline.models._drawable import DrawablePosterior
from leadline.models._expansion import KernelExpansion
from leadline.models._gaussian import Projection
from leadline.models._learning import best_coordinates, search_for
from leadline.models._memory import CONDITIONING, LEARNING, require_memory
from leadline.models._mixture import MixturePosterior
from leadline.models._normal import Normal
from leadline.models._priors import PriorsLike
from leadline.models._rows import Data, Observations, Rows, as_padded_rows
from leadline.models._sampling import DRAWS, sample_log_joint
from leadline.numerics import (
    DataScale,
    Parameterized,
    add_to_diagonal,
    blas_threads_for,
    bucket,
    cholesky,
    extend_cholesky,
    from_free,
    gaussian_log_density,
    inverse_factored,
    log_density_factored,
    pad_rows,
    positive,
    power_of_two,
    quick_jit,
    require_factor,
    row_mask,
    solve_factored,
    solve_lower,
    solve_stored,
)
from leadline.paths import Observed, observed_draws


class GP(Parameterized):
    """A Gaussian process prior with Gaussian observation noise.

    Args:
        kernel: the covariance function.
        mean: the mean function, or a number: where `fit` starts to learn a constant mean.
        noise: variance of the observation noise; where `fit` starts to learn it.

    Wrap a value in `ll.fixed` and `fit` leaves it as it is.
    """

    kernel: Kernel
    mean: Mean = eqx.field(default=0.0, converter=as_mean)
    noise: Float[Array, ...] = positive(1e-2, scales_with="noise", zero=True)

    def __check_init__(self):
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a covariance function, got {self.kernel!r}.")

    def row_noise(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """The noise variance of an observation at each row."""
        if self.noise.shape:
            raise InvalidData(
                f"noise must be one number, got shape {self.noise.shape}. Known variances of the "
                "rows are the argument `var` of `condition` and `fit`."
            )
        return jnp.broadcast_to(self.noise, x.shape[:1])

    def covariance(self, rows: Rows) -> Float[Array, "n n"]:
        """Covariance of the observations, with padded rows as rows of the identity."""
        mask = rows.mask
        k = self.kernel(rows.x, rows.x) * (mask[:, None] * mask[None, :])
        noise = mask * (self.row_noise(rows.x) + rows.var) + (1.0 - mask)
        return add_to_diagonal(k, noise)

    def residual(self, rows: Rows) -> Float[Array, " n"]:
        """Targets minus the mean function; zero in padded rows."""
        return rows.mask * (rows.y - self.mean(rows.x))

    def condition(self, x: Any, y: Any, var: Any = None) -> ExactPosterior:
        """The posterior given data, with these hyper-parameters."""
        if is_traced(self, x, y, var):
            x, y = jnp.asarray(x, jnp.float64), jnp.asarray(y, jnp.float64)
            zeros = jnp.zeros(x.shape[0])
            rows = Rows(x, y, zeros + (0.0 if var is None else var), zeros + 1.0)
            return ExactPosterior(self, rows, *_condition(self, rows))
        return self.condition_rows(as_padded_rows(x, y, var)).named(column_names(x))

    def condition_rows(self, rows: Rows) -> ExactPosterior:
        """The posterior given data that have been checked and padded."""
        require_memory(int(np.sum(rows.mask)), CONDITIONING)
        with blas_threads_for(rows.x.shape[0]):
            factor, weights, evidence = jax.block_until_ready(_condition_jit(self, rows))
        require_factor(factor, "covariance matrix of the data", _CAUSE, int(rows.mask.sum()))
        return ExactPosterior(self, rows, factor, weights, evidence)

    def fit(
        self,
        x: Any,
        y: Any,
        var: Any = None,
        priors: PriorsLike = "default",
        restarts: int | None = None,
        seed: int = 0,
        inference: str = "maximum",
        reference: Any = None,
        tolerance: float | None = None,
    ) -> ExactPosterior | MixturePosterior:
        """Learn the hyper-parameters that are not fixed, and return the posterior.

        Args:
            x: inputs (n, d).
            y: targets (n,).
            var: known variance of each row (n,), on top of the learned noise.
            priors: "default"; "quiet" where there may be no noise at all, such as in a computer
                experiment; None for maximum likelihood; or a mapping from names of parameters to
                measures, which leaves all others with the default. A positive parameter takes a
                `ll.measures.LogNormal` and a real one a `ll.measures.Gaussian`, in the caller's
                units. Like the default priors they are densities of the logarithm of a positive
                parameter: what is most probable is the median of a log-normal prior. A name is that
                of a field ("lengthscale", for all of that name), or a path: "kernel.variance".
            restarts: how many starts; the model's own values are always the first.
            seed: of random starts, of the rows that screen them, and of sampling.
            inference: "maximum" for the best hyper-parameters; "nuts" for draws of them, whose
                posteriors are then mixed.
            reference: inputs (m, d) whose spread is the unit of length scales, where `x` are not
                spread like the inputs that matter; `x` if None.
            tolerance: how many nats of evidence are worth another step of the search; 3e-3 with
                priors and 1e-4 without if None.
        """
        as_choice(inference, ("maximum", "nuts"), "inference")
        if tolerance is not None and not tolerance > 0:
            raise InvalidData(f"tolerance must be positive, got {tolerance}.")
        rows, names = as_padded_rows(x, y, var), column_names(x)
        data = rows.real()
        n, columns = data.x.shape
        spread = data.x
        if reference is not None:
            spread = as_inputs(reference, "reference", columns=columns, names=names)
        search = search_for(
            self,
            DataScale.of(spread, data.y),
            priors=priors,
            restarts=restarts,
            seed=seed,
            tolerance=tolerance,
        )
        if search.lower.size:
            require_memory(n, LEARNING)
        if inference == "maximum":
            if search.lower.size == 0:
                return self.condition_rows(rows).named(names)
            u = search.free(best_coordinates(log_evidence, self, rows, search))
            with blas_threads_for(rows.x.shape[0]):
                leaves, *found = jax.block_until_ready(_condition_at_jit(self, u, rows))
            require_factor(found[0], "covariance matrix of the data", _CAUSE, n)
            gp = jax.tree.unflatten(jax.tree.structure(self), leaves)
            return ExactPosterior(gp, rows, *found, input_names=names)
        if search.priors is None:
            raise InvalidData(
                "inference='nuts' needs a prior to sample from: leave priors='default'."
            )
        require_memory(n, CONDITIONING + DRAWS, "inference='maximum' keeps one matrix only.")
        start = best_coordinates(log_evidence, self, rows, search)
        gps = sample_log_joint(log_evidence, self, rows, search, start, seed)
        with blas_threads_for(rows.x.shape[0]):
            members = jax.block_until_ready(_condition_each_jit(gps, rows))
        require_factor(members.factor, "covariance matrix of the data", _CAUSE, n)
        s = members.log_evidence.shape[0]
        return MixturePosterior(members, jnp.full(s, 1.0 / s), input_names=names)


_CAUSE = "duplicate inputs with (almost) no noise, or a kernel that is not positive definite"


def log_evidence(gp: GP, rows: Rows) -> Float[Array, ""]:
    """Log p(y | x) with its own gradient."""
    return gaussian_log_density(gp.covariance(rows), gp.residual(rows), rows.mask)


class ExactPosterior(DrawablePosterior):
    """A Gaussian process given data.

    Attributes:
        gp: the process with the hyper-parameters in use, in the caller's units.
        log_evidence: log p(y | x) of the raw targets.
    """

    gp: GP
    rows: Rows
    factor: Float[Array, "n n"]
    weights: Float[Array, " n"]
    log_evidence: Float[Array, ""]

    @property
    def n(self) -> int:
        """The number of data rows."""
        return int(np.sum(self.rows.mask))

    @property
    def query_columns(self) -> int:
        """How many columns a query must have."""
        return self.rows.x.shape[-1]

    @property
    def query_rows(self) -> int:
        """The size of the matrix that a query is solved against."""
        return self.rows.x.shape[-2]

    def marginal_moments(self, xs, noise=False):
        """Mean and variance at each row: of the function, or of observations of it."""
        cross = self._cross(xs)
        explained = jnp.sum(solve_lower(self.factor, cross) ** 2, axis=0)
        var = jnp.maximum(self.gp.kernel.diag(xs) - explained, 0.0)
        mean = self.gp.mean(xs) + cross.T @ self.weights
        return mean, var + self.gp.row_noise(xs) if noise else var

    def ceilings(self, xs: Float[Any, "m d"]) -> Normal:
        """Marginals with the mean of the posterior and no less than its variance; traces.

        The first quarter of the data takes its part of the variance away, and the others nothing:
        that is a sixteenth of the work of all. A query's covariances are a row here, and data that
        are padding have no weight instead of no covariance: as the compiler has it, it takes a
        third of the time.
        """
        rows, few = self.rows, -(-self.query_rows // 4)
        cross = self.gp.kernel(xs, rows.x)
        whitened = solve_lower(self.factor[:few, :few], rows.mask[:few, None] * cross[:, :few].T)
        mean = self.gp.mean(xs) + cross @ (rows.mask * self.weights)
        var = self.gp.kernel.diag(xs) - jnp.sum(whitened**2, axis=0)
        return Normal(mean, jnp.maximum(var, 0.0))

    def project(self, xs):
        """The mean, and the whitened covariances with the data."""
        cross = self._cross(xs)
        mean = self.gp.mean(xs) + cross.T @ self.weights
        return Projection(mean, solve_lower(self.factor, cross))

    def _cross(self, xs: Array) -> Float[Array, "n m"]:
        return self.rows.mask[:, None] * self.gp.kernel(self.rows.x, xs)

    def update(self, x: Any, y: Any, var: Any = None) -> ExactPosterior:
        """The posterior given more data, with the same hyper-parameters.

        The factor is extended in O(n^2) per row, not computed again.
        """
        if is_traced(self, x, y, var):
            m = x.shape[0]
            new = Rows(x, y, jnp.zeros(m) if var is None else var, jnp.ones(m))
            room, end = _append_room(self, new), jnp.asarray(self.query_rows)
            return ExactPosterior(self.gp, *_extend(room, new, end))
        n = self.n
        columns, names = self.query_columns, self.input_names
        new = as_padded_rows(x, y, var, columns=columns, names=names, size=power_of_two)
        size = bucket(n + new.x.shape[0])
        require_memory(size, CONDITIONING)
        old = _grow(self.named(None), size)
        with blas_threads_for(size):
            found = jax.block_until_ready(_extend_jit(old, new, jnp.asarray(n)))
        rows, factor, weights, evidence = found
        require_factor(factor, "covariance matrix of the data", _CAUSE, int(np.sum(rows.mask)))
        return ExactPosterior(self.gp, rows, factor, weights, evidence, input_names=names)

    @property
    def observation_noise(self):
        return self.gp.row_noise

    def conditioned(self, prior, key):
        """Matheron's rule with the factor at hand (Wilson 2023, eq. 3.29)."""
        rows = self.rows
        variance = self.gp.row_noise(rows.x) + rows.var
        return observed_draws(prior, rows.x, rows.y, variance, self.factor, rows.mask, key)

    def expansion(self) -> KernelExpansion:
        """The kernel at the data, with weights K^-1 (y - m)."""
        gp, rows = self.gp, self.rows
        information = Observed(self.factor, jnp.asarray(rows.mask))
        weights = rows.mask * self.weights
        return KernelExpansion(gp.mean, gp.kernel, weights, information, gp.row_noise, rows.x)

    def solve(self, b):
        """K^-1 b, K with the noise."""
        return solve_factored(self.factor, b)

    def affine_update(self, xs):
        """Targets are the data less a draw of their noise."""
        xi = self.solve(self._cross(xs)).T
        told = self.observations()
        return AffineUpdate(told.x, told.mask, xi, xi * jnp.sqrt(told.variance))

    def data(self) -> Data:
        """The data, as they were given."""
        return self.rows.real()

    def observations(self) -> Observations:
        """The data as the process sees them: residuals, and variances of all the noise."""
        rows = self.rows
        variance = rows.mask * (self.gp.row_noise(rows.x) + rows.var)
        return Observations(rows.x, self.gp.residual(rows), variance, rows.mask)

    def means_at_data(self) -> Float[np.ndarray, " n"]:
        """The mean at each row of the data: y minus noise times weights, which needs no solve."""
        y, var = np.asarray(self.rows.y), np.asarray(self.rows.var)
        return (y - (np.asarray(self.gp.noise) + var) * np.asarray(self.weights))[: self.n]

    def leave_one_out(self) -> Normal:
        """Marginals of each observation given all the others.

        They are of observations, noise included: `post.leave_one_out().log_prob(y)` is the
        leave-one-out log predictive density (Rasmussen and Williams 2006, eq. 5.12). Inside a
        trace they are of all rows, padded ones included.
        """
        if is_traced(self):
            return Normal(*_leave_one_out(self))
        n = self.n
        with blas_threads_for(self.rows.x.shape[0]):
            mean, var = jax.device_get(_leave_one_out_jit(self.named(None)))
        return Normal(mean[:n], var[:n])

    def __repr__(self) -> str:
        return f"ExactPosterior({self.gp}, n={self.n}, log_evidence={float(self.log_evidence):.6g})"


def _condition(gp: GP, rows: Rows) -> tuple[Array, Array, Array]:
    factor = cholesky(gp.covariance(rows), rows.mask)
    residual = gp.residual(rows)
    weights = solve_factored(factor, residual)
    return factor, weights, log_density_factored(factor, residual, weights, rows.mask)


def _condition_at(gp: GP, u: Any, rows: Rows) -> tuple[list[Any], Array, Array, Array]:
    """The leaves of the process with the free coordinates `u`, and what `_condition` finds."""
    gp = from_free(gp, u)
    return jax.tree.leaves(gp), *_condition(gp, rows)


def _condition_each(gps: GP, rows: Rows) -> ExactPosterior:
    """Posteriors of stacked processes, one after the other."""
    return jax.lax.map(lambda gp: ExactPosterior(gp, rows, *_condition(gp, rows)), gps)


def _grow(post: ExactPosterior, size: int) -> ExactPosterior:
    """The same posterior with room for `size` rows."""
    old = post.rows.x.shape[0]
    if size == old:
        return post
    x, y, var = (pad_rows(np.asarray(a), size) for a in post.rows[:3])
    room = Rows(x, y, var, row_mask(post.n, size))
    factor = np.eye(size)
    factor[:old, :old] = np.asarray(post.factor)
    weights = np.zeros(size)
    weights[:old] = np.asarray(post.weights)
    factor, weights = jax.device_put((factor, weights))
    return dataclasses.replace(post, rows=room, factor=factor, weights=weights)


def _append_room(post: ExactPosterior, new: Rows) -> ExactPosterior:
    """The same posterior with room for `new` after its last row, inside a trace."""
    m = new.x.shape[0]
    x, y, var = (jnp.concatenate([a, b]) for a, b in zip(post.rows[:3], new[:3], strict=True))
    rows = Rows(x, y, var, jnp.concatenate([post.rows.mask, jnp.zeros(m)]))
    factor = jax.scipy.linalg.block_diag(post.factor, jnp.eye(m))
    weights = jnp.concatenate([post.weights, jnp.zeros(m)])
    return dataclasses.replace(post, rows=rows, factor=factor, weights=weights)


def _extend(post: ExactPosterior, new: Rows, n: Array) -> tuple[Rows, Array, Array, Array]:
    """Put `new` rows from row `n` on; its own padded rows stay padding."""
    gp, old = post.gp, post.rows
    cross = (old.mask[:, None] * new.mask[None, :]) * gp.kernel(old.x, new.x)
    below, corner = extend_cholesky(post.factor, cross, gp.covariance(new), new.mask)
    put = jax.lax.dynamic_update_slice_in_dim
    rows = Rows(*(put(a, b, n, axis=0) for a, b in zip(old, new, strict=True)))
    strip = jax.lax.dynamic_update_slice(below, corner, (jnp.zeros_like(n), n))
    factor = put(post.factor, strip, n, axis=0)
    residual = gp.residual(rows)
    weights = solve_stored(factor, residual[:, None])[:, 0]
    return rows, factor, weights, log_density_factored(factor, residual, weights, rows.mask)


def _leave_one_out(post: ExactPosterior) -> tuple[Array, Array]:
    precision = jnp.diagonal(inverse_factored(post.factor))
    return post.rows.y - post.weights / precision, 1.0 / precision


_condition_jit = quick_jit(_condition, once=True)
_condition_at_jit = quick_jit(_condition_at, once=True)
_condition_each_jit = eqx.filter_jit(_condition_each)
_extend_jit = quick_jit(_extend, once=True)
_leave_one_out_jit = quick_jit(_leave_one_out, once=True)
