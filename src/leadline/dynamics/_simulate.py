"""Trajectories of a dynamical system whose drift is drawn from a Gaussian process.

Notation: states `x (d,)`, controls `a_t (c,)` for steps t = 0 .. T-1, step size `dt`, diffusion
covariance `S (d, d)`; draws `f_i` of the drift, functions of state and control together.

    x_{t+1} = x_t + dt f_i(x_t, a_t) + sqrt(dt) S^1/2 eta_t,    eta_t ~ N(0, I)

(Wilson 2023, eq. 3.73: Euler-Maruyama). Trajectory i follows draw i from its start to its end. A
new draw at every step would be another model, one that forgets what it has said about f. A step
costs the same however long the trajectory already is, so T steps cost O(T).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, as_rows, is_traced
from leadline.numerics import blas_threads_for
from leadline.paths import Paths


def simulate(
    paths: Paths,
    x0: Any,
    controls: Any = None,
    dt: Any = 1.0,
    diffusion: Any = None,
    key: Array | None = None,
    *,
    steps: int | None = None,
) -> Float[Array, "n t d"]:
    """One trajectory for each draw of the drift: `(n, T + 1, d)`, the starts included.

    If the draws are of the drift itself, `dt` is the step size and `diffusion` the covariance of
    the noise per unit of time. If they are of increments x_{t+1} - x_t, as models of recorded
    transitions are, the step size is inside them: leave `dt` at 1, and give the covariance of one
    step's noise as `diffusion`.

    Args:
        paths: draws of the drift, with state and controls (in this order) as input columns, and
            one output for each state column; draws with a single output serve states with one.
        x0: where to start: `(d,)`, or `(n, d)` to start each trajectory at its own state.
        controls: `(T, c)`, the same for all trajectories; None for a system without controls.
        dt: the step size.
        diffusion: covariance of the noise: one number, `(d,)` variances, or `(d, d)`; none if None.
        key: a random key for the noise; needed with `diffusion` only.
        steps: how many steps T, for a system without controls.

    The first steps of a long simulation are those of a short one with the same key.
    """
    x0, controls, root = check_system(
        x0, controls, steps, diffusion, key, n=paths.n, columns=paths.dim
    )
    arguments = paths, x0, controls, jnp.asarray(dt, jnp.float64), root, key
    if is_traced(arguments):
        return _simulate(*arguments)
    with blas_threads_for(1):
        return jax.block_until_ready(_simulate_jit(*arguments))


def check_system(
    x0: Any, controls: Any, steps: int | None, diffusion: Any, key: Any, n: int, columns: int
) -> tuple[Any, Any, Any]:
    """Starts `(n, d)`, controls `(T, c)` and the root of the diffusion `(d, d)` or None."""
    x0 = _as_starts(x0, n)
    d = x0.shape[1]
    controls = _as_controls(controls, steps)
    c = controls.shape[1]
    if columns != d + c:
        raise InvalidData(
            f"The drift takes inputs with {columns} columns, state and controls together, but the "
            f"state has {d} and the controls have {c}."
        )
    if diffusion is not None and key is None:
        raise InvalidData("diffusion needs a random key: pass key=jax.random.key(0), say.")
    return x0, controls, None if diffusion is None else covariance_root(diffusion, d)


def _as_starts(x0: Any, n: int) -> Any:
    x0 = x0 if is_traced(x0) else np.asarray(x0, dtype=float)
    if x0.ndim not in (1, 2) or (x0.ndim == 2 and x0.shape[0] != n):
        raise InvalidData(f"x0 must be one state (d,) or {n} of them ({n}, d), got {x0.shape}.")
    if is_traced(x0):
        return jnp.broadcast_to(x0, (n, x0.shape[-1]))
    return as_rows(np.broadcast_to(x0, (n, x0.shape[-1])), "x0")


def _as_controls(controls: Any, steps: int | None) -> Any:
    if (controls is None) == (steps is None):
        raise InvalidData("Give controls (T, c), or steps=T for a system without controls.")
    if controls is None:
        if not isinstance(steps, int | np.integer) or steps < 1:
            raise InvalidData(f"steps must be a positive whole number, got {steps!r}.")
        return np.zeros((int(steps), 0))
    return controls if is_traced(controls) else as_rows(controls, "controls")


def covariance_root(cov: Any, d: int) -> Any:
    """R with R R^T = cov, for one number, `(d,)` variances or a `(d, d)` matrix."""
    if not is_traced(cov):
        cov = np.asarray(cov, dtype=float)
    if cov.shape not in ((), (d,), (d, d)):
        raise InvalidData(
            f"diffusion must be one number, {d} variances or a {d} x {d} covariance matrix, got "
            f"shape {cov.shape}."
        )
    if is_traced(cov):
        return jnp.linalg.cholesky(cov) if cov.ndim == 2 else jnp.sqrt(cov) * jnp.eye(d)
    full = cov if cov.ndim == 2 else cov * np.eye(d)
    values, vectors = np.linalg.eigh(full)
    scale = np.abs(values).max()
    if not np.allclose(full, full.T, rtol=1e-10, atol=1e-10 * scale):
        raise InvalidData("diffusion must be a symmetric matrix.")
    if not np.all(values >= -1e-10 * scale):  # also where it is not finite
        raise InvalidData(
            f"diffusion must be a covariance, but its least eigenvalue is {values.min():g}."
        )
    return vectors * np.sqrt(np.maximum(values, 0.0))


def euler_maruyama(
    drift: Callable[[Array, Array, Array], Array],
    x0: Float[Any, "n d"],
    controls: Float[Any, "T c"],
    dt: Any,
    root: Float[Any, "d d"] | None,
    key: Array | None,
) -> Float[Array, "n t d"]:
    """Unroll `drift`, which maps states `(n, d)`, one control `(c,)` and the time to `(n, d)`."""

    def step(x, inputs):
        t, a = inputs
        new = x + dt * drift(x, a, t)
        if root is not None and key is not None:
            eta = jax.random.normal(jax.random.fold_in(key, t), x.shape)
            new = new + jnp.sqrt(dt) * eta @ root.T
        return new, new

    x0 = jnp.asarray(x0)
    counts = jnp.arange(controls.shape[0])
    _, visited = jax.lax.scan(step, x0, (counts, jnp.asarray(controls)))
    return jnp.concatenate([x0[:, None], jnp.moveaxis(visited, 0, 1)], axis=1)


def with_controls(x: Float[Array, "n d"], a: Float[Array, " c"]) -> Float[Array, "n k"]:
    """States and one control, as input rows of the drift."""
    return jnp.concatenate([x, jnp.broadcast_to(a, (x.shape[0], a.shape[0]))], axis=1)


def _simulate(paths: Paths, x0, controls, dt, root, key):
    def drift(x, a, _):
        values = paths.paired_values(with_controls(x, a)[:, None, :])
        if values.size != x.size:
            outputs, d = values.size // x.shape[0], x.shape[1]
            raise InvalidData(
                f"The draws have {outputs} output(s), but the state has {d} column(s): the drift "
                "needs one output for each. leadline.paths.stack_outputs puts draws together."
            )
        return values.reshape(x.shape)

    return euler_maruyama(drift, x0, controls, dt, root, key)


_simulate_jit = eqx.filter_jit(_simulate)
