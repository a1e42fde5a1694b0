"""Binary classification with a Gaussian process, by Laplace's approximation.

Notation: `x (n, d)`, labels `z (n,)` 0 or 1, weights `omega (n,)`, latent function f with prior
covariance K and mean m at the rows; the link is logistic, p(z = 1 | f) = sigmoid(f).

    log p(z | f) = sum_i omega_i (z_i log sigmoid(f_i) + (1 - z_i) log sigmoid(-f_i))
    W            = diag(omega_i sigmoid(f_i) sigmoid(-f_i)),  B = I + W^1/2 K W^1/2 = L L^T
    mode         : f = m + K a,  a = grad log p(z | f)
    log evidence ~ -1/2 a^T (f - m) + log p(z | f) - 1/2 log |B|
    f(x*)        : mean m(x*) + k(x*, x) a, covariance k(x*, x*') - c^T c', c = L^-1 W^1/2 k(x, x*)

These are algorithms 3.1, 3.2 and 5.1 of Rasmussen and Williams (2006), with a mean function and
weights. A row of weight zero says nothing, and padded rows are exactly that: W, the gradient and
a vanish there, and their row of B is one of the identity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import Unsupported, as_inputs, as_labels, as_weights, column_names, is_traced
from leadline.kernels import Kernel
from leadline.means import Mean, as_mean
from leadline.models._classification._logistic_normal import averaged_log_odds
from leadline.models._classification._mode import laplace_log_evidence, laplace_mode
from leadline.models._gaussian import GaussianPosterior, Projection
from leadline.models._learning import learn
from leadline.models._memory import CONDITIONING, LEARNING, require_memory
from leadline.models._normal import Normal, array_library
from leadline.models._priors import PriorsLike
from leadline.numerics import (
    DataScale,
    Parameterized,
    blas_threads_for,
    bucket,
    pad_rows,
    require_factor,
    row_mask,
    solve_lower,
)


class Labels(NamedTuple):
    """Padded data: inputs, labels, weights (0 in padded rows), and which rows are real."""

    x: Float[Any, "n d"]
    z: Float[Any, " n"]
    weight: Float[Any, " n"]
    mask: Float[Any, " n"]


class LaplaceClassifier(Parameterized):
    """A Gaussian process prior over a latent function, seen through a logistic link.

    Args:
        kernel: the covariance function of the latent function, whose unit is log odds.
        mean: its mean function, or a number: where `fit` starts to learn a constant mean.
    """

    kernel: Kernel
    mean: Mean = eqx.field(default=0.0, converter=as_mean)

    def __check_init__(self):
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel must be a covariance function, got {self.kernel!r}.")

    def condition(self, x: Any, z: Any, weight: Any = None) -> LaplacePosterior:
        """The approximate posterior given labels, with these hyper-parameters.

        Args:
            x: inputs (n, d).
            z: labels (n,), 0 or 1, or booleans; all of one class is allowed.
            weight: how often each row counts (n,), any number that is not negative; once if None.
        """
        if is_traced(self, x, z, weight):
            ones = jnp.ones(x.shape[0])
            z = jnp.asarray(z, dtype=ones.dtype)
            return _condition(self, Labels(x, z, ones if weight is None else weight, ones))
        return self._condition_labels(_as_padded_labels(x, z, weight)).named(column_names(x))

    def _condition_labels(self, labels: Labels) -> LaplacePosterior:
        require_memory(int(np.sum(labels.mask)), CONDITIONING, _FEWER)
        with blas_threads_for(labels.x.shape[0]):
            post = jax.block_until_ready(_condition_jit(self, labels))
        require_factor(post.factor, "matrix I + W^1/2 K W^1/2", _CAUSE, int(labels.mask.sum()))
        return post

    def fit(
        self,
        x: Any,
        z: Any,
        weight: Any = None,
        priors: PriorsLike = "default",
        restarts: int | None = None,
        seed: int = 0,
    ) -> LaplacePosterior:
        """Learn the hyper-parameters that are not fixed, and return the posterior.

        Args:
            x: inputs (n, d).
            z: labels (n,), 0 or 1, or booleans.
            weight: how often each row counts (n,); once if None.
            priors: "default", None to maximize the approximate evidence alone, or measures by names
                of parameters (see `GP.fit`).
            restarts: how many starts; the model's own values are always the first.
            seed: of the random starts beyond the fourth.
        """
        labels = _as_padded_labels(x, z, weight)
        require_memory(int(np.sum(labels.mask)), LEARNING, _FEWER)
        # Log odds are a pure number: labels have no location or spread to measure them by.
        scale = DataScale(labels.x[: int(np.sum(labels.mask))], 0.0, 1.0)
        found = learn(
            log_evidence, self, labels, scale, priors=priors, restarts=restarts, seed=seed
        )
        return found._condition_labels(labels).named(column_names(x))


_FEWER = "Learn from a part of the rows, x[::10] say."
_CAUSE = "a kernel that is not positive definite, or weights that are too large"


def _as_padded_labels(x: Any, z: Any, weight: Any) -> Labels:
    """Check data and pad them."""
    x = as_inputs(x)
    n = x.shape[0]
    z, weight = as_labels(z, n), as_weights(weight, n)
    size, mask = bucket(n), row_mask(n, bucket(n))
    return Labels(pad_rows(x, size), pad_rows(z, size), mask * pad_rows(weight, size), mask)


class LaplacePosterior(GaussianPosterior):
    """A latent function given labels; its law is a normal approximation at the mode.

    Attributes:
        gp: the model with the hyper-parameters in use.
        log_evidence: Laplace's approximation of log p(z | x).
        labels: the data.
        mode: the most probable latent values at the rows.
        gradient: a, the gradient of log p(z | f) there.
        root: the diagonal of W^1/2 there.
        factor: L, the lower factor of B.
    """

    gp: LaplaceClassifier
    log_evidence: Float[Array, ""]
    labels: Labels
    mode: Float[Array, " n"]
    gradient: Float[Array, " n"]
    root: Float[Array, " n"]
    factor: Float[Array, "n n"]

    @property
    def n(self) -> int:
        """The number of data rows."""
        return int(np.sum(self.labels.mask))

    @property
    def query_columns(self) -> int:
        return self.labels.x.shape[-1]

    @property
    def query_rows(self) -> int:
        return self.labels.x.shape[-2]

    def predict(self, xs: Any, noise: bool = False) -> Normal:
        """Normal marginals of the latent function (in log odds) at the rows of `xs (m, d)`."""
        if noise:
            raise Unsupported(
                "Observations of a LaplaceClassifier are labels, which have no normal law: "
                "`probability(xs)` is the probability of label 1."
            )
        return super().predict(xs)

    def probability(self, xs: Any) -> Float[Array | np.ndarray, " m"]:
        """The probability of label 1 at the rows of `xs (m, d)`.

        It is the logistic function averaged over the latent law (not taken at its mean), right to
        1e-8 of its own size, and so is 1 minus it.
        """
        return array_library(self, xs)[1].expit(self.logits(xs))

    def logits(self, xs: Any) -> Float[Array | np.ndarray, " m"]:
        """The log odds of `probability(xs)`, also where that rounds to 0 or 1."""
        if is_traced(self, xs):
            return _logits(self, xs)[0]
        plain = self.named(None)
        return self.answer(lambda piece: _logits_jit(plain, piece), xs)[0]

    def marginal_moments(self, xs, noise=False):
        """Rasmussen and Williams (2006), algorithm 3.2."""
        cross = self.gp.kernel(self.labels.x, xs)
        explained = jnp.sum(solve_lower(self.factor, self.root[:, None] * cross) ** 2, axis=0)
        mean = self.gp.mean(xs) + cross.T @ self.gradient
        return mean, jnp.maximum(self.gp.kernel.diag(xs) - explained, 0.0)

    def project(self, xs):
        """The mean, and the whitened covariances with the labels."""
        cross = self.gp.kernel(self.labels.x, xs)
        mean = self.gp.mean(xs) + cross.T @ self.gradient
        return Projection(mean, solve_lower(self.factor, self.root[:, None] * cross))

    def __repr__(self) -> str:
        return (
            f"LaplacePosterior({self.gp}, n={self.n}, log_evidence={float(self.log_evidence):.6g})"
        )


def log_evidence(gp: LaplaceClassifier, labels: Labels) -> Float[Array, ""]:
    """The approximate log p(z | x) with its own gradient."""
    k, m = gp.kernel(labels.x, labels.x), gp.mean(labels.x)
    return laplace_log_evidence(k, m, labels.z, labels.weight)


def _condition(gp: LaplaceClassifier, labels: Labels) -> LaplacePosterior:
    k, m = gp.kernel(labels.x, labels.x), gp.mean(labels.x)
    mode = laplace_mode(k, m, labels.z, labels.weight)
    return LaplacePosterior(
        gp=gp,
        log_evidence=mode.log_evidence,
        labels=labels,
        mode=mode.f,
        gradient=mode.a,
        root=mode.root,
        factor=mode.factor,
    )


def _logits(post: LaplacePosterior, xs: Array) -> tuple[Array]:
    return (averaged_log_odds(*post.marginal_moments(xs)),)


_condition_jit = eqx.filter_jit(_condition)
_logits_jit = eqx.filter_jit(_logits)
