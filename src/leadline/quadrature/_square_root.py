"""Warped quadrature by a square root (WSABI): an integrand that is at least a number.

Notation of `_integrand.py`, with f = offset + g^2 / 2 and a latent process of mean zero, which is
learned from sqrt(2 (f - offset)). P_ij = int k(x_i, z) k(z, x_j) dmu(z) are pair means, T_ij triple
means of the centers, and Prec the precision of the expansion. f is not Gaussian; two Gaussian
processes stand for it:

*linear* (WSABI-L), the tangent at the mean of g,

    mean = offset + mean_g^2 / 2,    cov = mean_g(x) S(x, x') mean_g(x')
    E Z  = offset + a^T P a / 2,     Var Z = a^T (T - P Prec P) a
    Cov(g(x), Z) = P(x, X) a - k(x, X) Prec P a

*matched* (WSABI-M), the moments of f,

    mean = offset + (mean_g^2 + S(x, x)) / 2
    cov  = S(x, x')^2 / 2 + mean_g(x) S(x, x') mean_g(x')
    E Z and Var Z gain  (int k(z, z) dmu - tr Prec P) / 2  and
    (int int k^2 - 2 tr Prec T + tr Prec P Prec P) / 2

(Gunter et al. 2014; Hamid 2023, section 3.3, and Naiff 2019, section 4.3, whose printed covariances
leave out a half, or a mean). Cov(g(x), Z) is the same for both.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, as_choice
from leadline.means import Zero
from leadline.measures import Measure
from leadline.models import KernelExpansion, Normal
from leadline.quadrature._integrand import Coupling, Integrand


def square_roots(f: Any, offset: float) -> Float[np.ndarray, " n"]:
    """What g is learned from: sqrt(2 (f - offset)).

    Args:
        f: values of the integrand (n,).
        offset: a number that no value is below.
    """
    f = np.asarray(f, dtype=float)
    if np.any(f < offset):
        raise InvalidData(f"offset must be at most every value; it is {offset}, one is {f.min()}.")
    return np.sqrt(2.0 * (f - offset))


class SquareRoot(Integrand):
    """An integrand that is an offset and half the square of the latent process.

    Args:
        latent: a posterior of g, learned from `square_roots`, of a process with mean zero.
        offset: what f is at least.
        moments: "linear" or "matched".
    """

    offset: Float[Array, ""] = eqx.field(default=0.0, converter=jnp.asarray)
    moments: str = eqx.field(default="linear", static=True)

    def __check_init__(self):
        as_choice(self.moments, ("linear", "matched"), "moments")
        if not isinstance(self.form.mean, Zero):
            raise Unsupported(
                f"The latent process of a square root has mean zero: `ll.GP(kernel, "
                f"mean=ll.means.Zero())`, got {self.form.mean}."
            )

    def predict(self, xs):
        """The marginals of the process that stands for f."""
        g = self.latent.predict(xs)
        mean, var = np.asarray(g.mean), np.asarray(g.var)
        offset = np.asarray(self.offset)
        if self.moments == "linear":
            return Normal(offset + 0.5 * mean**2, mean**2 * var)
        return Normal(offset + 0.5 * (mean**2 + var), 0.5 * var**2 + mean**2 * var)

    def integral(self, measure: Measure, *, n_qmc: int = 4096) -> Normal:
        """The normal law of Z."""
        form, law = self.form, self.coupling(measure, n_qmc=n_qmc).law
        if self.moments == "linear":
            return law
        level = jnp.mean(form.kernel.diag(measure.qmc(n_qmc, 0)))
        square = (form.kernel * form.kernel).double_mean(measure, n_qmc=n_qmc)
        pair, triple = _pairs(form, measure, n_qmc)
        more, wider = jax.device_get(_matched(form, pair, triple, level, square))
        return Normal(law.mean + more, law.var + wider)

    def coupling(self, measure: Measure, *, n_qmc: int = 4096) -> Coupling:
        """The covariance of g(x) and Z, with the law of Z that the tangent has."""
        form = self.form
        vector, mean, variance = _linear(form, *_pairs(form, measure, n_qmc))
        return SquareRootCoupling(form, measure, vector, self.offset + mean, variance, n_qmc)


class SquareRootCoupling(Coupling):
    """That of the latent process and the integral of its square."""

    def own(self, xs):
        """Pair means with the centers, weighted."""
        xs, centers = jnp.asarray(xs), jnp.asarray(self.form.centers)
        pair = self.form.kernel.pair_mean(self.measure, xs, centers, n_qmc=self.n_qmc)
        return pair @ self.form.weights


def _pairs(form: KernelExpansion, measure: Measure, n_qmc: int) -> tuple[Array, Array]:
    x = jnp.asarray(form.centers)
    pair = form.kernel.pair_mean(measure, x, x, n_qmc=n_qmc)
    return pair, form.kernel.triple_mean(measure, x, x, n_qmc=n_qmc)


@eqx.filter_jit
def _linear(form: KernelExpansion, pair: Array, triple: Array) -> tuple[Array, Array, Array]:
    """The vector of the coupling, and mean and variance of Z above the offset."""
    a = form.weights
    pulled = pair @ a
    seen = pulled @ form.root
    var = a @ (triple @ a) - seen @ seen
    return form.root @ seen, 0.5 * a @ pulled, jnp.maximum(var, 0.0)


@eqx.filter_jit
def _matched(
    form: KernelExpansion, pair: Array, triple: Array, level: Array, square: Array
) -> tuple[Array, Array]:
    root = form.root
    white = root.T @ pair @ root
    wider = square - 2.0 * jnp.sum(root * (triple @ root)) + jnp.sum(white**2)
    return 0.5 * (level - jnp.trace(white)), jnp.maximum(0.5 * wider, 0.0)
