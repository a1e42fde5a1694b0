"""The Wasserstein distance between clouds of points, by entropic transport.

Notation: clouds `x (n, d)` and `y (m, d)` of equal weights; T(x, y) the least cost of a transport
plan with squared distances, plus `epsilon` times its relative entropy.

    distance^2 = T(x, y) - T(x, x) / 2 - T(y, y) / 2

(Feydy et al. 2019). The two last terms take away what the entropy blurs: the distance of a cloud
from itself is zero. As `epsilon` goes to zero the distance goes to W2 of the two clouds.
"""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from leadline.boundary import InvalidData, as_rows

_RELATIVE = 0.01
_ITERATIONS = 20_000


def sinkhorn_distance(x: Any, y: Any, epsilon: float | None = None) -> float:
    """The distance W2 (not its square) between two clouds of points, such as trajectories' states.

    Clouds of n points stand for their laws with an error of their own, which falls slowly with n:
    two clouds of the same law are some way apart. Needs ott-jax: `pip install leadline[transport]`.

    Args:
        x: points (n, d).
        y: points (m, d).
        epsilon: how much to blur, in squared units of distance; 1 % of the mean squared distance
            between the clouds if None. Smaller is closer to W2, and slower.
    """
    x = as_rows(x, "x")
    y = as_rows(y, "y", columns=x.shape[1])
    if epsilon is not None and not (np.isfinite(epsilon) and epsilon > 0):
        raise InvalidData(f"epsilon must be positive, got {epsilon}.")
    _require_transport()
    gap = np.mean(x, axis=0) - np.mean(y, axis=0)
    mean_cost = np.sum(gap**2) + np.sum(np.var(x, axis=0)) + np.sum(np.var(y, axis=0))
    if mean_cost == 0.0:
        return 0.0
    # In units of the mean cost, so that the solver's tolerance means the same for all clouds.
    unit = np.sqrt(mean_cost)
    relative = _RELATIVE if epsilon is None else float(epsilon / mean_cost)
    squared, converged = jax.device_get(_divergence_jit(x / unit, y / unit, relative))
    if not converged:
        raise ArithmeticError(
            f"The transport between the clouds did not converge in {_ITERATIONS} iterations. Give "
            f"a larger epsilon than {relative * mean_cost:g}."
        )
    return float(unit * np.sqrt(max(float(squared), 0.0)))


def _divergence(x: Array, y: Array, epsilon: Any) -> tuple[Array, Array]:
    from ott.tools.sinkhorn_divergence import sinkdiv  # pyright: ignore[reportMissingImports]

    value, found = sinkdiv(x, y, epsilon=epsilon, solve_kwargs={"max_iterations": _ITERATIONS})
    return value, jnp.all(jnp.stack(found.converged))


_divergence_jit = jax.jit(_divergence)


def _require_transport() -> None:
    try:
        with warnings.catch_warnings():
            # ott-jax imports JAXopt, which says on import that it is no longer maintained.
            warnings.filterwarnings("ignore", "JAXopt", DeprecationWarning)
            import ott.tools.sinkhorn_divergence  # noqa: F401 # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError(
            "sinkhorn_distance needs ott-jax. Install it: pip install leadline[transport]"
        ) from error
