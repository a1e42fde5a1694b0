"""Matern kernels: of smoothness 1/2, 3/2 and 5/2 in closed form, and of any other.

Notation: `a = sqrt(2 nu s)`. The three closed forms are linked by their derivatives in `s`,

    d/ds (1 + a + a^2/3) e^-a = -(nu/3) (1 + a) e^-a        (nu = 5/2)
    d/ds (1 + a) e^-a         = - nu e^-a                   (nu = 3/2, and 5/2 above)
    d/ds e^-a                 = - nu e^-a / a,

which are written down instead of left to the chain rule through the square root: a gradient at
zero distance is then exact, and costs no second square root or exponential.
"""

from __future__ import annotations

import abc
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float

from leadline.kernels._kernel import Frequencies, check_columns
from leadline.kernels._spectrum import (
    equally_weighted,
    rescaled_density,
    student_t,
    student_t_density,
)
from leadline.kernels._stationary import Stationary
from leadline.numerics import bessel_profile


def as_order(nu: Any) -> float:
    """The order of a Matern kernel: a positive number."""
    order = float(nu)
    if not (np.isfinite(order) and order > 0):
        raise ValueError(f"The order nu of a Matern kernel must be positive, got {nu}.")
    return order


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _order0(c, s):
    """e^-a with a = sqrt(c s)."""
    return jnp.exp(-jnp.sqrt(c * s))


@_order0.defjvp
def _order0_jvp(c, primals, tangents):
    (s,), (ds,) = primals, tangents
    safe = jnp.where(s > 0, s, 1.0)
    a = jnp.sqrt(c * safe)
    e = jnp.where(s > 0, jnp.exp(-a), 1.0)
    return e, jnp.where(s > 0, -0.5 * c * e / a, 0.0) * ds


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _order1(c, s):
    """(1 + a) e^-a with a = sqrt(c s)."""
    a = jnp.sqrt(c * s)
    return (1.0 + a) * jnp.exp(-a)


@_order1.defjvp
def _order1_jvp(c, primals, tangents):
    (s,), (ds,) = primals, tangents
    return _order1(c, s), -0.5 * c * _order0(c, s) * ds


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def _order2(c, s):
    """(1 + a + a^2/3) e^-a with a = sqrt(c s)."""
    a = jnp.sqrt(c * s)
    return (1.0 + a + a * a / 3.0) * jnp.exp(-a)


@_order2.defjvp
def _order2_jvp(c, primals, tangents):
    (s,), (ds,) = primals, tangents
    return _order2(c, s), -(c / 6.0) * _order1(c, s) * ds


def matern_profile(nu: float, s: Float[Array, ...]) -> Float[Array, ...]:
    """2^(1-nu) / Gamma(nu) a^nu K_nu(a) with a = sqrt(2 nu s); closed forms where there are any."""
    if nu in _CLOSED_FORMS:
        return _CLOSED_FORMS[nu](2.0 * nu, s)
    log_factor = float((1.0 - nu) * np.log(2.0) - scipy.special.gammaln(nu))
    return bessel_profile(nu, log_factor, 2.0 * nu * s)


_CLOSED_FORMS = {0.5: _order0, 1.5: _order1, 2.5: _order2}


class _MaternFamily(Stationary):
    """What Matern kernels of all orders share: the spectrum, a multivariate t law."""

    @property
    @abc.abstractmethod
    def smoothness(self) -> float:
        """The order nu: functions have as many derivatives as there are integers below it."""

    def profile(self, s):
        return matern_profile(self.smoothness, s)

    def frequency_inputs(self, dim: int) -> int:
        """One uniform number per input column, and one for the chi-square variable."""
        return dim + 1

    def frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """Multivariate t frequencies with 2 nu degrees of freedom (Wilson 2023, section 3.3)."""
        check_columns(self, "lengthscale", u[:, :-1])
        theta = student_t(u[:, :-1], u[:, -1:], self.smoothness)
        return equally_weighted(theta / self.lengthscale)

    def tail_frequencies_at(self, u: Float[Array, "l k"]) -> Frequencies:
        """The same spectrum with more frequencies in its heavy tails, each of less weight.

        Data determine the low frequencies of a function, so what is left to a draw from the prior
        are the high ones, of which equally weighted frequencies have few or none. Small chi-square
        variables make high frequencies: their probability is the cube of a uniform number, and the
        importance of each follows. Weights still sum to 1.
        """
        v = u[:, -1:]
        theta, weight = self.frequencies_at(jnp.concatenate([u[:, :-1], v**3], axis=1))
        importance = v[:, 0] ** 2
        return Frequencies(theta, weight * importance / jnp.mean(importance))

    def spectral_density(self, theta: Float[Array, "l d"]) -> Float[Array, " l"]:
        """The multivariate t density with 2 nu degrees of freedom, in angular frequency."""
        check_columns(self, "lengthscale", theta)
        law = partial(student_t_density, nu=self.smoothness)
        return rescaled_density(law, theta, self.lengthscale)


class Matern12(_MaternFamily):
    """k = e^-r: continuous functions without derivatives (Ornstein-Uhlenbeck)."""

    @property
    def smoothness(self):
        return 0.5


class Matern32(_MaternFamily):
    """k = (1 + sqrt3 r) e^(-sqrt3 r): functions with one derivative."""

    @property
    def smoothness(self):
        return 1.5


class Matern52(_MaternFamily):
    """k = (1 + sqrt5 r + 5 r^2 / 3) e^(-sqrt5 r): functions with two derivatives."""

    @property
    def smoothness(self):
        return 2.5


class Matern(_MaternFamily):
    """The Matern kernel of any order `nu > 0`, through the Bessel function K_nu.

    `nu` is part of the kernel's structure: it is not learned. As it grows the kernel approaches
    the squared exponential (Rasmussen and Williams 2006, eq. 4.14).
    """

    nu: float = eqx.field(static=True, kw_only=True, converter=as_order)

    @property
    def smoothness(self):
        return self.nu
