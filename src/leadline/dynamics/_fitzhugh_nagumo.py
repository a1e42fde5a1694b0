"""The FitzHugh-Nagumo model neuron with noise.

Notation: state `x = (v, w)`, membrane potential and recovery variable; control `a`, the injected
current; step size `tau`.

    drift(x, a) = (v - v^3 / 3 - w + a, (v - beta w + alpha) / gamma)

(FitzHugh 1961; Nagumo et al. 1962; the constants are those of Wilson 2023, eq. 3.74). Where the
neuron rests depends on the current; above a threshold it fires again and again.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from leadline.dynamics._simulate import check_system, euler_maruyama


class FitzHughNagumo(eqx.Module):
    """A neuron that can be excited.

    Attributes:
        alpha, beta, gamma: constants of the recovery variable.
        tau: the step size, in milliseconds.
        diffusion: variance of the noise of each state column, per millisecond.
        lower, upper: the box of states and currents (v, w, a) that training data come from.
    """

    alpha: float = 0.75
    beta: float = 0.75
    gamma: float = 20.0
    tau: float = 0.25
    diffusion: float = 1e-4
    lower: tuple[float, float, float] = (-2.5, -1.0, 0.0)
    upper: tuple[float, float, float] = (2.5, 2.0, 1.0)

    def drift(
        self, x: Float[Array | np.ndarray, "n 2"], a: Float[Array | np.ndarray, "n 1"]
    ) -> Float[Array, "n 2"]:
        """How fast the state changes under each current."""
        v, w = x[:, 0], x[:, 1]
        faster = v - v**3 / 3.0 - w + a[:, 0]
        return jnp.stack([faster, (v - self.beta * w + self.alpha) / self.gamma], axis=1)

    def equilibrium(self, a: float) -> Float[np.ndarray, 2]:
        """Where the drift under a constant current is zero.

        Without w, a cubic equation in v is left; for beta <= 1 it has one real root.
        """
        ratio = self.alpha / self.beta
        roots = np.roots([-1.0 / 3.0, 0.0, 1.0 - 1.0 / self.beta, a - ratio])
        v = float(roots[np.argmin(np.abs(roots.imag))].real)
        return np.array([v, (v + self.alpha) / self.beta])

    def transitions(self, key: Array, n: int) -> tuple[Float[Array, "n 3"], Float[Array, "n 2"]]:
        """Inputs (v, w, a), uniform in the box, and the noisy increments of one step from there.

        The increments have the mean `tau * drift` and the noise variance `tau * diffusion`.
        """
        where, noise = jax.random.split(key)
        lower, upper = jnp.asarray(self.lower), jnp.asarray(self.upper)
        s = lower + (upper - lower) * jax.random.uniform(where, (n, 3))
        eps = jnp.sqrt(self.tau * self.diffusion) * jax.random.normal(noise, (n, 2))
        return s, self.tau * self.drift(s[:, :2], s[:, 2:]) + eps

    def simulate(self, x0: Any, controls: Any, key: Array, n: int) -> Float[Array, "n t 2"]:
        """`n` trajectories of the system itself: `(n, T + 1, 2)`, for currents `(T, 1)`."""
        x0, controls, root = check_system(
            x0, controls, None, self.diffusion, key, n=n, columns=len(self.lower)
        )
        return _simulate_jit(self, x0, controls, root, key)


@eqx.filter_jit
def _simulate_jit(system: FitzHughNagumo, x0, controls, root, key):
    def drift(x, a, _):
        return system.drift(x, jnp.broadcast_to(a, (x.shape[0], 1)))

    return euler_maruyama(drift, x0, controls, system.tau, root, key)
