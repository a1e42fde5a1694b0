"""Where each draw is lowest: many candidates, then local searches for all draws at once.

Notation: `n` draws, `s` searches for each; the box is mapped to the unit cube. Every draw is
evaluated at the same candidates, which is one matrix product. Its starts are the best candidate,
then the best one that is not near those chosen before; the searches are one batch of `n s` lanes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_bounds, is_traced
from leadline.numerics import blas_threads_for, minimize_together, sobol, spread_best

if TYPE_CHECKING:
    from leadline.paths._paths import ScalarPaths

_CANDIDATES = 2048
_STEPS = 60
_TOLERANCE = 1e-7  # of the standard deviation of the values at the candidates


def argmin_of_each(
    paths: ScalarPaths, bounds: Any, starts: int, sign: float
) -> Float[Array, "n d"]:
    """The minimizer of `sign` times each draw in the box."""
    if starts < 1:
        raise InvalidData(f"starts must be at least 1, got {starts}.")
    lower, upper = as_bounds(bounds, paths.dim)
    points = sobol(_CANDIDATES, paths.dim, seed=0)
    args = (paths, lower, upper, points, jnp.asarray(sign))
    if is_traced(paths):
        return _search(*args, starts)
    with blas_threads_for(1):
        return jax.block_until_ready(_search_jit(*args, starts))


def _search(paths, lower, upper, points, sign, starts: int) -> Array:
    width = upper - lower
    # The data are candidates too: a draw is often lowest near the best of them.
    known = jnp.clip((paths.anchors - lower) / width, 0.0, 1.0)
    points = jnp.concatenate([points, known])
    values = sign * paths(lower + width * points)
    scale = jnp.std(values, axis=1)
    first = spread_best(points, values, starts)  # (n, s, d)
    n, s, d = first.shape

    def objectives(u, args):
        paths, sign, scale = args
        found = sign * paths.paired(lower + width * u.reshape(n, s, d))
        return (found / scale[:, None]).reshape(n * s)

    scale = jnp.where(scale > 0, scale, 1.0)
    found = minimize_together(
        objectives,
        (paths, sign, scale),
        first.reshape(n * s, d),
        jnp.zeros((1, d)),
        jnp.ones((1, d)),
        tolerance=_TOLERANCE,
        max_evaluations=_STEPS,
    )
    best = jnp.argmin(found.value.reshape(n, s), axis=1)
    return lower + width * found.u.reshape(n, s, d)[jnp.arange(n), best]


_search_jit = eqx.filter_jit(_search)
