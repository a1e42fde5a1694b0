"""What is believed about an integrand, and about its integral.

Values are divided by the largest of them first, so that those of any size can be squared; of
logarithms the largest is taken away. The two methods are

    "bq"     the values are a Gaussian process
    "wsabi"  they are an offset and half the square of one; the offset is 0.8 of the least value,
             or nothing if some are zero (Gunter et al. 2014)

and "auto" takes "wsabi" where no value is negative, and "bq" where some are.

The kernel is a product of Matern kernels (nu = 5/2) where coordinates of the measure are
independent. Squared exponentials expect more of an integrand: where they are wrong they are wrong
and sure. They stand in where only they have integrals in closed form.

Notation: rows `x (n, d)` of the unit cube, values `v (n,)`, or their logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from leadline.boundary import InvalidData
from leadline.kernels import ProductMatern, SquaredExponential
from leadline.means import Zero
from leadline.measures import Gaussian, Measure, Product, Uniform
from leadline.models import GP, Normal
from leadline.quadrature import Integrand, Plain, SquareRoot, square_roots
from leadline.questions._surrogate import learn_process

METHODS = ("auto", "bq", "wsabi")
# Of the least value, which is the offset of a square root.
_OFFSET = 0.8
# Length scales and noise where the search for them begins, in rows and in largest values.
_LENGTH, _NOISE = 0.25, 1e-8
# Rows of the measure whose spread is the unit of length scales.
_REFERENCE = 64


class Belief(NamedTuple):
    """What is believed about an integrand.

    Attributes:
        integrand: of values over the largest one.
        log_scale: the logarithm of that.
        state: hyper-parameters, which the next ask starts from.
    """

    integrand: Integrand
    log_scale: float
    state: Mapping[str, np.ndarray]

    def law(self, measure: Measure) -> tuple[float, float]:
        """Mean and standard deviation of the integral, over the largest value.

        As long as every value is zero nothing is known of how large others may be.
        """
        if self.log_scale == -np.inf:
            return 0.0, np.inf
        z = self.integrand.integral(measure)
        return float(z.mean), float(z.std)

    def notes(self, z: Normal) -> dict[str, float]:
        """What progress and stopping need to know of the integral's law, if anything is known."""
        if self.log_scale == -np.inf:
            return {}
        return {"mean": float(z.mean), "std": float(z.std), "log_scale": self.log_scale}


def believe(
    method: str,
    x: Float[np.ndarray, "n d"],
    values: Float[np.ndarray, " n"],
    measure: Measure,
    state: Mapping[str, np.ndarray],
    logarithmic: bool,
) -> Belief:
    """The belief given values at rows.

    Args:
        method: one of `METHODS`.
        x: rows.
        values: values, or their logarithms.
        measure: of rows.
        state: hyper-parameters to start from, or {}.
        logarithmic: whether values are logarithms.
    """
    y, log_scale = scaled(values, logarithmic)
    if method == "wsabi" and y.min() < 0.0:
        raise InvalidData(
            f"method 'wsabi' is for integrands that are not negative, and one value is "
            f"{values.min():g}. Use 'bq', or 'auto', which changes to it."
        )
    warped = method == "wsabi" or (method == "auto" and bool(y.min() >= 0.0))
    # Hyper-parameters of the one are not those of the other.
    before = dict(state)
    own = before if before.pop("warped", None) == warped else {}
    offset = _OFFSET * float(y.min()) if warped else 0.0
    targets = square_roots(y, offset) if warped else y
    process = _process(x.shape[1], warped, _is_product(measure))
    reference = np.asarray(measure.qmc(_REFERENCE, 0))
    posterior, learned = learn_process(
        process, x, targets, own, priors="quiet", reference=reference
    )
    integrand = SquareRoot(posterior, offset) if warped else Plain(posterior)
    return Belief(integrand, log_scale, {**learned, "warped": np.asarray(warped)})


def scaled(
    values: Float[np.ndarray, " n"], logarithmic: bool
) -> tuple[Float[np.ndarray, " n"], float]:
    """Values over the largest of them, and its logarithm: minus infinity if all are zero."""
    if logarithmic:
        top = float(np.max(values))
        return (np.zeros(len(values)) if top == -np.inf else np.exp(values - top)), top
    size = float(np.max(np.abs(values)))
    return (values / size, float(np.log(size))) if size > 0.0 else (values, -np.inf)


def _is_product(measure: Measure) -> bool:
    """Whether the coordinates of a measure are independent, and each is uniform or Gaussian."""
    if isinstance(measure, Product):
        return all(map(_is_product, measure.measures))
    return isinstance(measure, Uniform) or (isinstance(measure, Gaussian) and measure.diagonal)


@cache
def _process(columns: int, warped: bool, product: bool) -> Any:
    lengthscale: Any = np.full(columns, _LENGTH)
    kernel = ProductMatern(lengthscale) if product else SquaredExponential(lengthscale)
    mean: Any = Zero() if warped else 0.0
    noise: Any = _NOISE
    return GP(1.0 * kernel, mean=mean, noise=noise)
