"""Hyper-parameters by sampling: the No-U-Turn sampler in free coordinates.

The target is the one that `learn` maximizes, evidence times prior, as a density of the scaled free
coordinates `v` (see `_learning`). BlackJAX adapts the step size and a diagonal mass matrix during
the warm-up, starting from the maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.models._learning import Search, log_joint
from leadline.numerics import blas_threads_for, from_free

WARMUP = 200
DRAWS = 32
THIN = 4


def sample_log_joint(
    evidence: Callable[[Any, Any], Array],
    module: Any,
    data: Any,
    search: Search,
    start: Float[np.ndarray, " p"],
    seed: int,
) -> Any:
    """Modules with hyper-parameters drawn from their posterior, stacked along a leading axis."""
    args = search.arguments(module, data)
    with blas_threads_for(data.mask.shape[0]):
        v = _run(evidence, args, jnp.asarray(start), jax.random.key(seed))
        modules = _modules(module, v, search.center, search.unit)
        return jax.block_until_ready(modules)


@eqx.filter_jit
def _run(evidence, args, start: Array, key: Array) -> Float[Array, "s p"]:
    import blackjax  # loads slowly, and only sampling needs it

    def density(v):
        value = log_joint(evidence, v, args)
        return jnp.where(jnp.isfinite(value), value, -jnp.inf)

    warm_key, draw_key = jax.random.split(key)
    warmup = blackjax.window_adaptation(blackjax.nuts, density)
    (state, parameters), _ = warmup.run(warm_key, start, WARMUP)  # pyright: ignore[reportCallIssue]
    step = blackjax.nuts(density, **parameters).step

    def one(state, key):
        state, _ = step(key, state)
        return state, state[0]  # its position

    _, positions = jax.lax.scan(one, state, jax.random.split(draw_key, DRAWS * THIN))
    return positions[THIN - 1 :: THIN]


@eqx.filter_jit
def _modules(module, v, center, unit):
    return jax.vmap(lambda one: from_free(module, center + unit * one))(v)
