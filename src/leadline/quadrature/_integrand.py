"""The contract of a belief about an integrand: a Gaussian process, or a function of one.

Notation: a latent process g given data, written as an expansion in centers X with weights a and a
precision P (`leadline.models.KernelExpansion`),

    mean(x) = m(x) + k(x, X) a,    S(x, x') = k(x, x') - k(x, X) P k(X, x'),

the integrand f = f(g), a measure mu, and Z = int f dmu.
"""

from __future__ import annotations

import abc
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from leadline.boundary import Unsupported
from leadline.measures import Measure
from leadline.models import KernelExpansion, Normal, Posterior


class Integrand(eqx.Module):
    """What is believed about an integrand, given a posterior of the latent process.

    Args:
        latent: an exact or Titsias posterior of g.
    """

    latent: Posterior

    def __check_init__(self):
        if not hasattr(self.latent, "expansion") or not isinstance(
            self.latent.expansion(), KernelExpansion
        ):
            raise Unsupported(
                f"{type(self.latent).__name__} cannot be integrated here: posteriors that are "
                "written with kernels at points can, exact ones and those of Titsias."
            )

    @property
    def form(self) -> KernelExpansion:
        """How the latent posterior is written."""
        form: Any = self.latent.expansion()  # pyright: ignore[reportAttributeAccessIssue]
        return form

    @abc.abstractmethod
    def predict(self, xs: Any) -> Normal:
        """Normal marginals of f at other points."""

    @abc.abstractmethod
    def integral(self, measure: Measure, *, n_qmc: int = 4096) -> Normal:
        """The normal law of Z: one mean, one variance.

        Args:
            measure: mu.
            n_qmc: quasi-random points, where kernels have no rule for the measure.
        """

    @abc.abstractmethod
    def coupling(self, measure: Measure, *, n_qmc: int = 4096) -> Coupling:
        """The covariance of g(x) and Z, as a function of x.

        Args:
            measure: mu.
            n_qmc: quasi-random points, where kernels have no rule for the measure.
        """


class Coupling(eqx.Module):
    """x -> Cov(g(x), Z) = own(x) - k(x, X) vector, with the law of Z it belongs to; traces.

    Attributes:
        vector: (k,).
        mean, variance: of Z.
    """

    form: KernelExpansion
    measure: Measure
    vector: Float[Array, " k"]
    mean: Float[Array, ""]
    variance: Float[Array, ""]
    n_qmc: int = eqx.field(static=True)

    @property
    def law(self) -> Normal:
        """The normal law of Z."""
        return Normal(*jax.device_get((self.mean, self.variance)))

    @abc.abstractmethod
    def own(self, xs: Float[Any, "m d"]) -> Float[Array, " m"]:
        """The covariance with Z before the data."""

    def __call__(self, xs: Float[Any, "m d"]) -> Float[Array, " m"]:
        """The covariance with Z at each row."""
        return self.own(xs) - self.vector @ self.form.features(xs)
