"""What calls are worth once their values are known, and what one more call adds to it.

A set of calls is worth as much as the best of them (Wilson 2023, table 2.1):

    V(X) = E max(start, max_j w(y_j)),    y_j the function at x_j

A utility knows `w` and `start`, and in closed form what a call adds to what others have reached:

    G = E max(w(y) - reached, 0),    y ~ N(mean, std^2)

(Wilson 2023, section 2.6, prints G for the improvement; the other forms are of the same kind.)
Nothing has been reached before the first call where `start` is -inf; then G = E w(y).

Notation: `y`, `mean`, `std`, `reached` of any shapes that broadcast; `center` is the posterior mean
of the function before any of the calls, which only the confidence bound asks for; larger is better.
"""

from __future__ import annotations

import abc
import math
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
from jax.nn import sigmoid
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

from leadline.acquisition._improvement import expected_excess, log_expected_excess
from leadline.acquisition._log_ndtr import log_ndtr
from leadline.boundary import Unsupported

_SQRT_2_OVER_PI = math.sqrt(2.0 / math.pi)
# What is left to reach has a logarithm, also where nothing is left.
_LEAST_LEFT = 1e-300


class Utility(eqx.Module):
    """The worth `w` of one call, in closed form.

    Attributes:
        convex: whether the worth is a convex function of the value. Then a call adds the more, the
            less sure its value is.
    """

    convex: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def start(self) -> Any:
        """What is reached before any call; -inf if nothing is."""

    @abc.abstractmethod
    def worth(self, y: Any, center: Any) -> Array:
        """What a call with the value `y` is worth."""

    @abc.abstractmethod
    def gain(self, mean: Any, std: Any, center: Any, reached: Any) -> Array:
        """What a call whose value is normal is expected to add to what is reached."""

    def log_gain(self, mean: Any, std: Any, center: Any, reached: Any) -> Array:
        """The logarithm of `gain`, which must be positive."""
        return jnp.log(self.gain(mean, std, center, reached))


class Improvement(Utility):
    """Values above `best`: expected improvement."""

    convex: ClassVar[bool] = True

    best: Float[Any, ""]

    @property
    def start(self):
        return self.best

    def worth(self, y, center):
        return y

    def gain(self, mean, std, center, reached):
        return expected_excess(mean, std, reached)

    def log_gain(self, mean, std, center, reached):
        return log_expected_excess(mean, std, reached)


class Highest(Utility):
    """The highest of the values themselves: EMAX."""

    convex: ClassVar[bool] = True

    @property
    def start(self):
        return -jnp.inf

    def worth(self, y, center):
        return y

    def gain(self, mean, std, center, reached):
        first = jnp.isneginf(reached)
        excess = expected_excess(mean, std, jnp.where(first, 0.0, reached))
        return jnp.where(first, mean, excess)


class Confidence(Utility):
    """The mean plus how far the value is from it: in expectation, mean + sqrt(beta) std."""

    convex: ClassVar[bool] = True

    beta: Float[Any, ""]

    @property
    def start(self):
        return -jnp.inf

    @property
    def slope(self) -> Any:
        """By what a distance from the mean counts: a normal value's is sqrt(2 / pi) std."""
        return jnp.sqrt(self.beta) / _SQRT_2_OVER_PI

    def worth(self, y, center):
        return center + self.slope * jnp.abs(y - center)

    def gain(self, mean, std, center, reached):
        first = jnp.isneginf(reached)
        shift, c = mean - center, self.slope
        # The distance |y - center| must exceed this.
        least = (jnp.where(first, center, reached) - center) / c
        z = shift / std
        distance = std * _SQRT_2_OVER_PI * jnp.exp(-0.5 * z**2) + shift * (1.0 - 2.0 * ndtr(-z))
        both = expected_excess(shift, std, least) + expected_excess(-shift, std, least)
        excess = jnp.where(least > 0, both, distance - least)
        return jnp.where(first, center, 0.0) + c * excess


class Exceedance(Utility):
    """1 for a value above `best`: probability of improvement."""

    best: Float[Any, ""]

    @property
    def start(self):
        return 0.0

    def worth(self, y, center):
        return jnp.where(y > self.best, 1.0, 0.0)

    def gain(self, mean, std, center, reached):
        return (1.0 - reached) * ndtr((mean - self.best) / std)

    def log_gain(self, mean, std, center, reached):
        # Where every fantasy has improved there is nothing to gain, and still a place to prefer.
        left = jnp.log(jnp.maximum(1.0 - reached, _LEAST_LEFT))
        return left + log_ndtr((mean - self.best) / std)


class SmoothExceedance(Utility):
    """Nearly 1 for a value above `best`, with a slope for pathwise gradients to follow.

    The worth is 1 / (1 + exp(-(y - best + offset) / temperature)), which is `Exceedance` where both
    are 0. (Wilson 2023, table 2.1, prints the sigmoid of y itself.)
    """

    best: Float[Any, ""]
    temperature: Float[Any, ""]
    offset: Float[Any, ""]

    @property
    def start(self):
        return 0.0

    def worth(self, y, center):
        return sigmoid((y - self.best + self.offset) / self.temperature)

    def gain(self, mean, std, center, reached):
        raise Unsupported(
            "SmoothExceedance has no closed form: it is for draws, with rao_blackwell=False. "
            "Exceedance has one."
        )
