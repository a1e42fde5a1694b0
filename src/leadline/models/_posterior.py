"""The contract of a posterior: a belief about a function after data."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from leadline.boundary import Unsupported

ABILITIES = {
    "joint": "posteriors whose law is Gaussian (`post.gaussian`)",
    "update": "exact Gaussian processes",
    "leave_one_out": "exact Gaussian processes",
    "data": "exact Gaussian processes",
    "observations": "exact Gaussian processes",
    "means_at_data": "exact Gaussian processes",
    "expansion": "exact and Titsias posteriors",
    "affine_update": "exact and Titsias posteriors",
    "observation_noise": "exact and Titsias posteriors",
    "members": "mixtures",
    "paths": "exact, multi-output and Titsias posteriors, and mixtures of exact or Titsias ones",
}


class Posterior(eqx.Module):
    """What is believed about a function, given data.

    `predict` and `sample` are always there; the rest are abilities that only some posteriors have:
    `joint`, `update`, `leave_one_out` and `paths`; `data`, `observations` and `means_at_data` where
    the data are held; `expansion`, `affine_update` and `observation_noise`, how it is written.
    """

    gaussian: ClassVar[bool]

    @abc.abstractmethod
    def predict(self, xs: Any, noise: bool = False) -> Any:
        """Marginals at the rows of `xs (m, d)`: of the function, or of observations of it."""

    @abc.abstractmethod
    def sample(self, key: Array, xs: Any, n: int) -> Float[Array, "n ..."]:
        """Draw `n` joint values of the function at the rows of `xs`."""

    def __getattr__(self, name: str) -> Any:
        if name in ABILITIES:
            raise Unsupported(
                f"{type(self).__name__} has no {name!r}. It is an ability of {ABILITIES[name]}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
