"""Bayesian quadrature: the integrand itself is a Gaussian process.

Notation of `_integrand.py`, with f = g; z (k,) the kernel means of the centers, Gamma the double
mean,

    E Z   = int m dmu + z . a
    Var Z = Gamma - z^T P z
    Cov(g(x), Z) = int k(x, z) dmu(z) - k(x, X) P z

(O'Hagan 1991; Naiff 2019, eqs. 4.5 to 4.7, where the printed mean has a wrong sign).
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from leadline.measures import Measure
from leadline.models import KernelExpansion, Normal
from leadline.quadrature._integrand import Coupling, Integrand


class Plain(Integrand):
    """An integrand that is the latent process itself."""

    def predict(self, xs):
        """The marginals of the process."""
        return self.latent.predict(xs)

    def integral(self, measure: Measure, *, n_qmc: int = 4096) -> Normal:
        """The normal law of Z, which is exact."""
        return self.coupling(measure, n_qmc=n_qmc).law

    def coupling(self, measure: Measure, *, n_qmc: int = 4096) -> Coupling:
        """The covariance of g(x) and Z."""
        form = self.form
        z = form.kernel.mean(measure, jnp.asarray(form.centers), n_qmc=n_qmc)
        gamma = form.kernel.double_mean(measure, n_qmc=n_qmc)
        offset = _mean_integral(form.mean, measure, n_qmc)
        return PlainCoupling(form, measure, *_parts(form, z, gamma, offset), n_qmc)


class PlainCoupling(Coupling):
    """That of the process and its own integral."""

    def own(self, xs):
        """The kernel mean."""
        return self.form.kernel.mean(self.measure, jnp.asarray(xs), n_qmc=self.n_qmc)


def _mean_integral(mean: Any, measure: Measure, n_qmc: int) -> Array:
    """Over points for mean functions that do not know their integral."""
    if hasattr(mean, "integral"):
        return mean.integral(measure)
    return jnp.mean(mean(measure.qmc(n_qmc, 0)))


@eqx.filter_jit
def _parts(form: KernelExpansion, z: Array, gamma: Array, offset: Any) -> tuple[Any, Any, Any]:
    """The vector of the coupling, and mean and variance of Z."""
    seen = z @ form.root
    variance = jnp.maximum(gamma - seen @ seen, 0.0)
    return form.root @ seen, offset + z @ form.weights, variance
