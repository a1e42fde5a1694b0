"""The contract of a posterior: a belief about a function after data."""

from __future__ import annotations

import abc
from typing import Any, ClassVar

from jaxtyping import Array, Float

from leadline.boundary import Able, KnowsColumns
from leadline.numerics import Storable


class Posterior(Able, Storable, KnowsColumns):
    """What is believed about a function, given data.

    `predict`, `sample` and `save` are always there; the rest are abilities that only some
    posteriors have: `joint`, `update`, `leave_one_out` and `paths`; `data`, `observations` and
    `means_at_data` where the data are held; `expansion`, `affine_update` and `observation_noise`,
    how it is written; `ceilings`, its marginals with more variance than they have, in less time;
    `part`, one term of a sum of kernels; and `member` of a mixture.
    """

    abilities: ClassVar = (
        "joint",
        "update",
        "leave_one_out",
        "paths",
        "data",
        "observations",
        "means_at_data",
        "expansion",
        "affine_update",
        "observation_noise",
        "ceilings",
        "part",
        "member",
    )
    gaussian: ClassVar[bool]

    @abc.abstractmethod
    def predict(self, xs: Any, noise: bool = False) -> Any:
        """Marginals at the rows of `xs (m, d)`: of the function, or of observations of it."""

    @abc.abstractmethod
    def sample(self, key: Array, xs: Any, n: int) -> Float[Array, "n ..."]:
        """Draw `n` joint values of the function at the rows of `xs`."""
