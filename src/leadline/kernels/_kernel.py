"""The contract of a covariance function.

A kernel maps `x (n, d)`, `y (m, d)` to the covariances `(n, m)`; `diag(x)` gives the `n` variances.
Kernels add, multiply and take scalar factors (`_algebra.py`). Whatever else a kernel can do is an
*ability* (`Kernel.abilities`): a method that only the classes that have it define. A combination of
kernels has an ability if all its parts have it.

Frequencies (Bochner's theorem) come from uniform numbers `u (l, k)`, random or quasi-random:
`k = kernel.frequency_inputs(d)` of them for each frequency, and more of them the more columns the
inputs have, so that the number of columns can be read off `u`. Where their law has a density in a
closed form, `spectral_density(theta)` is that density times k(x, x):

    k(x, y) = int S(theta) cos(theta . (x - y)) dtheta.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, dataclass_transform

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import Able, InvalidData
from leadline.measures import Measure
from leadline.numerics import Parameterized


class Frequencies(NamedTuple):
    """A discrete spectrum: k(x, y) is approximately sum_i weight_i cos(theta_i . (x - y)).

    `theta (l, d)` are angular frequencies (2 pi times cycles); `weight (l,)` sums to k(x, x).
    """

    theta: Float[Array, "l d"]
    weight: Float[Array, " l"]


@dataclass_transform(field_specifiers=(dataclasses.field, eqx.field))
class _ReadsColumns(type(eqx.Module)):
    """The class of kernel classes: a call that names `active_dims` gives an `ActiveDims`.

    What a call of a class gives is of that class, unless the class of the class says otherwise.
    A field would not do: whoever asks which kernel this is would have to look at it as well.
    """

    if not TYPE_CHECKING:  # where the call is declared by `Kernel.active_dims`

        def __call__(cls, *args, active_dims=None, **kwargs):
            kernel = super().__call__(*args, **kwargs)
            return kernel if active_dims is None else kernel.on(active_dims)


class Kernel(Able, Parameterized, metaclass=_ReadsColumns):
    """A positive semi-definite covariance function.

    Every kernel also takes `active_dims=[...]`, the input columns that it reads:
    `Matern52(active_dims=[0, 2])` is `Matern52().on([0, 2])`.
    """

    if TYPE_CHECKING:  # what `_ReadsColumns` adds to the call
        active_dims: dataclasses.InitVar[Sequence[int] | None] = dataclasses.field(
            default=None, kw_only=True
        )

    abilities: ClassVar = (
        "frequency_inputs",
        "frequencies_at",
        "tail_frequencies_at",
        "spectral_density",
    )

    # NumPy scalars leave `np.float64(2.0) * kernel` to the kernel.
    __array_ufunc__ = None

    @abc.abstractmethod
    def __call__(self, x: Float[Array, "n d"], y: Float[Array, "m d"]) -> Float[Array, "n m"]:
        """Covariances between the rows of `x` and those of `y`."""

    @abc.abstractmethod
    def diag(self, x: Float[Array, "n d"]) -> Float[Array, " n"]:
        """Variances at the rows of `x`: the diagonal of `self(x, x)`."""

    def on(self, columns: Any) -> Kernel:
        """This kernel reading only some input columns: a number, or several in order."""
        from leadline.kernels._active_dims import ActiveDims

        return ActiveDims(self, columns)

    def parts(self) -> tuple[Kernel, ...]:
        """The kernels that this one is made of; none for a single covariance function."""
        return ()

    def addends(self) -> tuple[Kernel, ...]:
        """The kernels of a sum, as it was written; none if this is no sum."""
        return ()

    def terms(self) -> tuple[Kernel, ...]:
        """Kernels that add up to this one, with all products multiplied out."""
        return (self,)

    def frequencies(self, key: Array, n: int, dim: int) -> Frequencies:
        """Draw `n` random frequencies of inputs with `dim` columns (Bochner's theorem).

        Only for kernels with the ability `frequencies_at`. The approximation that they define is
        unbiased, and differentiable in the kernel's parameters.
        """
        return self.frequencies_at(jax.random.uniform(key, (n, self.frequency_inputs(dim))))

    def input_columns(self, u: Float[Array, "l k"]) -> int:
        """How many input columns the uniform numbers `u` are for."""
        given = u.shape[1]
        for dim in range(given + 1):
            if self.frequency_inputs(dim) == given:
                return dim
        raise InvalidData(
            f"{given} uniform numbers for each frequency of {type(self).__name__} fit no number of "
            "input columns; frequency_inputs(d) says how many are needed."
        )

    def mean(
        self, measure: Measure, x: Float[Array, "n d"], *, n_qmc: int = 4096
    ) -> Float[Array, " n"]:
        """`int k(x, z) dmu(z)` at each row of `x`: see `leadline.kernels.kernel_mean`."""
        from leadline.kernels._means import kernel_mean

        return kernel_mean(self, measure, x, n_qmc=n_qmc)

    def double_mean(self, measure: Measure, *, n_qmc: int = 4096) -> Float[Array, ""]:
        """`int int k(z, z') dmu(z) dmu(z')`: see `leadline.kernels.kernel_double_mean`."""
        from leadline.kernels._means import kernel_double_mean

        return kernel_double_mean(self, measure, n_qmc=n_qmc)

    def pair_mean(
        self,
        measure: Measure,
        x: Float[Array, "n d"],
        y: Float[Array, "m d"],
        *,
        n_qmc: int = 4096,
    ) -> Float[Array, "n m"]:
        """`int k(x, z) k(z, y) dmu(z)`: see `leadline.kernels.kernel_pair_mean`."""
        from leadline.kernels._means import kernel_pair_mean

        return kernel_pair_mean(self, measure, x, y, n_qmc=n_qmc)

    def triple_mean(
        self,
        measure: Measure,
        x: Float[Array, "n d"],
        y: Float[Array, "m d"],
        *,
        n_qmc: int = 4096,
    ) -> Float[Array, "n m"]:
        """`int int k(x, z) k(z, z') k(z', y) dmu(z) dmu(z')`: see `kernel_triple_mean`."""
        from leadline.kernels._means import kernel_triple_mean

        return kernel_triple_mean(self, measure, x, y, n_qmc=n_qmc)

    def __add__(self, other: Any) -> Kernel:
        return _combined("add", self, other)

    def __radd__(self, other: Any) -> Kernel:
        if isinstance(other, int) and other == 0:  # where `sum(kernels)` starts
            return self
        return _combined("add", other, self)

    def __mul__(self, other: Any) -> Kernel:
        return _combined("multiply", self, other)

    def __rmul__(self, other: Any) -> Kernel:
        return _combined("multiply", other, self)


def check_columns(kernel: Kernel, name: str, x: Any) -> None:
    """Raise unless the parameter `name` is shared or has one value for each column of `x`."""
    shape = np.shape(getattr(kernel, name))
    if np.ndim(x) != 2:
        raise InvalidData(f"Inputs must have two dimensions (rows, columns), got {np.shape(x)}.")
    if shape and shape[-1] != x.shape[1]:
        raise InvalidData(
            f"{type(kernel).__name__} has {shape[-1]} values in {name}, one for each input column, "
            f"but the inputs have {x.shape[1]} columns."
        )


def check_shape(kernel: Kernel, name: str, *ndims: int) -> None:
    """Raise unless the parameter `name` has one of these numbers of dimensions."""
    shape = np.shape(getattr(kernel, name))
    if len(shape) not in ndims:
        kinds = " or ".join(("a number", "a vector", "a matrix")[n] for n in ndims)
        raise ValueError(f"{name} of {type(kernel).__name__} must be {kinds}, got shape {shape}.")


def _combined(operation: str, left: Any, right: Any) -> Any:
    """`left + right` or `left * right`; the results derive from `Kernel`, hence the late import."""
    from leadline.kernels import _algebra

    return getattr(_algebra, operation)(left, right)
