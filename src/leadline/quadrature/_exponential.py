"""Warped quadrature by an exponential (MMLT): an integrand whose logarithm is modeled.

Notation of `_integrand.py`, with f = e^g, and a Gaussian process that has the moments of f:

    mean(x)    = exp(mean_g(x) + S(x, x) / 2)
    cov(x, x') = mean(x) (e^S(x, x') - 1) mean(x')
    Cov(g(x), f(x')) = S(x, x') mean(x')

(Chai and Garnett 2019; the covariance is printed with means of g in Hamid 2023, eq. 2.35c, and with
S(x, x') at one point in Naiff 2019, eq. 4.41). No kernel has closed forms for these: integrals go
over several scrambled sets of quasi-random points, and the variance of Z has two parts, what is not
known of f, and how much the sets differ.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.measures import Measure
from leadline.models import KernelExpansion, Normal
from leadline.quadrature._integrand import Coupling, Integrand

# Sets of points, each with its own scrambling.
_SETS = 8


class Exponential(Integrand):
    """An integrand that is the exponential of the latent process.

    Numbers beyond e^700 are none: learn g from logarithms less the largest of them, and add that to
    the logarithm of what comes out.
    """

    def predict(self, xs):
        """Means and variances of f, as those of normal laws."""
        g = self.latent.predict(xs)
        mean, var = np.asarray(g.mean), np.asarray(g.var)
        level = np.exp(mean + 0.5 * var)
        return Normal(level, level**2 * np.expm1(var))

    def integral(self, measure: Measure, *, n_qmc: int = 4096) -> Normal:
        """The mean and variance of Z, as those of a normal law."""
        means, variances = self._over_sets(measure, n_qmc)
        return Normal(np.mean(means), np.mean(variances) + np.var(means, ddof=1) / _SETS)

    def coupling(self, measure: Measure, *, n_qmc: int = 4096) -> Coupling:
        """The covariance of g(x) and Z, over points."""
        points = measure.qmc(n_qmc, 0)
        vector, level = _vector(self.form, points)
        mean, variance = (jnp.mean(each) for each in self._over_sets(measure, n_qmc))
        return ExponentialCoupling(self.form, measure, vector, mean, variance, n_qmc, points, level)

    def _over_sets(self, measure: Measure, n_qmc: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of Z over each set of points."""
        sets = [measure.qmc(-(-n_qmc // _SETS), seed) for seed in range(_SETS)]
        found = jax.device_get([_moments(self.form, points) for points in sets])
        means, variances = map(np.asarray, zip(*found, strict=True))
        return means, variances


class ExponentialCoupling(Coupling):
    """That of the latent process and the integral of its exponential, over points.

    Attributes:
        points: of the measure.
        level: the mean of f at them.
    """

    points: Float[Array, "n d"]
    level: Float[Array, " n"]

    def own(self, xs):
        """Kernel means, weighted by the integrand."""
        weights = self.level / self.level.shape[0]
        return self.form.kernel(jnp.asarray(xs), self.points) @ weights


@eqx.filter_jit
def _moments(form: KernelExpansion, points: Array) -> tuple[Array, Array]:
    explained = form.explained(points)
    cov = form.kernel(points, points) - explained @ explained.T
    level = _level(form, points, jnp.diagonal(cov))
    variance = level @ (jnp.expm1(cov) @ level) / level.shape[0] ** 2
    return jnp.mean(level), jnp.maximum(variance, 0.0)


@eqx.filter_jit
def _vector(form: KernelExpansion, points: Array) -> tuple[Array, Array]:
    explained = form.explained(points)
    level = _level(form, points, form.kernel.diag(points) - jnp.sum(explained**2, axis=1))
    return form.root @ (explained.T @ level) / level.shape[0], level


def _level(form: KernelExpansion, points: Array, variance: Array) -> Array:
    """The mean of f at points."""
    return jnp.exp(form.mean_at(points) + 0.5 * jnp.maximum(variance, 0.0))
