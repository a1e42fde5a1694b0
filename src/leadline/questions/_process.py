"""The Gaussian process behind the methods: the default one, or one of the user's own.

Its hyper-parameters are the state of an ask: arrays by the names of parameters, which are paths
("kernel.kernels.0.lengthscale"), and short for those of the default process.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np

from leadline.boundary import InvalidData, shorten
from leadline.kernels import Kernel, PartlyAdditive
from leadline.models import GP as Process
from leadline.models import Priors, as_priors
from leadline.numerics import Slot, as_parameter, fixed, seed_key, slots
from leadline.paths import prior_features
from leadline.spaces import Space

_SHORT = {
    "kernel.kernel.lengthscale": "lengthscale",
    "kernel.kernel.share": "share",
    "kernel.variance": "variance",
    "mean.value": "mean",
}


class Model(NamedTuple):
    """What is believed of an objective before any call.

    Attributes:
        kernel: of the rows of the space; partly a sum over their columns if None.
        priors: measures by names of parameters; all others have the quiet ones.
        noise: variance of the values' noise; learned if None.
    """

    kernel: Kernel | None = None
    priors: Mapping[str, Any] | None = None
    noise: float | None = None

    def process(self, columns: int, extent: float) -> Any:
        """Where the first search starts, for rows that are so far apart in a column at most."""
        if self.kernel is None:
            return _default_process(columns, extent, self.noise)
        return Process(self.kernel, noise=_noise(self.noise))

    def priors_of(self, process: Any) -> Priors:
        """The priors of its hyper-parameters."""
        return as_priors(process, self.priors or {}, rest="quiet")


def check_model(model: Model) -> None:
    """Refuse a model that means nothing, whatever the space is."""
    kernel, priors, noise = model
    if kernel is not None and not isinstance(kernel, Kernel):
        raise InvalidData(f"kernel must be a kernel of ll.kernels, got {shorten(kernel)}.")
    if priors is not None and not isinstance(priors, Mapping):
        raise InvalidData(
            f"priors must be a mapping from names of parameters to measures, got {shorten(priors)}."
        )
    try:
        fine = noise is None or 0.0 <= noise < np.inf
    except TypeError:
        fine = False
    if not fine:
        raise InvalidData(
            f"noise must be a variance, a number that is not negative, got {shorten(noise)}."
        )


def check_model_in(space: Space, model: Model, features: int | None = None) -> None:
    """Refuse a kernel that cannot read the rows of a space, and priors of what there is not.

    With `features`, the kernel must also have so many of which functions can be drawn.
    """
    if model.kernel is None and model.priors is None:
        return
    process = model.process(space.columns, 1.0)
    if any(path[0] == "mean" for path in model.priors_of(process).paths):
        raise InvalidData(
            "priors of a method are of its kernel and its noise. Its mean is not in your units: "
            "inside, larger is better."
        )
    rows = jax.ShapeDtypeStruct((2, space.columns), float)
    try:
        found = jax.eval_shape(lambda x: (process.kernel(x, x), process.kernel.diag(x)), rows)
    except Exception as error:
        widths = [p.columns for p in space.parameters.values()]
        names = zip(space.parameters, widths, strict=True)
        read = ", ".join(name if k == 1 else f"{name} ({k} columns)" for name, k in names)
        raise InvalidData(
            f"The kernel cannot read the rows of the space, which have {space.columns} columns, "
            f"{read}: {error}"
        ) from error
    shapes = [part.shape for part in found]
    if shapes != [(2, 2), (2,)]:
        raise InvalidData(
            f"The kernel must give (n, m) covariances of n and m rows, and n variances; of 2 rows "
            f"it gives shapes {shapes[0]} and {shapes[1]}."
        )
    if features is not None:
        jax.eval_shape(
            lambda key: prior_features(process.kernel, features, space.columns, key), seed_key(0)
        )


def hyper_parameters(process: Any) -> dict[str, np.ndarray]:
    """The hyper-parameters of a process by their names."""
    return {_name(slot): np.asarray(slot.get(process)) for slot, _ in slots(process)}


def with_hyper_parameters(process: Any, state: Mapping[str, Any]) -> Any:
    """The process with the hyper-parameters of a state."""
    there = [slot for slot, _ in slots(process)]
    values = [as_parameter(state[_name(slot)]) for slot in there]
    return eqx.tree_at(lambda p: [slot.get(p) for slot in there], process, values)


def _name(slot: Slot) -> str:
    path = ".".join(map(str, slot.path))
    return _SHORT.get(path, path)


@cache
def _default_process(columns: int, extent: float, noise: float | None) -> Any:
    lengthscale: Any = np.ones(columns)
    return Process(1.0 * PartlyAdditive(lengthscale, extent=extent), noise=_noise(noise))


def _noise(noise: float | None) -> Any:
    return 1e-2 if noise is None else fixed(noise)
