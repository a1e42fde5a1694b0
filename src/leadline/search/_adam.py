"""Adam: stochastic gradient ascent, also for acquisitions that are averages over draws.

If the acquisition can be given other draws (`with_base`), every step takes fresh ones: then no draw
is overfitted, and what a step follows is an unbiased estimate of the gradient (Wilson 2023, section
2.4). The ends of the searches are compared by the acquisition as it was given.

Notation: sets `(r, q, d)`, one for each of `r` searches; larger is better.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from leadline.numerics import blas_threads_for, numbered_key, quick_jit
from leadline.search._acquisition import Acquisition
from leadline.search._climb import free_columns, pull_back, starting_sets
from leadline.search._maximum import Valued
from leadline.search._task import Task, first_sets

_RATE = 1 / 40  # Wilson 2023, section 2.4


def adam(task: Task) -> list[Valued]:
    """Sets at the end of ascents, then those that the ascents began with.

    Discrete parameters stay what they are at the starts.
    """
    rows = task.candidates()
    chosen, worth = first_sets(task, rows)
    sets = rows[chosen]
    starts, (own, value) = starting_sets(task, sets, worth)
    # The ends are evaluated once more.
    steps = int(task.evaluations.left) // len(starts) - 1
    free = free_columns(task.space, starts).astype(np.float64)
    key = numbered_key(task.key, 2)
    acquisition = task.evaluations.acquisition
    with blas_threads_for(1):
        ends = jax.device_get(_ascend_jit(acquisition, starts, free, key, np.asarray(steps)))
    task.evaluations.spend(steps * len(starts))
    ends, _ = pull_back(task.space, starts, np.asarray(ends))
    values = task.evaluations.values(ends)
    return [(np.concatenate([ends, own, sets]), np.concatenate([values, value, worth]))]


@quick_jit
def _ascend_jit(acquisition: Acquisition, starts: Any, free: Any, key: Array, steps: Any) -> Array:
    """Where `steps` steps lead from each start along its free columns, inside the unit cube."""
    import optax

    optimizer = optax.adam(_RATE)
    fresh = hasattr(acquisition, "with_base")

    def loss(sets, key):
        now: Any = acquisition
        if fresh:
            now = now.with_base(jax.random.normal(key, now.base.shape))
        # A set's gradient is that of its own value: no value depends on another set.
        return -jnp.sum(now.values(sets))

    def step(i, carry):
        sets, state = carry
        gradient = jax.grad(loss)(sets, jax.random.fold_in(key, i))
        gradient = jnp.where(jnp.isfinite(gradient), gradient, 0.0) * free
        update, state = optimizer.update(gradient, state)
        return jnp.clip(sets + update, 0.0, 1.0), state

    first = jnp.asarray(starts)
    return jax.lax.fori_loop(0, steps, step, (first, optimizer.init(first)))[0]
