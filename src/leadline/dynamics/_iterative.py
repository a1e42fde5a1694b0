"""Trajectories without function draws: the drift is sampled where the trajectory goes.

Notation: `n` trajectories of `T` steps, `p = d` outputs; `v_1, v_2, ...` the inputs (state and
control) that a trajectory has visited; `kappa` the posterior covariance of one output.

*Iterative* (Wilson 2023, section 3.6.3): the value at v_t is drawn given the data and the values at
v_1 .. v_{t-1}. With the lower factor C of kappa over the visited inputs,

    l = C^-1 kappa(v_{<t}, v_t),  s^2 = kappa(v_t, v_t) - l . l,  f_t = mean(v_t) + l . z + s z_t,

z the standard normal numbers used so far. It is exact for every kernel, and costs O(t^2) for step
t, O(T^3) in all. The inverse of C is what is kept: its new row is [-(l C^-1) / s, 1 / s], so that a
step is nothing but products of matrices and vectors, for many trajectories at once.

*Independent residuals* (Ialongo et al. 2019): inducing values are drawn once, u ~ q(u), and what is
left of f given u is drawn anew at every step. A step costs O(m^2), but the residuals at neighboring
states, which should be nearly the same, are not.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from leadline.boundary import InvalidData, Unsupported, is_traced
from leadline.dynamics._posteriors import as_posteriors
from leadline.dynamics._simulate import check_system, euler_maruyama, with_controls
from leadline.models import Expansion, Posterior
from leadline.numerics import blas_threads_for

# Where less than this part of the variance is left, a value follows from those before it: it gets
# no number of its own, and no row, which rounding error would fill.
_KNOWN = 1e-9
# How many numbers the factors of trajectories that run side by side may hold.
_NUMBERS = 2**22


def simulate_iteratively(
    posteriors: Any,
    x0: Any,
    controls: Any = None,
    dt: Any = 1.0,
    diffusion: Any = None,
    key: Array | None = None,
    n: int = 1,
    *,
    steps: int | None = None,
) -> Float[Array, "n t d"]:
    """`n` trajectories whose drift values are drawn one after the other, in O(T^3) for each.

    Their law is that of `simulate` with exact draws of the posteriors. It is for comparison, and
    for kernels that have no features to draw with.

    Args:
        posteriors: exact or Titsias posteriors of the drift, one for each state column.
        x0: where to start: `(d,)`, or `(n, d)`.
        controls: `(T, c)`, or None.
        dt: the step size; 1 if the posteriors are of increments, as in `simulate`.
        diffusion: covariance of the noise, or None.
        key: a random key; always needed.
        n: how many trajectories.
        steps: how many steps T, for a system without controls.
    """
    posteriors = as_posteriors(posteriors)
    arguments = _checked(posteriors, x0, controls, dt, diffusion, key, n, steps)
    if is_traced(arguments):
        return _iterate(*arguments)
    with blas_threads_for(1):
        return jax.block_until_ready(_iterate_jit(*arguments))


def simulate_with_independent_residuals(
    posteriors: Any,
    x0: Any,
    controls: Any = None,
    dt: Any = 1.0,
    diffusion: Any = None,
    key: Array | None = None,
    n: int = 1,
    *,
    steps: int | None = None,
) -> Float[Array, "n t d"]:
    """`n` trajectories that keep one draw of the inducing values, and nothing else of the drift.

    The marginal law of every drift value given its input is right; how values at different inputs
    vary together is not, beyond what the inducing values say. Residuals are part of the drift, and
    so are scaled by `dt`; Wilson (2023) counts them as diffusion, which is the same for `dt = 1`.

    Args:
        posteriors: Titsias posteriors of the drift, one for each state column.
        x0: where to start: `(d,)`, or `(n, d)`.
        controls: `(T, c)`, or None.
        dt: the step size; 1 if the posteriors are of increments, as in `simulate`.
        diffusion: covariance of the noise, or None.
        key: a random key; always needed.
        n: how many trajectories.
        steps: how many steps T, for a system without controls.
    """
    posteriors = as_posteriors(posteriors)
    arguments = _checked(posteriors, x0, controls, dt, diffusion, key, n, steps)
    if is_traced(arguments):
        return _with_independent_residuals(*arguments)
    with blas_threads_for(1):
        return jax.block_until_ready(_with_independent_residuals_jit(*arguments))


def _checked(posteriors, x0, controls, dt, diffusion, key, n, steps) -> tuple:
    if key is None:
        raise InvalidData("A random key is needed: pass key=jax.random.key(0), say.")
    columns = posteriors[0].query_columns
    x0, controls, root = check_system(x0, controls, steps, diffusion, key, n=n, columns=columns)
    if x0.shape[1] != len(posteriors):
        raise InvalidData(
            f"There are {len(posteriors)} posteriors, but the state has {x0.shape[1]} columns: the "
            "drift needs one posterior for each."
        )
    return posteriors, x0, controls, jnp.asarray(dt, jnp.float64), root, key


class _Visited(eqx.Module):
    """What a trajectory knows about one output: rows not visited yet are zero."""

    explained: Float[Array, "T r"]
    inverse: Float[Array, "T T"]
    z: Float[Array, " T"]


def _draw_next(form: Expansion, seen: _Visited, inputs: Array, t: Array, z: Array):
    """The value at row `t` of `inputs`, given those at the rows before it."""
    at = jax.lax.dynamic_slice_in_dim(inputs, t, 1)
    e = form.explained(at)[0]
    before = jnp.arange(inputs.shape[0]) < t
    cross = jnp.where(before, form.kernel(inputs, at)[:, 0] - seen.explained @ e, 0.0)
    l = seen.inverse @ cross
    prior = form.kernel.diag(at)[0]
    left = prior - e @ e - l @ l
    known = left <= _KNOWN * prior
    s = jnp.sqrt(jnp.where(known, 1.0, left))
    value = form.mean_at(at)[0] + l @ seen.z + jnp.where(known, 0.0, s * z)
    row = jnp.where(known, 0.0, (-(l @ seen.inverse)).at[t].set(1.0) / s)
    seen = _Visited(
        explained=seen.explained.at[t].set(e),
        inverse=seen.inverse.at[t].set(row),
        z=seen.z.at[t].set(jnp.where(known, 0.0, z)),
    )
    return value, seen


def _iterate(posteriors: tuple, x0, controls, dt, root, key):
    forms = tuple(post.expansion() for post in posteriors)
    n, d = x0.shape
    steps, c = controls.shape
    noise_key, drift_key = jax.random.split(key)
    controls = jnp.asarray(controls)

    def trajectory(argument):
        start, i = argument
        own_noise, own_drift = (jax.random.fold_in(k, i) for k in (noise_key, drift_key))
        z = jax.random.normal(own_drift, (steps, d))
        eta = jax.random.normal(own_noise, (steps, d))

        def step(carry, t):
            x, inputs, seen = carry
            inputs = inputs.at[t].set(jnp.concatenate([x, controls[t]]))
            found = [
                _draw_next(form, one, inputs, t, z[t, j])
                for j, (form, one) in enumerate(zip(forms, seen, strict=True))
            ]
            drift = jnp.stack([value for value, _ in found])
            new = x + dt * drift
            if root is not None:
                new = new + jnp.sqrt(dt) * root @ eta[t]
            return (new, inputs, tuple(one for _, one in found)), new

        unseen = tuple(
            _Visited(
                jnp.zeros((steps, form.root.shape[1])), jnp.zeros((steps, steps)), jnp.zeros(steps)
            )
            for form in forms
        )
        first = start, jnp.zeros((steps, d + c)), unseen
        _, visited = jax.lax.scan(step, first, jnp.arange(steps))
        return jnp.concatenate([start[None], visited])

    side_by_side = max(1, min(n, _NUMBERS // (d * steps**2)))
    return jax.lax.map(trajectory, (jnp.asarray(x0), jnp.arange(n)), batch_size=side_by_side)


def _with_independent_residuals(posteriors: tuple[Posterior, ...], x0, controls, dt, root, key):
    n, d = x0.shape
    noise_key, u_key, residual_key = jax.random.split(key, 3)
    # For each output, weights that draws of the inducing values give to the features.
    forms = [post.expansion() for post in posteriors]
    taken, drawn = [form.information.taken() for form in forms], []
    for j, form in enumerate(forms):
        given = form.information.given()
        if given is None:
            raise Unsupported(
                f"{type(posteriors[j]).__name__} has no inducing values to draw. Titsias "
                "posteriors have."
            )
        z = jax.random.normal(jax.random.fold_in(u_key, j), (given.shape[1], n))
        drawn.append(form.weights + (given @ z).T)

    def drift(x, a, t):
        inputs, found = with_controls(x, a), []
        z = jax.random.normal(jax.random.fold_in(residual_key, t), (n, d))
        for j, (form, root, w) in enumerate(zip(forms, taken, drawn, strict=True)):
            c = form.features(inputs).T
            left = jnp.maximum(form.kernel.diag(inputs) - jnp.sum((c @ root) ** 2, axis=1), 0.0)
            found.append(form.mean(inputs) + jnp.sum(c * w, axis=1) + jnp.sqrt(left) * z[:, j])
        return jnp.stack(found, axis=1)

    return euler_maruyama(drift, x0, controls, dt, root, noise_key)


_iterate_jit = eqx.filter_jit(_iterate)
_with_independent_residuals_jit = eqx.filter_jit(_with_independent_residuals)
