"""Generators of f-divergences, through the logarithm of the ratio.

Notation: `r = p / q` numerator over denominator, `g = log r`; a convex f with dual
f*(t) = max_u (u t - f(u)).

    D_f[p || q] = E_q f(r) >= E_p T1(g) - E_q T2(g),    T1(g) = f'(e^g),  T2(g) = f*(f'(e^g)),

for every function g of x, with equality where g is the log ratio (Tiao 2023, eq. 2.10, after Nguyen
et al. 2010). Nothing is exponentiated before the last step, so T1 and T2 overflow only where their
own values do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import as_choice

_LOG_2 = float(np.log(2.0))


@dataclasses.dataclass(frozen=True)
class Generator:
    """A convex function f of the ratio, and what its variational bound is made of.

    Attributes:
        name: how `divergence` and `Variational` call it.
        meaning: the divergence E_q f(r), with p the numerator and q the denominator.
        f: the function of r > 0.
        numerator: T1, whose mean over rows of the numerator counts for the bound.
        denominator: T2, whose mean over rows of the denominator counts against it.
    """

    name: str
    meaning: str
    f: Callable[[Any], Any]
    numerator: Callable[[Any], Any]
    denominator: Callable[[Any], Any]

    def bound(
        self,
        g_numerator: Float[Array | np.ndarray, " n"],
        g_denominator: Float[Array | np.ndarray, " m"],
    ) -> Float[Array, ""]:
        """The lower bound on the divergence, from log ratios at rows of both."""
        gain = jnp.mean(self.numerator(g_numerator))
        return gain - jnp.mean(self.denominator(g_denominator))

    def __repr__(self) -> str:
        return f"Generator({self.name!r}: {self.meaning})"


_ALL = (
    Generator(
        name="kl",
        meaning="KL[p || q]",
        f=lambda u: u * jnp.log(u),
        numerator=lambda g: 1.0 + g,
        denominator=jnp.exp,
    ),
    Generator(
        name="reverse_kl",
        meaning="KL[q || p]",
        f=lambda u: -jnp.log(u),
        numerator=lambda g: -jnp.exp(-g),
        denominator=lambda g: g - 1.0,
    ),
    # f(1) is not 0 here: the divergence of a law from itself is -log 4.
    Generator(
        name="gan",
        meaning="2 JS[p, q] - log 4",
        f=lambda u: u * jnp.log(u) - (u + 1.0) * jnp.log(u + 1.0),
        numerator=jax.nn.log_sigmoid,
        denominator=jax.nn.softplus,
    ),
    Generator(
        name="js",
        meaning="2 JS[p, q]",
        f=lambda u: u * jnp.log(u) - (u + 1.0) * jnp.log(0.5 * (u + 1.0)),
        numerator=lambda g: _LOG_2 + jax.nn.log_sigmoid(g),
        denominator=lambda g: jax.nn.softplus(g) - _LOG_2,
    ),
    Generator(
        name="pearson",
        meaning="chi^2[p || q] / 2",
        f=lambda u: 0.5 * (u - 1.0) ** 2,
        numerator=jnp.expm1,
        denominator=lambda g: 0.5 * jnp.expm1(2.0 * g),
    ),
    Generator(
        name="hellinger",
        meaning="H^2[p, q]",
        f=lambda u: (jnp.sqrt(u) - 1.0) ** 2,
        numerator=lambda g: -jnp.expm1(-0.5 * g),
        denominator=lambda g: jnp.expm1(0.5 * g),
    ),
)

GENERATORS = {generator.name: generator for generator in _ALL}


def as_generator(name: Any, argument: str) -> Generator:
    """The generator of a name, or an error that says which there are."""
    return GENERATORS[as_choice(name, tuple(GENERATORS), argument)]
