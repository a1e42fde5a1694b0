"""How much a next call is expected to say about the integral.

Notation: g the latent process, S its posterior covariance with the noise of a call, c = Cov(g, Z),

    I(x_1 .. x_q) = -1/2 log(1 - c^T S^-1 c / Var Z),

the mutual information of the values of g there and Z, which are jointly normal (Hamid 2023, section
3.3.1; for a plain process Gessner et al. 2019). It is half the logarithm of by how much the calls
divide Var Z, as long as the tangent of a warp stays where it is.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.measures import Measure
from leadline.numerics import root_of_inverse, small_cholesky
from leadline.quadrature._integrand import Coupling, Integrand
from leadline.search import Acquisition

# What is left of Var Z is no less than this part: a logarithm needs some.
_LEAST = 1e-9


class Information(Acquisition):
    """The mutual information of calls and the integral, in nats.

    Args:
        integrand: what is believed of it.
        measure: of the integral.
        n_qmc: quasi-random points, where kernels have no rule for the measure.
    """

    coupling: Coupling

    def __init__(self, integrand: Integrand, measure: Measure, *, n_qmc: int = 4096):
        self.coupling = integrand.coupling(measure, n_qmc=n_qmc)

    def values(self, x: Float[Any, "b q d"]) -> Float[Array, " b"]:
        """The information of each set of calls."""
        b, q, d = x.shape
        form, rows = self.coupling.form, jnp.reshape(x, (b * q, d))
        explained = form.explained(rows).reshape(b, q, -1)
        prior = jax.vmap(lambda each: form.kernel(each, each))(jnp.asarray(x))
        noise = form.noise(rows).reshape(b, q)
        alone = form.kernel.diag(rows).reshape(b, q)
        cov = prior - jnp.einsum("bir,bjr->bij", explained, explained)
        cov = cov + noise[:, :, None] * jnp.eye(q)
        factor = small_cholesky(cov, alone)
        white = jnp.einsum("bq,bqr->br", self.coupling(rows).reshape(b, q), root_of_inverse(factor))
        part = jnp.sum(white**2, axis=1) / self.coupling.variance
        return -0.5 * jnp.log1p(-jnp.minimum(part, 1.0 - _LEAST))
